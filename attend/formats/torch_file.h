// What torch.save() writes of a model's parameters (pytorch_model.bin): a zip archive of a pickle and one entry for
// each storage, or, before PyTorch 1.6, the same one after the other. Reading trusts nothing in the file and runs
// nothing.
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

/// An open file: a dictionary of tensors. They borrow its mapping, which lives as long as one of them does; tensors
/// that were one in PyTorch (tied weights) are one here. Opening reads the pickle only, and throws InputError [load]
/// for anything but a complete and consistent file, and for a pickle that names what tensors do not need. Thread-safe.
class TorchFile {
 public:
  explicit TorchFile(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  TorchFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  /// Whether a file that begins with these bytes is of this kind.
  static bool recognises(std::span<const std::byte> bytes);

  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.contains(name); }
  /// The tensor, as read_stored() gives it: what it can, shares the mapping. A view that is not row-major is copied.
  /// Throws when there is none of that name.
  Tensor get(std::string_view name) const;
  /// The same, converted to float32 from whatever it is stored as.
  Tensor get_float32(std::string_view name) const;
  /// One line for each tensor that get() cannot give exactly (double precision), for the caller to show.
  std::vector<std::string> warnings() const;

 private:
  struct Storage {
    std::string dtype;  // under its safetensors name
    std::span<const std::byte> bytes;
  };
  struct Entry {
    std::string dtype;
    std::vector<std::int64_t> shape, strides;  // strides in elements
    std::span<const std::byte> bytes;          // from the first element to the last
    bool row_major = true;
  };
  friend class TorchReader;
  void read();

  std::string name_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  bool big_endian_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace attend
