#include "attend/core/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "attend/core/error.h"

namespace attend {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

/// Closes a descriptor on every way out.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile map_file(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};  // a pipe must not make us wait
  if (file.value < 0) fail<InputError>("load", path.string(), ": cannot open: ", last_error());
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail("load", path.string(), ": cannot look at it: ", last_error());
  if (S_ISDIR(status.st_mode)) fail<InputError>("load", path.string(), ": is a folder, expected a file");
  if (!S_ISREG(status.st_mode)) fail<InputError>("load", path.string(), ": is no regular file, so it cannot be mapped");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};

  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.value, 0);
  if (address == MAP_FAILED) fail("load", path.string(), ": cannot map ", size, " bytes: ", last_error());
  return {{static_cast<std::byte*>(address), size},
          std::shared_ptr<const void>(address, [size](void* mapped) { ::munmap(mapped, size); })};
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  static std::atomic<unsigned> counter{0};
  temporary_ = path_;
  temporary_ += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
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
  // The data must be on disk before the name points at it, and the name before we say that it is saved.
  if (::fsync(file_) != 0) give_up("sync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) give_up("rename");
  ::close(file_);
  file_ = -1;
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const Descriptor parent{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems cannot sync a folder, and say so with EINVAL.
  if (parent.value < 0 || (::fsync(parent.value) != 0 && errno != EINVAL)) give_up("sync the folder");
}

void AtomicFile::give_up(const char* doing) const {
  fail("save", path_.string(), ": cannot ", doing, ": ", last_error());
}

}  // namespace attend
