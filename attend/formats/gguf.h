// GGUF, version 3: the file that llama.cpp runs. Written here, not read: a header of typed keys, the tensors' names,
// shapes and places, then their bytes, all little-endian.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

enum class GgufType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q8_0 = 8,  ///< 32 weights share a scale of float16: 34 bytes
};

class GgufWriter {
 public:
  using Value =
      std::variant<std::uint32_t, float, bool, std::string, std::vector<std::string>, std::vector<std::int32_t>>;
  /// Keys and tensors are written in the order in which they were set and added.
  void set(std::string key, Value value) { keys_.push_back({std::move(key), std::move(value)}); }
  /// Rows of a length that 32 does not divide cannot be q8_0: they are f16 then, and vectors always f32. The tensor
  /// is kept, not copied.
  void add(std::string name, const Tensor& tensor, GgufType type);
  /// Atomically (see AtomicFile). Throws [save].
  void save(const std::filesystem::path& path) const;

 private:
  struct Key {
    std::string name;
    Value value;
  };
  struct Entry {
    std::string name;
    Tensor tensor;
    GgufType type;
  };
  std::vector<Key> keys_;
  std::vector<Entry> tensors_;
};

}  // namespace attend
