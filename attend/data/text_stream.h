// Text from a file, a pipe or memory, a piece at a time: always valid UTF-8, whatever the bytes were. A byte-order mark
// and other charsets are converted, what is broken becomes U+FFFD and is counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace attend {

/// One line, or one field of a record, may have so many bytes: more is not text, and would fill the memory.
constexpr std::size_t kLongestText = std::size_t{64} << 20;

/// Whether a charset's name means UTF-8, or ASCII, which is part of it.
bool is_utf8_charset(std::string_view name);

/// Text converted to UTF-8 by iconv, in pieces. What the charset cannot hold is replaced and counted.
class CharsetDecoder {
 public:
  /// Throws InputError, naming the file, on a charset that the system does not know.
  CharsetDecoder(const std::string& charset, std::string_view file);
  ~CharsetDecoder();
  CharsetDecoder(CharsetDecoder&& other) noexcept;
  CharsetDecoder& operator=(CharsetDecoder&&) = delete;

  /// Appends the UTF-8 of bytes to text. Without last, a character cut at the end waits for the next piece.
  void append(std::string_view bytes, std::string& text, bool last);
  std::int64_t invalid() const { return invalid_; }

 private:
  void* state_;
  std::size_t unit_;  ///< bytes to skip where nothing fits
  std::string pending_;
  std::int64_t invalid_ = 0;
};

/// Reads once, from front to back. Memory: two buffers.
class TextStream {
 public:
  /// "-" is standard input. Throws InputError when the file cannot be opened.
  static TextStream open(const std::filesystem::path& path);
  /// The text must outlive the stream; name is for messages.
  static TextStream of(std::string_view text, std::string name = "text");

  TextStream(TextStream&&) noexcept;
  TextStream& operator=(TextStream&&) noexcept;
  ~TextStream();

  /// The first bytes as they are in the file, at most 64 KB, for whoever must guess a charset. Before the first
  /// piece().
  std::string_view peek();
  /// What the bytes are encoded in, "" for UTF-8. A byte-order mark of UTF-8 or UTF-16 counts more. Before the first
  /// piece().
  void set_charset(const std::string& charset);

  /// The next piece of text, valid until the next call; empty at the end.
  std::string_view piece();
  /// The next line without its end (LF or CR LF); false when there is none. Throws InputError on an endless one.
  bool line(std::string& line);

  const std::string& name() const;
  std::int64_t lines() const;     ///< how many line() gave: the number of the latest
  std::int64_t position() const;  ///< bytes read so far
  std::int64_t invalid() const;   ///< sequences replaced so far

 private:
  struct State;
  explicit TextStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attend
