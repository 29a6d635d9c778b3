// A number that changes when what it was made from does: to tell whether something kept on disk is still good. It
// finds accidents, not forgeries.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace attend {

/// Of everything that is added, in order.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes);
  Fingerprint& add(std::uint64_t number);
  /// Where a file is, how large, and when it was last written: quick. Throws InputError when it is not there.
  Fingerprint& add_file(const std::filesystem::path& path);
  /// Every byte of a file: the same for a copy, and after it was moved.
  Fingerprint& add_contents(const std::filesystem::path& path);

  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace attend
