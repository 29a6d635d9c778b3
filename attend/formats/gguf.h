// Writes GGUF files (version 3) for llama.cpp. A file contains typed metadata keys, the names, shapes and offsets of
// the tensors, and then their data, all little-endian. gguf_file.h reads them.
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
  bf16 = 30,
  q8_0 = 8,  ///< blocks of 32 int8 weights with a float16 scale, 34 bytes each
};

/// The keys of a model's chat template, and of the one for conversations with tools.
inline constexpr const char *kGgufChatTemplate = "tokenizer.chat_template",
                            *kGgufToolTemplate = "tokenizer.chat_template.tool_use";

class GgufWriter {
 public:
  using Value = std::variant<std::uint32_t, float, bool, std::string, std::vector<std::string>,
                             std::vector<std::int32_t>, std::vector<float>>;
  /// Sets a metadata key. Keys and tensors are written in the order of the calls.
  void set(std::string key, Value value) { keys_.push_back({std::move(key), std::move(value)}); }
  /// Adds a float32 tensor, to be stored as `type`. Vectors are always stored as f32. If the row length is not a
  /// multiple of 32, f16 is used instead of q8_0. Keeps a reference to the tensor, not a copy.
  void add(std::string name, const Tensor& tensor, GgufType type);
  /// Writes the file atomically (see AtomicFile). Throws Error [save].
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
