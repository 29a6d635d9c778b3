// The built program on a terminal of its own, as a person sees and types it: for the tests in tests/cli/.
#pragma once
#include <poll.h>
#include <pty.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is of POSIX
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv() is of POSIX
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace attend::test {

class Terminal {
 public:
  explicit Terminal(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ATTEND_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (process_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Terminal() {
    if (process_ > 0 && !ended_) ::kill(process_, SIGKILL), ::waitpid(process_, nullptr, 0);
    if (terminal_ >= 0) ::close(terminal_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(terminal_, text.data() + at, text.size() - at);
      if (written <= 0) return;
      at += static_cast<std::size_t>(written);
    }
  }
  /// Reads what the program writes, until it has been quiet for some time or has ended.
  void read_until_quiet(std::chrono::milliseconds quiet) {
    std::array<char, 4096> buffer{};
    for (;;) {
      pollfd ready{terminal_, POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(quiet.count())) <= 0) return;
      const ssize_t got = ::read(terminal_, buffer.data(), buffer.size());
      if (got <= 0) return;
      written_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  /// Waits until the program ends. Its exit code.
  int wait() {
    read_until_quiet(std::chrono::seconds(60));
    int status = 0;
    ::waitpid(process_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// All that was written, with its control characters.
  const std::string& written() const { return written_; }
  /// The lines that are on the screen: carriage returns and "erase to the end of the line" have done their work.
  std::vector<std::string> screen() const {
    std::vector<std::string> lines(1);
    std::size_t column = 0;
    for (std::size_t at = 0; at < written_.size(); ++at) {
      if (written_[at] == '\n') {
        lines.emplace_back();
        column = 0;
      } else if (written_[at] == '\r') {
        column = 0;
      } else if (written_.compare(at, 3, "\x1b[K") == 0) {
        lines.back().resize(column), at += 2;
      } else {
        if (lines.back().size() <= column) lines.back().resize(column + 1, ' ');
        lines.back()[column++] = written_[at];
      }
    }
    return lines;
  }

 private:
  int terminal_ = -1;
  pid_t process_ = -1;
  bool ended_ = false;
  std::string written_;
};

}  // namespace attend::test
