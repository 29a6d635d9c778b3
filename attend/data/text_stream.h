// A stream of text from a file, a pipe or memory. The text is always valid UTF-8: byte order marks and other charsets
// are converted, and invalid bytes become U+FFFD and are counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "attend/data/invalid_text.h"

namespace attend {

/// The largest size of a line, or of a field of a record, in bytes. Longer ones are an error, since they are probably
/// not text and could fill the memory.
constexpr std::size_t kLongestText = std::size_t{64} << 20;

/// Whether a charset's name means UTF-8 or ASCII (which is a subset).
bool is_utf8_charset(std::string_view name);

/// Converts text to UTF-8 by iconv, in chunks. Invalid bytes are replaced and counted.
class CharsetDecoder {
 public:
  /// Throws InputError, with the name of the file, for a charset that the system does not know.
  CharsetDecoder(const std::string& charset, std::string_view file);
  ~CharsetDecoder();
  CharsetDecoder(CharsetDecoder&& other) noexcept;
  CharsetDecoder& operator=(CharsetDecoder&&) = delete;

  /// Appends the converted bytes to `text`. Unless `last`, an incomplete character at the end waits for the next chunk.
  void append(std::string_view bytes, std::string& text, bool last);
  std::int64_t invalid() const { return invalid_; }

 private:
  void* state_;
  std::size_t unit_;  ///< bytes to skip after an error
  std::string pending_;
  std::int64_t invalid_ = 0;
};

/// Reads its input once, from beginning to end. It needs memory for two buffers.
class TextStream {
 public:
  /// "-" is standard input. Throws InputError if the file cannot be opened.
  static TextStream open(const std::filesystem::path& path);
  /// The text must outlive the stream. `name` is used in messages.
  static TextStream of(std::string_view text, std::string name = "text");

  TextStream(TextStream&&) noexcept;
  TextStream& operator=(TextStream&&) noexcept;
  ~TextStream();

  /// The first bytes of the file, unconverted, at most 64 KB. Readers find a declared charset in them. Must be called
  /// before the first piece().
  std::string_view peek();
  /// Sets the charset; "" is UTF-8. A byte order mark of UTF-8 or UTF-16 overrides it. Must be called before the first
  /// piece().
  void set_charset(const std::string& charset);

  /// The next chunk of text, valid until the next call; empty at the end.
  std::string_view piece();
  /// Reads the next line, without LF or CR LF. Returns false at the end. Throws InputError if a line is longer than
  /// kLongestText.
  bool line(std::string& line);
  /// The rest of the text, in one string.
  std::string rest();

  const std::string& name() const;
  std::int64_t lines() const;     ///< lines read so far, which is the number of the last one
  std::int64_t position() const;  ///< bytes read so far
  InvalidText invalid() const;    ///< what was replaced so far

 private:
  struct State;
  explicit TextStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attend
