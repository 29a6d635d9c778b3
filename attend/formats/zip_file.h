// Reads the directory of a zip archive with uncompressed entries, as PyTorch and NumPy write them. The entries can be
// used without a copy. All offsets are validated; checksums are not verified, because that would read the whole file.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace attend {

/// The name and the bytes of each entry. Archives may be larger than 4 GB. `file` is used in error messages. Throws
/// InputError [load] if the archive is incomplete, or if an entry is compressed or encrypted.
std::map<std::string, std::span<const std::byte>, std::less<>> zip_entries(const std::string& file,
                                                                           std::span<const std::byte> bytes);

}  // namespace attend
