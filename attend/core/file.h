// Files: read through a memory mapping, and written atomically, so that after a crash either the old file or the
// complete new one exists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace attend {

/// The message of errno, for errors of files.
std::string system_error_text();

/// A file that is mapped into memory. The system loads its pages on first access. Writes to the bytes are private to
/// this process. Replacing the file by a rename, as AtomicFile does, changes nothing here. Writing to the file in place
/// does: check_mapped_files() notices it.
struct MappedFile {
  std::span<std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the mapping alive
};
/// Maps a file. Throws Error [load] if the path does not exist, is not readable, or is not a regular file. `bytes` is
/// empty for an empty file.
MappedFile map_file(const std::filesystem::path& path);

/// Throws Error [load], which names the file, if a mapped file was truncated or written to since map_file(). A result
/// that was computed from mapped files is right only if this succeeds afterwards. With `folder`, only files in it and
/// in its subfolders count. Costs one fstat for each mapped file. Thread-safe.
void check_mapped_files(const std::filesystem::path& folder = {});
/// For a program's handler of SIGBUS, which the system sends when a page of a mapped file is gone: if `address` is in a
/// mapped file, replaces the pages from there to its end by zeros, so that the process can go on, and returns true.
/// From then on check_mapped_files() fails for this file. Async-signal-safe.
bool replace_lost_pages(const void* address) noexcept;

/// Writes a file atomically. The data goes to a temporary file, which commit() syncs to disk and renames to `path`.
/// Without a commit(), for example after an exception, an existing file at `path` is unchanged. All functions throw
/// Error [save].
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Overwrites bytes that are already written, for example a count that is known only at the end.
  void write_at(std::int64_t offset, std::string_view text);
  void commit();

 private:
  [[noreturn]] void give_up(const char* doing) const;

  std::filesystem::path path_, temporary_;
  int file_ = -1;
};

/// The name of a temporary file or folder beside `path` that does not exist yet: NAME.part-PROCESS-NUMBER.
std::filesystem::path unused_temporary(const std::filesystem::path& path);
/// Removes temporary files and folders of processes that no longer run, and of this process.
void remove_unfinished(const std::filesystem::path& folder);
/// Waits until a file, or the names in a folder, are on disk. Throws Error [save].
void sync_path(const std::filesystem::path& path);

/// Checks that a folder exists or can be created, and that files can be written to it; throws InputError [output]
/// otherwise. The file system is unchanged afterwards.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace attend
