#include "attend/cli/shared/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "attend/cli/shared/interrupt.h"
#include "attend/core/error.h"
#include "attend/text/printable.h"

namespace attend::cli {
namespace {

constexpr std::chrono::milliseconds kFirstDraw{200}, kRedraw{100};
constexpr std::chrono::seconds kPlainLine{10};

ProgressBar* shown = nullptr;  // erased before a warning is printed

bool is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && (!kind || std::string_view(kind) != "dumb");
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

/// The number as text; of bytes with the unit.
std::string amount(double count, const std::string& unit) {
  return unit == "B" ? bytes(count) : grouped(std::llround(count));
}

}  // namespace

std::string duration(double seconds) {
  if (seconds < 9.95) return format("%.1f s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string bytes(double count) {
  if (count < 1e3) return format("%.0f B", count);
  if (count < 1e6) return format("%.1f kB", count / 1e3);
  if (count < 1e9) return format("%.1f MB", count / 1e6);
  return format("%.2f GB", count / 1e9);
}

ProgressBar::ProgressBar(std::string label, std::string unit)
    : label_(std::move(label)), unit_(std::move(unit)), terminal_(is_terminal()) {
  next_ = start_ + (terminal_ ? Clock::duration(kFirstDraw) : Clock::duration(kPlainLine));
}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::update(std::int64_t done, std::int64_t total) {
  stop_if_interrupted();
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  if (terminal_) {
    const std::size_t width = terminal_width() - 1;  // a full line would wrap
    std::cerr << '\r' << line(done, total, width) << "\x1b[K" << std::flush;
    visible_ = true;
    shown = this;
  } else {
    std::cerr << "attend: " << line(done, total, 0) << std::endl;
  }
  next_ = now + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kPlainLine));
}

void ProgressBar::erase() {
  if (visible_) std::cerr << "\r\x1b[K" << std::flush;
  visible_ = false;
  if (shown == this) shown = nullptr;
}

std::string ProgressBar::line(std::int64_t done, std::int64_t total, std::size_t width) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = static_cast<double>(done - before_) / std::max(seconds, 1e-9);
  const std::string unit = unit_.empty() || unit_ == "B" ? "" : std::string(" ").append(unit_);
  const std::string speed = (rate < 10 && unit_ != "B" ? format("%.1f", rate) : amount(rate, unit_)) + unit + "/s";
  if (total <= 0 || done > total)
    return (label_ + "  " + amount(static_cast<double>(done), unit_) + unit + "  " + speed)
        .substr(0, width ? width : std::string::npos);

  const double part = static_cast<double>(done) / static_cast<double>(total);
  const std::string left = done > before_ ? duration(static_cast<double>(total - done) / rate) + " left" : "";
  const std::string head = label_ + format("  %3.0f %%", std::floor(100 * part));
  const std::string tail = "  " + amount(static_cast<double>(done), unit_) + " of " +
                           amount(static_cast<double>(total), unit_) + unit + "  " + speed + "  " + left;
  if (width == 0) return head + tail;
  std::string bar;
  if (const std::size_t fixed = head.size() + 4 + tail.size(); fixed + 8 <= width) {
    const std::size_t room = std::min<std::size_t>(width - fixed, 40);
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(room));
    bar.append("  [").append(filled, '=').append(room - filled, ' ').append("]");
  }
  return (head + bar + tail).substr(0, width);
}

void erase_progress() {
  if (shown) shown->erase();
}

void tell(std::string_view message) {
  constexpr std::size_t kMost = 4000;  // bytes: a message may repeat a value of a hostile file
  erase_progress();
  std::cerr << "attend: " << printable(message.substr(0, kMost)) << (message.size() > kMost ? " …" : "") << std::endl;
}

void warn(std::string_view message) { tell("warning: " + std::string(message)); }

}  // namespace attend::cli
