// The directory of a zip archive whose entries are stored as they are, so that they can be used where they lie: what
// PyTorch and NumPy write. Trusts nothing in the file; checksums are not looked at, since that would read it all.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace attend {

/// Name -> bytes of each entry, also of archives beyond 4 GB. `file` is for messages. Throws InputError [load] for what
/// is no complete archive, and for an entry that is compressed or encrypted.
std::map<std::string, std::span<const std::byte>, std::less<>> zip_entries(const std::string& file,
                                                                           std::span<const std::byte> bytes);

}  // namespace attend
