// A model's folder in memory, to be changed and loaded again.
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

struct LooseFolder {
  Config config;
  std::map<std::string, Tensor> tensors;

  explicit LooseFolder(const std::filesystem::path& folder) : config(folder / "config.json") {
    const Weights weights(folder);
    for (const std::string& name : weights.names()) tensors[name] = weights.get(name);
  }
  /// Writes a folder and gives what `load` makes of it.
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
