// A text that changes, and for each of its bytes the bytes of the original that it came from.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

class AlignedText {
 public:
  /// Begins as the original, which must be valid UTF-8 and outlive this. Without `keep_origins` only the text is kept.
  explicit AlignedText(std::string_view original, bool keep_origins = true)
      : original_(original), view_(original), keep_origins_(keep_origins) {}
  AlignedText(const AlignedText&) = delete;
  AlignedText& operator=(const AlignedText&) = delete;

  std::string_view text() const { return view_; }
  /// The bytes of the original that [begin, end) of the text came from: whole characters.
  Span origin(std::size_t begin, std::size_t end) const;

 private:
  friend class TextEdit;
  struct Origin {
    std::uint32_t begin, end;
  };
  Origin origin_of_byte(std::size_t at) const;

  std::string_view original_, view_;
  std::string changed_;          // what view_ shows, once something changed
  std::vector<Origin> origins_;  // by byte; empty while each byte still is where it was
  bool keep_origins_, moved_ = false;
};

/// A new version of a text, written from left to right: each code point of the old one is taken, replaced or dropped.
/// What is inserted counts as coming from where the code point before it came from.
class TextEdit {
 public:
  explicit TextEdit(AlignedText& text) : text_(text) { written_.reserve(text.view_.size()); }

  bool done() const { return at_ == text_.view_.size(); }
  std::size_t at() const { return at_; }  ///< how far the old text was read
  char32_t peek() const;                  ///< the next code point of the old text
  std::size_t written() const { return written_.size(); }

  /// Writes map[byte] for each ASCII byte, up to the first that is not ASCII or that the map has as kStop.
  void map(const std::array<char, 128>& ascii);
  static constexpr char kStop = static_cast<char>(0xFF);

  void keep();                       ///< copies the next code point
  void keep(std::size_t bytes);      ///< copies so many bytes, whole code points
  void replace(char32_t by);         ///< writes a code point for the next one
  void drop();                       ///< leaves out the next one
  void drop(std::size_t bytes);      ///< leaves out so many bytes, whole code points
  void insert(char32_t code_point);  ///< writes one that the old text does not have
  void insert(std::string_view text);
  void prepend(std::string_view text);  ///< writes it before the next code point, as coming from there, and keeps that
  void to_byte_letters();               ///< writes the next code point's bytes as letters (byte_level.h)

  /// Makes what was written the text; what was not read of the old one is left out.
  void commit();

 private:
  void begin_moving();
  void write(char32_t code_point, AlignedText::Origin origin);

  AlignedText& text_;
  std::string written_;
  std::vector<AlignedText::Origin> origins_;
  std::size_t at_ = 0;
  bool moving_ = false;  // origins_ are kept, since bytes are no longer where they were
};

}  // namespace attend
