// Reads lines from files or standard input, and writes text to a file or standard output.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/cli/shared/flags.h"
#include "attend/core/file.h"
#include "attend/data/invalid_text.h"

namespace attend::cli {

/// --input FILE …: standard input when it is not given.
Flag* add_input_flag(Verb& verb, std::vector<std::string>& paths);
/// --output FILE: standard output when it is not given.
Flag* add_output_flag(Verb& verb, std::string& path);

/// The lines of several files, one after the other. A line ends with LF, CRLF or its file; a UTF-8 byte order mark at
/// the beginning of a file is dropped; a line may be as long as memory allows. Lines are valid UTF-8: an invalid byte
/// sequence becomes U+FFFD, and one warning at the end of the input counts them.
class LineReader {
 public:
  /// "-", or an empty list, is standard input. Throws InputError if any of the files cannot be read.
  explicit LineReader(std::vector<std::string> paths = {});
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line, without its end. False when there is none. Throws Error when reading fails, and Interrupted.
  bool next(std::string& line);
  /// The next lines, at most max_lines and about max_bytes of them. Returns fewer lines instead of waiting for more, so
  /// that interactive input is answered line by line.
  bool next(std::vector<std::string>& lines, std::size_t max_lines, std::size_t max_bytes = 1 << 20);

  std::int64_t lines_read() const { return lines_read_; }  ///< of all files
  /// The place of the n-th line of all files, counted from 1: "corpus.txt, line 12".
  std::string where(std::int64_t n) const;
  std::string where() const { return where(lines_read_); }
  std::int64_t bytes_read() const { return bytes_read_; }
  std::int64_t total_bytes() const { return total_bytes_; }  ///< 0: not known, because one of them is a pipe

 private:
  bool open_next();
  void finish();    // warns of invalid text
  bool fill();      // more bytes into the buffer; false at the end of the file
  bool has_line();  // whether next() would give a line without waiting
  std::string name(std::size_t path) const;

  std::vector<std::string> paths_;
  std::vector<std::int64_t> lines_before_;  // of each path that was opened
  int file_ = -1;
  std::string buffer_;
  std::size_t at_ = 0, scanned_ = 0;  // bytes of the buffer that were given out, and that hold no line end
  bool ended_ = false, beginning_ = true;
  std::int64_t lines_read_ = 0, bytes_read_ = 0, total_bytes_ = 0;
  InvalidText invalid_;
};

/// Writes text to standard output or to a file. The complete file appears at finish(); without it, there is no file.
/// Every failed write throws Error, so a full disk does not look like success.
class TextWriter {
 public:
  /// "" and "-" are standard output.
  explicit TextWriter(const std::string& path = "");

  /// On a terminal, control characters are written in a visible form (see printable()). A pipe or a file gets the text
  /// as it is, since the text may be the product.
  void write(std::string_view text);
  /// Writes text of our own, which may have escape sequences such as colours.
  void write_styled(std::string_view text);
  /// Writes the buffer. Throws ClosedPipe if the reader of a pipe has closed it.
  void flush();
  /// Whether the output is a regular file, so that write_at() works; false for pipes.
  bool is_file() const { return atomic_.has_value(); }
  /// Overwrites bytes that were already written.
  void write_at(std::int64_t offset, std::string_view text);
  void finish();

 private:
  std::string name_, buffer_;
  int file_ = -1;
  bool terminal_ = false;
  std::shared_ptr<const void> owner_;  // closes file_
  std::optional<AtomicFile> atomic_;
};

/// The reader of our output has closed the pipe, as `head` does. main exits with code 1 and prints nothing.
struct ClosedPipe {};

}  // namespace attend::cli
