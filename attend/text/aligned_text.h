// A text that normalizers change. It records for each byte the bytes of the original text that it came from.
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
  /// Starts as a view of the original, which must be valid UTF-8 and outlive this object. Unless `keep_origins`, the
  /// origins are not recorded.
  explicit AlignedText(std::string_view original, bool keep_origins = true)
      : original_(original), view_(original), keep_origins_(keep_origins) {}
  AlignedText(const AlignedText&) = delete;
  AlignedText& operator=(const AlignedText&) = delete;

  std::string_view text() const { return view_; }
  /// The bytes of the original that [begin, end) of the text came from. They are whole characters.
  Span origin(std::size_t begin, std::size_t end) const;

 private:
  friend class TextEdit;
  struct Origin {
    std::uint32_t begin, end;
  };
  Origin origin_of_byte(std::size_t at) const;

  std::string_view original_, view_;
  std::string changed_;          // the text after the first change
  std::vector<Origin> origins_;  // by byte; empty while all bytes are at their original positions
  bool keep_origins_, moved_ = false;
};

/// Writes a new version of a text from left to right: each code point of the old text is kept, replaced or dropped. An
/// inserted code point gets the origin of the code point before it.
class TextEdit {
 public:
  explicit TextEdit(AlignedText& text) : text_(text) { written_.reserve(text.view_.size()); }

  bool done() const { return at_ == text_.view_.size(); }
  std::size_t at() const { return at_; }  ///< the position in the old text
  char32_t peek() const;                  ///< the next code point of the old text
  std::size_t written() const { return written_.size(); }

  /// Writes ascii[byte] for each ASCII byte, up to the first byte that is not ASCII or that maps to kStop.
  void map(const std::array<char, 128>& ascii);
  static constexpr char kStop = static_cast<char>(0xFF);

  void keep();                       ///< copies the next code point
  void keep(std::size_t bytes);      ///< copies this many bytes (whole code points)
  void replace(char32_t by);         ///< replaces the next code point
  void drop();                       ///< drops the next code point
  void drop(std::size_t bytes);      ///< drops this many bytes (whole code points)
  void insert(char32_t code_point);  ///< writes a new code point
  void insert(std::string_view text);
  void prepend(std::string_view text);  ///< writes text with the origin of the next code point, then keeps that
  void to_byte_letters();               ///< writes the bytes of the next code point as letters (byte_level.h)

  /// Replaces the text by what was written. The unread rest of the old text is dropped.
  void commit();

 private:
  void begin_moving();
  void write(char32_t code_point, AlignedText::Origin origin);

  AlignedText& text_;
  std::string written_;
  std::vector<AlignedText::Origin> origins_;
  std::size_t at_ = 0;
  bool moving_ = false;  // origins_ is in use, since positions differ from the original
};

}  // namespace attend
