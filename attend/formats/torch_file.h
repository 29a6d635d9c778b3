// What torch.save() writes of a model's parameters (pytorch_model.bin): a zip archive of a pickle and one entry for
// each storage, or, before PyTorch 1.6, the same one after the other. Reading trusts nothing in the file and runs
// nothing.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "attend/formats/tensor_file.h"

namespace attend {

/// An open file: a dictionary of tensors. Tensors that were one in PyTorch (tied weights) are one here; a view that is
/// not row-major is copied. Opening reads the pickle only, and throws InputError [load] for anything but a complete and
/// consistent file, and for a pickle that names what tensors do not need.
class TorchFile : public TensorFile {
 public:
  explicit TorchFile(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  TorchFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  /// Whether a file that begins with these bytes is of this kind.
  static bool recognises(std::span<const std::byte> bytes);

 private:
  class Reader;
  void read();
};

}  // namespace attend
