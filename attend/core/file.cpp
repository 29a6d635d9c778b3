#include "attend/core/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "attend/core/error.h"

namespace attend {

std::string system_error_text() { return std::generic_category().message(errno); }

namespace {

/// Closes a file descriptor at the end of its scope.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

/// A file in memory. A signal handler walks the list of all mappings, so a node is never freed; one that is no longer
/// used has begin 0 and is used again.
struct Mapping {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  std::atomic<bool> lost = false;  // pages of it are gone
  Mapping* next = nullptr;         // does not change once the node is in the list
  // Guarded by `mappings_mutex`:
  std::string path = {};
  int file = -1;
  struct stat status = {};  // when it was mapped

  bool is_changed() const {
    struct stat now {};
    return lost || ::fstat(file, &now) != 0 || now.st_size != status.st_size ||
           now.st_mtim.tv_sec != status.st_mtim.tv_sec || now.st_mtim.tv_nsec != status.st_mtim.tv_nsec;
  }
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<Mapping*>::is_always_lock_free);

std::atomic<Mapping*> first_mapping = nullptr;
std::mutex mappings_mutex;
std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

Mapping* add_mapping(std::byte* address, const std::string& path, int file, const struct stat& status) {
  page_size();  // a signal handler must not be the first to ask
  const std::lock_guard lock(mappings_mutex);
  Mapping* node = first_mapping;
  while (node && node->begin != 0) node = node->next;
  const bool is_new = !node;
  if (is_new) node = new Mapping;
  node->path = path, node->file = file, node->status = status, node->lost = false;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  node->end = begin + static_cast<std::uintptr_t>(status.st_size);
  node->begin = begin;
  if (is_new) {
    node->next = first_mapping;
    first_mapping = node;
  }
  return node;
}

void remove_mapping(Mapping* node, void* address, std::size_t size) {
  {
    const std::lock_guard lock(mappings_mutex);
    ::close(node->file);
    node->begin = 0;
  }
  ::munmap(address, size);
}

}  // namespace

MappedFile map_file(const std::filesystem::path& path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};  // do not block on a pipe
  if (file.value < 0) fail<InputError>("load", path.string(), ": cannot open: ", system_error_text());
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail("load", path.string(), ": cannot read its status: ", system_error_text());
  if (S_ISDIR(status.st_mode)) fail<InputError>("load", path.string(), ": is a folder, expected a file");
  if (!S_ISREG(status.st_mode))
    fail<InputError>("load", path.string(), ": is not a regular file, so it cannot be mapped into memory");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};

  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.value, 0);
  if (address == MAP_FAILED) fail("load", path.string(), ": cannot map ", size, " bytes: ", system_error_text());
  auto* bytes = static_cast<std::byte*>(address);
  // Recent versions of Linux then read a file in huge pages. Reading weights from memory is up to a third faster with
  // them. An error is harmless.
  ::madvise(address, size, MADV_HUGEPAGE);
  // The file stays open: its name may soon be that of another.
  Mapping* node = add_mapping(bytes, path.string(), std::exchange(file.value, -1), status);
  return {{bytes, size},
          std::shared_ptr<const void>(address, [node, size](void* mapped) { remove_mapping(node, mapped, size); })};
}

void check_mapped_files(const std::filesystem::path& folder) {
  std::string_view start = folder.native();
  while (start.size() > 1 && start.ends_with('/')) start.remove_suffix(1);
  const auto is_inside = [start](std::string_view path) {
    return start.empty() || (path.starts_with(start) && path.size() > start.size() && path[start.size()] == '/');
  };
  const std::lock_guard lock(mappings_mutex);
  for (const Mapping* node = first_mapping; node; node = node->next)
    if (node->begin != 0 && is_inside(node->path) && node->is_changed())
      fail("load", node->path, ": was changed while it was in use; start again");
}

bool replace_lost_pages(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (Mapping* node = first_mapping; node; node = node->next) {
    const std::uintptr_t begin = node->begin, end = node->end;
    if (begin == 0 || at < begin || at >= end) continue;
    node->lost = true;  // before anybody can read zeros
    const std::uintptr_t page = at - at % page_size();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a page has no other name
    return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temporary_(unused_temporary(path_)) {
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) give_up("create");
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(std::int64_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(file_, text.data(), text.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("write");
    offset += written;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  // The data must be on disk before the rename, and the new name must be on disk before commit() returns.
  while (::fsync(file_) != 0)
    if (errno != EINTR) give_up("sync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) give_up("rename");
  ::close(file_);
  file_ = -1;
  sync_path(path_.has_parent_path() ? path_.parent_path() : ".");
}

void AtomicFile::give_up(const char* doing) const {
  fail("save", path_.string(), ": cannot ", doing, ": ", system_error_text());
}

std::filesystem::path unused_temporary(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  // A killed process may have had the same id and left a file behind: in a container, ids repeat.
  for (;;) {
    std::filesystem::path temporary = path;
    temporary += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    struct stat status {};
    if (::lstat(temporary.c_str(), &status) != 0) return temporary;
  }
}

void remove_unfinished(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return;
  std::vector<std::filesystem::path> dead;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    int process = 0, number = 0, size = 0;
    const std::size_t part = name.rfind(".part-");
    if (part == std::string::npos || std::sscanf(name.c_str() + part, ".part-%d-%d%n", &process, &number, &size) != 2 ||
        part + static_cast<std::size_t>(size) != name.size())  // a longer name is a file of the user
      continue;
    if (process == ::getpid() || (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH))
      dead.push_back(entry.path());
  }
  for (const std::filesystem::path& path : dead) std::filesystem::remove_all(path, ignored);
}

void sync_path(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  int result = file.value < 0 ? -1 : ::fsync(file.value);
  while (result != 0 && errno == EINTR && file.value >= 0) result = ::fsync(file.value);
  // File systems that cannot sync a folder return EINVAL.
  if (result != 0 && errno != EINVAL) fail("save", path.string(), ": cannot sync: ", system_error_text());
}

void check_output_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored, problem;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    fail<InputError>("output", folder.string(), ": is a file, expected a folder");
  // The only reliable test is to create the folder. Folders that were created are removed again, innermost first.
  std::vector<fs::path> made;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, ignored) && at.has_relative_path(); at = at.parent_path())
    made.push_back(at);
  fs::create_directories(folder, problem);
  if (!problem && ::access(folder.c_str(), W_OK | X_OK) != 0) problem.assign(errno, std::generic_category());
  for (const fs::path& path : made) fs::remove(path, ignored);
  if (problem)
    fail<InputError>(
        "output", folder.string(),
        made.empty() ? ": cannot write to this folder: " : ": cannot create this folder: ", problem.message());
}

}  // namespace attend
