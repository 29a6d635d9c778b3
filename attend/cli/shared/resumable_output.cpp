#include "attend/cli/shared/resumable_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/wording.h"
#include "attend/formats/config.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string last_error() { return std::generic_category().message(errno); }

fs::path with_ending(fs::path path, const char* ending) { return path += ending; }

/// Removes temporary files of a run that was killed while it saved its state.
void remove_unfinished_state(const fs::path& state) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(state.parent_path(), ignored))
    if (entry.path().filename().string().starts_with(state.filename().string() + ".part-"))
      found.push_back(entry.path());
  for (const fs::path& path : found) fs::remove(path, ignored);
}

}  // namespace

bool ResumableOutput::can_write(const std::string& path) {
  if (path.empty() || path == "-") return false;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

ResumableOutput::ResumableOutput(const std::string& path, std::uint64_t run, bool resume) : run_(run) {
  std::error_code ignored;
  path_ = fs::weakly_canonical(fs::absolute(path), ignored);
  partial_ = with_ending(path_, ".partial"), state_ = with_ending(path_, ".partial.json");
  if (!fs::is_directory(path_.parent_path(), ignored))
    fail<InputError>("output", path, ": there is no folder ", path_.parent_path().string());
  bool begun = fs::exists(partial_, ignored) && fs::exists(state_, ignored);
  if (!begun && fs::exists(partial_, ignored) && fs::file_size(partial_, ignored) > 0)
    fail<InputError>("output", partial_.string(), " exists, and is not of a run that was stopped: move or delete it");
  if (!begun && resume) fail<InputError>("output", "--resume: there is no run to continue: ", partial_.string());
  lock_ = open_and_lock(partial_);
  remove_unfinished_state(state_);
  if (begun && !resume) {
    if (Config(state_).integer_in("lines", 0, kMost) > 0)
      fail<InputError>("output", partial_.string(),
                       " has the output of a run that was stopped: continue it with --resume, or delete this file");
    begun = false;  // it was killed before its first line
  }
  if (begun) {
    const Config state(state_);
    if (state.text("run") != std::to_string(run_))
      fail<InputError>("output", partial_.string(),
                       " is of a run with another model or other options; repeat them, or delete this file");
    lines_ = state.integer_in("lines", 0, kMost), bytes_ = state.integer_in("bytes", 0, kMost);
    const std::string input = state.text("input");
    if (std::from_chars(input.data(), input.data() + input.size(), expected_input_).ptr != input.data() + input.size())
      fail<InputError>("output", state_.string(), ": \"input\" is \"", input,
                       "\", expected a number; delete this file");
    if (state.has("seed")) seed = static_cast<std::uint64_t>(state.integer("seed"));
    if (const auto size = fs::file_size(partial_, ignored); static_cast<std::int64_t>(size) < bytes_)
      fail<InputError>("output", partial_.string(), " has lost its end: got ", size, " bytes, expected ", bytes_);
  }
  while (::ftruncate(lock_.file, bytes_) != 0)
    if (errno != EINTR) fail<InputError>("output", partial_.string(), ": cannot open: ", last_error());
  if (!begun) save_state();  // before the first output: without it, a partial file could be anybody's
}

ResumableOutput::~ResumableOutput() {
  std::error_code ignored;
  if (lock_.file >= 0 && lines_ == 0) fs::remove(state_, ignored), fs::remove(partial_, ignored);
}

ResumableOutput::Locked::~Locked() {
  if (file >= 0) ::close(file);
}

ResumableOutput::Locked ResumableOutput::open_and_lock(const fs::path& path) {
  Locked opened{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)};
  if (opened.file < 0) fail<InputError>("output", path.string(), ": cannot open: ", last_error());
  if (::flock(opened.file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail<InputError>("output", path.string(), ": another process is writing to this file");
  struct stat locked {
  }, named{};
  if (::fstat(opened.file, &locked) != 0 || ::stat(path.c_str(), &named) != 0 || locked.st_ino != named.st_ino ||
      locked.st_dev != named.st_dev)
    fail<InputError>("output", path.string(), ": another process has just finished this file");
  return opened;
}

void ResumableOutput::add_input(std::span<const std::string> lines) {
  for (const std::string& line : lines) input_.add(line).add(std::uint64_t{line.size()});
}

void ResumableOutput::skip_done(LineReader& reader) {
  std::string line;
  for (std::int64_t n = 0; n < lines_; ++n) {
    if (!reader.next(line))
      fail<InputError>("output", "--resume: the input has ", grouped(n), " lines, but ", grouped(lines_), " are done");
    add_input({&line, 1});
  }
  if (lines_ > 0 && input_.value() != expected_input_)
    fail<InputError>("output", "--resume: the first ", grouped(lines_),
                     " lines of the input are not those of the run that was stopped");
}

void ResumableOutput::add(std::span<const std::string> lines, std::string_view output) {
  check_mapped_files();  // what is written now is not computed again by --resume
  bytes_ += std::ssize(output);
  while (!output.empty()) {
    const ssize_t written = ::write(lock_.file, output.data(), output.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("output", partial_.string(), ": cannot write: ", last_error());
    output.remove_prefix(static_cast<std::size_t>(written));
  }
  sync_path(partial_);  // before the state says that the output is there
  add_input(lines);
  lines_ += std::ssize(lines);
  save_state();
}

void ResumableOutput::save_state() const {
  Config state;
  state.set("run", std::to_string(run_)), state.set("input", std::to_string(input_.value()));
  state.set("lines", lines_), state.set("bytes", bytes_);
  if (seed) state.set("seed", static_cast<std::int64_t>(*seed));
  state.save(state_);
}

void ResumableOutput::finish() {
  sync_path(partial_);
  std::error_code problem;
  fs::rename(partial_, path_, problem);
  if (problem)
    fail("output", path_.string(), ": cannot give the file its name: ", problem.message(), "; the output is in ",
         partial_.string());
  lock_ = Locked();
  sync_path(path_.parent_path());
  fs::remove(state_, problem);
}

std::string ResumableOutput::hint() const {
  if (lines_ == 0) return "";
  return counted(lines_, "line") + (lines_ == 1 ? " is" : " are") + " done and kept in " + partial_.string() +
         "; to continue, repeat the command with --resume";
}

}  // namespace attend::cli
