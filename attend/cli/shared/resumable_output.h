// An output file of long work over lines. When the work stops early, the finished lines stay in FILE.partial, and a
// later run of the same work continues after them (--resume).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attend/cli/shared/input.h"
#include "attend/data/fingerprint.h"

namespace attend::cli {

class ResumableOutput {
 public:
  /// Whether `path` names a file that can be written in parts; pipes and devices cannot.
  static bool can_write(const std::string& path);

  /// Opens FILE.partial. `run` is a fingerprint of the model and the options. Throws InputError when a partial file is
  /// there and `resume` is false, when none is there and it is true, when the partial file belongs to another run, and
  /// when another process writes it.
  ResumableOutput(const std::string& path, std::uint64_t run, bool resume);
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  /// The seed of the run, which a resumed run takes from the earlier one.
  std::optional<std::uint64_t> seed = {};

  /// Reads the input lines that are done. Throws InputError when they are not those of the earlier run.
  void skip_done(LineReader& reader);
  /// Appends the output of the next input lines. It is kept even if the run stops after this.
  void add(std::span<const std::string> lines, std::string_view output);
  /// Renames FILE.partial to FILE.
  void finish();

  /// A message for the user if the work stops: how many lines are done, and how to continue. Empty if no line is done.
  std::string hint() const;

 private:
  /// An open file that no other process may open in this way.
  struct Locked {
    int file = -1;
    explicit Locked(int opened = -1) : file(opened) {}
    Locked(Locked&& other) noexcept : file(std::exchange(other.file, -1)) {}
    Locked& operator=(Locked&& other) noexcept {
      std::swap(file, other.file);
      return *this;
    }
    ~Locked();
  };
  static Locked open_and_lock(const std::filesystem::path& path);
  void add_input(std::span<const std::string> lines);
  void save_state() const;

  std::filesystem::path path_, partial_, state_;
  std::uint64_t run_;
  std::int64_t lines_ = 0, bytes_ = 0;
  std::uint64_t expected_input_ = 0;  // of the lines that an earlier run has done
  Fingerprint input_;
  Locked lock_;
};

}  // namespace attend::cli
