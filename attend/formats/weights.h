// The weights of a Hugging Face model folder: one safetensors file, several of them with an index, or the same with
// PyTorch files.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attend/formats/safetensors.h"
#include "attend/formats/tensor_file.h"

namespace attend {

/// The named tensors of one or more files. Tensors share the memory mapping of their file, which lives as long as one
/// of them. Reading is thread-safe.
class Weights {
 public:
  /// Opens a folder with model.safetensors, its index, pytorch_model.bin or its index (the first that exists), or a
  /// single such file. Throws InputError [load] if there is none, or if a file is incomplete or inconsistent.
  explicit Weights(const std::filesystem::path& path);
  /// A tensor of a file that has another name there, and may have another layout.
  struct View {
    std::string name, stored;
    std::function<Tensor(const Tensor&)> layout = nullptr;  ///< converts the stored tensor; null: it is used as it is
  };
  /// Only these tensors of a file.
  Weights(std::string name, TensorFile file, std::vector<View> views);

  const std::string& name() const { return name_; }  ///< the path, for error messages
  std::vector<std::string> names() const;
  /// Adds tensors of other weights under new names (new name -> name there). They replace tensors of these names.
  void add(const Weights& others, const std::map<std::string, std::string>& names);
  bool contains(std::string_view name) const { return file_of_.contains(name); }
  /// As in TensorFile.
  Tensor get(std::string_view name) const;
  Tensor get_float32(std::string_view name) const;
  std::uint64_t elements() const;
  /// How most elements are stored: float16 or bfloat16, otherwise float32.
  DType precision() const;
  std::vector<std::string> warnings() const;
  /// The "__metadata__" of a single safetensors file; empty for shards and PyTorch files.
  const SafetensorsMetadata& metadata() const { return metadata_; }

 private:
  void read_whole(const std::filesystem::path& path);
  void read_shards(const std::filesystem::path& index);

  std::string name_;
  std::vector<TensorFile> files_;
  SafetensorsMetadata metadata_;
  std::map<std::string, std::size_t, std::less<>> file_of_;  // tensor -> index in files_
  std::map<std::string, View, std::less<>> views_;           // of tensors that have another name in their file
};

}  // namespace attend
