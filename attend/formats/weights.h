// The weights of a model's folder, however Hugging Face stores them: one safetensors file, several with an index that
// says which tensor is in which file, or the same with PyTorch's own files.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attend/formats/tensor_file.h"

namespace attend {

/// Named tensors of one or more files, all of them mapped: tensors share a file's mapping, which lives as long as one
/// of them does. Reading is thread-safe.
class Weights {
 public:
  /// A folder with model.safetensors, or else its index, or else pytorch_model.bin or its index; or one such file.
  /// Throws InputError [load] when there is none, and for anything but complete and consistent files.
  explicit Weights(const std::filesystem::path& path);

  const std::string& name() const { return name_; }  ///< the path, for messages
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return file_of_.contains(name); }
  /// See TensorFile.
  Tensor get(std::string_view name) const;
  Tensor get_float32(std::string_view name) const;
  std::vector<std::string> warnings() const;

 private:
  void read_whole(const std::filesystem::path& path);
  void read_shards(const std::filesystem::path& index);

  std::string name_;
  std::vector<TensorFile> files_;
  std::map<std::string, std::size_t, std::less<>> file_of_;  // tensor -> its place in files_
};

}  // namespace attend
