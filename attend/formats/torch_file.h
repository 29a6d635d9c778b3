// Reads the parameters that torch.save() writes (pytorch_model.bin): a zip archive with a pickle and one entry for each
// storage, or, before PyTorch 1.6, a sequence of pickles and storages. The reader validates everything, and executes no
// code of the file.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "attend/formats/tensor_file.h"

namespace attend {

/// An open file with a dictionary of tensors. Tied weights share memory here as in PyTorch; a view that is not
/// row-major is copied. The constructor only reads the pickle. It throws InputError [load] if the file is incomplete or
/// inconsistent, or if the pickle uses functions that tensors do not need.
class TorchFile : public TensorFile {
 public:
  explicit TorchFile(const std::filesystem::path& path);
  /// Reads from memory. `name` is used in error messages, and `owner` keeps the bytes alive.
  TorchFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  /// Whether a file that starts with these bytes was written by torch.save().
  static bool recognises(std::span<const std::byte> bytes);

 private:
  class Reader;
  void read();
};

}  // namespace attend
