// The safetensors format: the length of the header (8 bytes, little-endian), a JSON header with the name, dtype, shape
// and byte range of each tensor, then the data. The reader validates the whole header; the writer replaces files
// atomically.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "attend/formats/tensor_file.h"

namespace attend {

/// The "__metadata__" of a file. Hugging Face libraries expect a key "format" with the name of the framework.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

/// An open file. The constructor only reads the header. It throws InputError [load] if the file is incomplete or
/// inconsistent.
class SafetensorsFile : public TensorFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// Reads from memory. `name` is used in error messages, and `owner` keeps the bytes alive.
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
/// Writes a file atomically (see AtomicFile). The data starts at a multiple of 64 bytes, and larger dtypes come first,
/// so that every tensor is aligned. Throws Error [save] for duplicate or invalid names, and if writing fails.
void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const SafetensorsMetadata& metadata = {{"format", "pt"}});

}  // namespace attend
