// A 64-bit hash of several inputs, to check whether a file on disk is still up to date. It is not cryptographic.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace attend {

/// The hash of everything that is added, in order.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes);
  Fingerprint& add(std::uint64_t number);
  /// Adds path, size and modification time of a file, which is fast. Throws InputError if the file does not exist.
  Fingerprint& add_file(const std::filesystem::path& path);
  /// Adds all bytes of a file, so that a copy has the same fingerprint.
  Fingerprint& add_contents(const std::filesystem::path& path);

  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace attend
