// Files as the formats need them: read through a mapping, written so that a crash leaves the old file or the new one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace attend {

/// A whole file in memory, paged in by the system as it is touched. Writes to the bytes stay private to this process.
/// The file must not be cut while it is mapped; replacing it (as AtomicFile does) is fine.
struct MappedFile {
  std::span<std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< the mapping lives as long as a copy of this
};
/// Throws [load] when the path is missing, unreadable, or no regular file. An empty file gives no bytes.
MappedFile map_file(const std::filesystem::path& path);

/// A file that appears under its name, complete and on disk, at commit(); before that, or when an error unwinds,
/// whatever had the name before is untouched. All functions throw [save].
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Over what was written already: a number that is known only at the end, say.
  void write_at(std::int64_t offset, std::string_view text);
  void commit();

 private:
  [[noreturn]] void give_up(const char* doing) const;

  std::filesystem::path path_, temporary_;
  int file_ = -1;
};

/// Removes the files that processes which have ended left unfinished in a folder (AtomicFile's
/// NAME.part-PROCESS-NUMBER).
void remove_unfinished(const std::filesystem::path& folder);

/// Throws InputError [output] when the folder does not exist and cannot be made, or when nothing can be written into
/// it. Nothing has changed afterwards.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace attend
