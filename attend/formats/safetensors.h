// The safetensors format: 8 bytes of header length (little-endian), a JSON header that names each tensor with its
// dtype, shape and byte range, then the bytes. Reading trusts nothing in the file; writing replaces a file as a whole.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "attend/formats/tensor_file.h"

namespace attend {

/// Free text under "__metadata__". Hugging Face's readers want to see which framework's layout the file has.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

/// An open file. Opening reads the header only, and throws [load] for anything but a complete and consistent file.
class SafetensorsFile : public TensorFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  SafetensorsFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const SafetensorsMetadata& metadata() const { return metadata_; }

 private:
  class HeaderReader;
  void read_header();

  SafetensorsMetadata metadata_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
/// Writes a file, atomically (see AtomicFile). Data begins at a multiple of 64 bytes; wider types come first, so that
/// every tensor is aligned for its dtype. Throws [save] on duplicate or invalid names, or when the disk refuses.
void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const SafetensorsMetadata& metadata = {{"format", "pt"}});

}  // namespace attend
