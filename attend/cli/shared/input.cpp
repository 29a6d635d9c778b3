#include "attend/cli/shared/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/error.h"
#include "attend/text/printable.h"
#include "attend/text/unicode.h"

namespace attend::cli {
namespace {

constexpr std::size_t kBuffer = 1 << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string last_error() { return std::generic_category().message(errno); }
bool is_standard(const std::string& path) { return path == "-"; }

}  // namespace

Flag* add_input_flag(Verb& verb, std::vector<std::string>& paths) {
  return verb.add_option("-i,--input", paths, "Input files, read one after the other")
      ->type_name("FILE")
      ->default_text("standard input");
}

Flag* add_output_flag(Verb& verb, std::string& path) {
  return verb.add_option("-o,--output", path, "Output file")->type_name("FILE")->default_text("standard output");
}

LineReader::LineReader(std::vector<std::string> paths) : paths_(std::move(paths)) {
  if (paths_.empty()) paths_.emplace_back("-");
  bool known = true;
  for (const std::string& path : paths_) {
    struct stat status {};
    if (is_standard(path)) {
      known = known && ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    } else {
      if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0)
        fail<InputError>("input", path, ": cannot read it: ", last_error());
      if (S_ISDIR(status.st_mode)) fail<InputError>("input", path, ": is a folder, expected a file");
      known = known && S_ISREG(status.st_mode);
    }
    total_bytes_ += status.st_size;
  }
  if (!known) total_bytes_ = 0;
}

LineReader::~LineReader() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

std::string LineReader::name(std::size_t path) const {
  return is_standard(paths_[path]) ? "standard input" : paths_[path];
}

std::string LineReader::where(std::int64_t n) const {
  std::size_t path = lines_before_.size();
  while (path > 1 && lines_before_[path - 1] >= n) --path;
  if (path == 0) return name(0);
  return name(path - 1) + ", line " + std::to_string(n - lines_before_[path - 1]);
}

bool LineReader::open_next() {
  if (file_ > STDIN_FILENO) ::close(file_);
  file_ = -1;
  if (lines_before_.size() == paths_.size()) return false;
  const std::string& path = paths_[lines_before_.size()];
  lines_before_.push_back(lines_read_);
  file_ = is_standard(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail<InputError>("input", path, ": cannot open: ", last_error());
  buffer_.clear();
  at_ = scanned_ = 0;
  ended_ = false;
  beginning_ = true;
  return true;
}

bool LineReader::fill() {
  if (ended_) return false;
  buffer_.erase(0, at_);
  scanned_ -= at_;
  at_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kBuffer);
  pollfd ready{file_, POLLIN, 0};
  if (::poll(&ready, 1, 0) == 0) erase_progress();
  ssize_t got;
  while ((got = ::read(file_, buffer_.data() + before, buffer_.size() - before)) < 0 && errno == EINTR)
    stop_if_interrupted();
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) fail("input", where(), ": cannot read on after it: ", last_error());
  ended_ = got == 0;
  bytes_read_ += got;
  return got > 0;
}

void LineReader::finish() {
  if (const InvalidText invalid = std::exchange(invalid_, {}); invalid.count > 0) warn(invalid.warning());
}

bool LineReader::next(std::string& line) {
  stop_if_interrupted();
  for (;;) {
    if (file_ < 0 && !open_next()) {
      finish();
      return false;
    }
    const char* end =
        scanned_ < buffer_.size()
            ? static_cast<const char*>(std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_))
            : nullptr;
    if (!end) {
      scanned_ = buffer_.size();
      if (fill()) continue;
      if (at_ == buffer_.size()) {
        if (open_next()) continue;
        finish();
        return false;
      }
    }
    const std::size_t stop = end ? static_cast<std::size_t>(end - buffer_.data()) : buffer_.size();
    std::string_view found(buffer_.data() + at_, stop - at_);
    at_ = scanned_ = end ? stop + 1 : stop;
    if (beginning_ && found.starts_with(kByteOrderMark)) found.remove_prefix(kByteOrderMark.size());
    beginning_ = false;
    if (found.ends_with('\r')) found.remove_suffix(1);
    line.assign(found);
    ++lines_read_;
    if (const std::int64_t count = count_invalid_utf8(line); count > 0) {
      line = replace_invalid_utf8(line);
      invalid_ += {count, where()};
    }
    return true;
  }
}

bool LineReader::has_line() {
  while (file_ >= 0 && !ended_) {  // opening the next file does not block
    if (scanned_ < buffer_.size() && std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_)) break;
    scanned_ = buffer_.size();
    pollfd ready{file_, POLLIN, 0};
    if (::poll(&ready, 1, 0) == 0) return false;
    fill();  // may be only a part of a line
  }
  return true;
}

bool LineReader::next(std::vector<std::string>& lines, std::size_t max_lines, std::size_t max_bytes) {
  lines.clear();
  std::string line;
  for (std::size_t bytes = 0; lines.size() < max_lines && bytes < max_bytes && (lines.empty() || has_line());) {
    if (!next(line)) break;
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  return !lines.empty();
}

TextWriter::TextWriter(const std::string& path) : name_(path), file_(STDOUT_FILENO) {
  if (path.empty() || is_standard(path)) {
    name_ = "standard output";
    terminal_ = ::isatty(file_) != 0;
    return;
  }
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path real =
      fs::weakly_canonical(fs::absolute(path), ignored);  // a link stays a link: its target is replaced
  const fs::file_status status = fs::status(real, ignored);
  if (fs::is_directory(status)) fail<InputError>("output", path, ": is a folder, expected a file");
  if (!fs::is_directory(real.parent_path(), ignored))
    fail<InputError>("output", path, ": there is no folder ", real.parent_path().string());
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    atomic_.emplace(real);
    return;
  }
  // A pipe or a device is written directly; it cannot be replaced by a finished file.
  file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file_ < 0) fail<InputError>("output", path, ": cannot open: ", last_error());
  terminal_ = ::isatty(file_) != 0;
  owner_ = std::shared_ptr<const void>(nullptr, [file = file_](const void*) { ::close(file); });
}

void TextWriter::write(std::string_view text) {
  if (terminal_) return write_styled(printable(text));
  write_styled(text);
}

void TextWriter::write_styled(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void TextWriter::flush() {
  stop_if_interrupted();
  std::string_view rest = buffer_;
  if (atomic_) {
    atomic_->write(rest);
    rest = {};
  }
  if (!rest.empty() && terminal_) erase_progress();
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      stop_if_interrupted();
      continue;
    }
    if (written < 0 && errno == EPIPE) throw ClosedPipe{};
    if (written < 0) fail("output", name_, ": cannot write: ", last_error());
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void TextWriter::write_at(std::int64_t offset, std::string_view text) {
  flush();
  atomic_.value().write_at(offset, text);
}

void TextWriter::finish() {
  flush();
  if (atomic_) atomic_->commit();
}

}  // namespace attend::cli
