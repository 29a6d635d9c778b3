// Progress of long work on standard error: a bar in a terminal, otherwise a line now and then.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "attend/core/progress.h"
#include "attend/core/wording.h"

namespace attend::cli {

/// Appears after a moment, is redrawn at most ten times a second, and is erased by the destructor. There may be one at
/// a time, used from one thread.
///   ProgressBar bar("Reading", "B");
///   train(…, bar.progress());
class ProgressBar {
 public:
  /// "Reading  45 %  ===>     5.1 of 11.4 MB  2.1 MB/s  3 s left". The unit is what is counted, "lines"; "B" is
  /// written as kB, MB, GB.
  explicit ProgressBar(std::string label, std::string unit = "");
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// total 0: not known. Throws Interrupted after Ctrl-C, so that work that reports its progress can be stopped.
  void update(std::int64_t done, std::int64_t total);
  /// update() as a function for the library. It must not be used after the bar is destroyed.
  Progress progress() {
    return [this](std::int64_t done, std::int64_t total) { update(done, total); };
  }
  /// The work starts at `done`, for example after --resume. This part does not count for the speed.
  void go_on_from(std::int64_t done) { before_ = done; }
  void erase();
  /// Changes the label.
  void label(std::string label) { label_ = std::move(label); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(std::int64_t done, std::int64_t total, std::size_t width) const;

  std::string label_, unit_;
  std::int64_t before_ = 0;
  bool terminal_, visible_ = false;
  Clock::time_point start_ = Clock::now(), next_;
};

/// Erases the bar that is shown, if any. Call it before anything else is written to the terminal, and before waiting
/// for input, which a person may type there. The next update draws the bar again.
void erase_progress();

/// Prints "attend: …" on standard error, on a line of its own even while a bar is shown.
void tell(std::string_view message);
/// The same with "attend: warning: …".
void warn(std::string_view message);

/// 75.0 -> "1 min 15 s".
std::string duration(double seconds);
/// 1234567 bytes -> "1.2 MB".
std::string bytes(double count);

}  // namespace attend::cli
