// The named tensors of one file of weights, whatever its format: what SafetensorsFile and TorchFile have in common.
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

/// An open file. Tensors share its mapping, which lives as long as one of them does. Reading is thread-safe. A reader
/// of a format derives from this class, fills the entries, and adds nothing that reading them needs: it can be copied
/// into a TensorFile.
class TensorFile {
 public:
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.contains(name); }

  /// The tensor, as read_stored() gives it: it shares the mapping where it can. Throws when there is none of that name.
  Tensor get(std::string_view name) const;
  /// The same, converted to float32 from whatever it is stored as.
  Tensor get_float32(std::string_view name) const;
  /// One line for each tensor that get() cannot give exactly (double precision), for the caller to show.
  std::vector<std::string> warnings() const;

 protected:
  static constexpr std::size_t kMaxRank = 64;  ///< of a shape in a file; far above anything real

  /// The shape may have more dimensions than a Tensor can.
  struct Entry {
    std::string dtype;  ///< under its safetensors name: "F32", "BF16", …
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;        ///< from the first element to the last
    bool plain = true;                       ///< row-major and little-endian, as read_stored() takes them
    std::vector<std::int64_t> strides = {};  ///< in elements; only where it is not plain
  };

  explicit TensorFile(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  TensorFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::string name_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  bool big_endian_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace attend
