// The configuration and weights of a model's folder in memory, for tests that change them and load the result.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attend/formats/config.h"
#include "attend/formats/safetensors.h"
#include "attend/formats/weights.h"
#include "tests/support/temp_folder.h"

namespace attend::test {

struct EditableFolder {
  Config config;
  std::map<std::string, Tensor> tensors;

  explicit EditableFolder(const std::filesystem::path& folder) : config(folder / "config.json") {
    const Weights weights(folder);
    for (const std::string& name : weights.names()) tensors[name] = weights.get(name);
  }
  /// Writes the folder to disk and returns load(path).
  auto loaded(const auto& load) const {
    const TempFolder folder;
    config.save(folder / "config.json");
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor});
    save_safetensors(folder / "model.safetensors", all);
    return load(folder.path());
  }
};

}  // namespace attend::test
