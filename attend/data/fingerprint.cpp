#include "attend/data/fingerprint.h"

#include <system_error>

#include "attend/core/error.h"
#include "attend/core/file.h"
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
  if (problem) fail<InputError>("load", path.string(), ": cannot look at it: ", problem.message());
  add(place.string()).add(static_cast<std::uint64_t>(size));
  return add(static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

Fingerprint& Fingerprint::add_contents(const std::filesystem::path& path) {
  const MappedFile file = map_file(path);
  return add(std::string_view(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()));
}

}  // namespace attend
