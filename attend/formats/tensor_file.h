// The named tensors of one file of weights: the base class of SafetensorsFile, TorchFile and
// GgufFile.
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

/// An open file. Its tensors share the memory mapping, which lives as long as one of them. Reading is thread-safe. The
/// reader of a format derives from this class and fills entries_ in its constructor; it can then be sliced to a
/// TensorFile.
class TensorFile {
 public:
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return entries_.contains(name); }

  /// The shape of a tensor, without reading it. Throws InputError if there is no such tensor.
  std::span<const std::int64_t> shape(std::string_view name) const;
  /// "F32", "BF16", …: see StoredTensor. Throws InputError if there is no such tensor.
  const std::string& stored_dtype(std::string_view name) const { return entry(name).dtype; }
  /// The tensor as converted by read_stored(), without a copy if possible. Throws InputError if there is no such
  /// tensor.
  Tensor get(std::string_view name) const;
  /// The tensor converted to float32.
  Tensor get_float32(std::string_view name) const;
  /// The number of elements that the file holds.
  std::uint64_t elements() const;
  /// One line for each tensor that loses precision in get(), because it is stored in float64.
  std::vector<std::string> warnings() const;

 protected:
  static constexpr std::size_t kMaxRank = 64;  ///< maximum number of dimensions in a file

  /// A tensor of the file. It may have more dimensions than a Tensor can.
  struct Entry {
    std::string dtype;  ///< see StoredTensor
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;        ///< from the first element to the last
    bool plain = true;                       ///< row-major and little-endian, as read_stored() needs it
    std::vector<std::int64_t> strides = {};  ///< in elements; used only if not plain
  };

  explicit TensorFile(const std::filesystem::path& path);
  /// Reads from memory. `name` is used in error messages, and `owner` keeps the bytes alive.
  TensorFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const Entry& entry(std::string_view name) const;

  std::string name_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  bool big_endian_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace attend
