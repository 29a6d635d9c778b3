// A number that changes when what it was made from does: to tell whether something kept on disk is still good. It
// finds accidents, not forgeries.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace attend {

/// FNV-1a with 64 bits, over everything that is added, in order.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));  // so that "ab", "c" is not "a", "bc"
    for (const char byte : bytes) mix(static_cast<unsigned char>(byte));
    return *this;
  }
  Fingerprint& add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) mix(static_cast<unsigned char>(number >> shift));
    return *this;
  }
  /// Where a file is, how large, and when it was last written. Throws InputError when it is not there.
  Fingerprint& add_file(const std::filesystem::path& path);

  std::uint64_t value() const { return hash_; }

 private:
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001B3u; }

  std::uint64_t hash_ = 0xCBF29CE484222325u;
};

}  // namespace attend
