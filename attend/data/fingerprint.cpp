#include "attend/data/fingerprint.h"

#include <fstream>
#include <system_error>
#include <vector>

#include "attend/core/error.h"
#include "attend/data/hash.h"

namespace attend {

Fingerprint& Fingerprint::add(std::string_view bytes) {
  value_ = hash_text(bytes, value_).low;
  return *this;
}

Fingerprint& Fingerprint::add(std::uint64_t number) {
  return add(std::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
}

Fingerprint& Fingerprint::add_file(const std::filesystem::path& path) {
  std::error_code problem;
  const std::filesystem::path place = std::filesystem::canonical(path, problem);
  const auto size = problem ? 0 : std::filesystem::file_size(place, problem);
  const auto time = problem ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(place, problem);
  if (problem) fail<InputError>("load", path.string(), ": cannot read its status: ", problem.message());
  add(place.string()).add(static_cast<std::uint64_t>(size));
  return add(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

Fingerprint& Fingerprint::add_contents(const std::filesystem::path& path) {
  // The file is read in blocks, since the pages of a mapped file would count as memory of this process.
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) fail<InputError>("load", path.string(), ": cannot open the file");
  std::vector<char> block(std::size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())), file.gcount() > 0)
    add(std::string_view(block.data(), static_cast<std::size_t>(file.gcount())));
  if (file.bad()) fail("load", path.string(), ": cannot read the file");
  return *this;
}

}  // namespace attend
