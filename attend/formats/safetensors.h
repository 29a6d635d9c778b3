// The safetensors format: 8 bytes of header length (little-endian), a JSON header that names each tensor with its
// dtype, shape and byte range, then the bytes. Reading trusts nothing in the file; writing replaces a file as a whole.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Free text under "__metadata__". Hugging Face's readers want to see which framework's layout the file has.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

/// An open file. Tensors borrow its mapping, which lives as long as one of them does. Opening reads the header only,
/// and throws [load] for anything but a complete and consistent file. Reading is thread-safe.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  SafetensorsFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  /// What the header says of a tensor. The shape may have more dimensions than a Tensor can.
  struct Entry {
    std::string dtype;  ///< as stored: "F32", "BF16", …
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< byte range, counted from the end of the header
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  const SafetensorsMetadata& metadata() const { return metadata_; }
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.contains(name); }

  /// The tensor, as read_stored() gives it: what it can, shares the mapping. Throws when there is none of that name.
  Tensor get(std::string_view name) const;
  /// The same, converted to float32 from whatever it is stored as.
  Tensor get_float32(std::string_view name) const;
  /// One line for each tensor that get() cannot give exactly (F64), for the caller to show.
  std::vector<std::string> warnings() const;

 private:
  void read_header();
  void check_layout() const;

  std::string name_;
  std::span<const std::byte> bytes_, data_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, Entry, std::less<>> entries_;
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
