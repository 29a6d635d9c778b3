// Reads GGUF files (versions 2 and 3), llama.cpp's format of models: metadata of the model and its tokenizer, and named
// tensors, which may be stored in blocks with shared scales. GgufWriter (gguf.h) writes them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/formats/tensor_file.h"

namespace attend {

/// The metadata of a GGUF file. All functions but has() throw InputError, naming file and key, if a value has another
/// type, and if it is missing and there is no fallback.
class GgufMetadata {
 public:
  using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                             std::vector<std::string>>;

  explicit GgufMetadata(std::string file) : file_(std::move(file)) {}
  const std::string& file() const { return file_; }
  /// Adds a value; false if the key exists already.
  bool add(std::string key, Value value) { return values_.emplace(std::move(key), std::move(value)).second; }

  bool has(std::string_view key) const { return values_.contains(key); }
  std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  double number(std::string_view key, std::optional<double> fallback = {}) const;
  bool flag(std::string_view key, std::optional<bool> fallback = {}) const;
  std::string text(std::string_view key, const std::optional<std::string>& fallback = {}) const;
  /// Lists; empty if missing. `integers` also takes a list of booleans, and a single integer.
  const std::vector<std::string>& texts(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  const std::vector<double>& numbers(std::string_view key) const;

 private:
  const Value* find(std::string_view key) const;
  [[noreturn]] void wrong_type(std::string_view key, const char* expected) const;
  [[noreturn]] void missing(std::string_view key) const;

  std::string file_;
  std::map<std::string, Value, std::less<>> values_;
};

/// An open file. The constructor reads metadata and the list of tensors, and checks that they fit into the file. It
/// throws InputError [load] if the file is incomplete or inconsistent, or stores a tensor in an unknown format. Shapes
/// are row-major, as everywhere here: the reverse of those in the file.
class GgufFile : public TensorFile {
 public:
  explicit GgufFile(const std::filesystem::path& path);
  /// Reads from memory. `name` is used in error messages, and `owner` keeps the bytes alive.
  GgufFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Whether bytes begin as a GGUF file does.
  static bool recognises(std::span<const std::byte> bytes);

  const GgufMetadata& metadata() const { return metadata_; }

 private:
  class Reader;

  GgufMetadata metadata_;
};

}  // namespace attend
