// generation_config.json: the generation options that belong to a model. Older folders have the same keys in
// config.json.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/decode/search.h"
#include "attend/formats/config.h"
#include "attend/models/registry.h"

namespace attend {

struct GenerationConfig {
  SearchOptions search;
  std::optional<std::int32_t> padding = {};  ///< pad_token_id
  /// Keys of the file that would change the output, and that are not supported.
  std::vector<std::string> ignored = {};

  /// Reads a folder's options; those that it does not have are taken from `search`. Throws InputError [config], naming
  /// file and key, when a value has the wrong type or is out of range.
  static GenerationConfig read(const std::filesystem::path& folder, const SearchOptions& search = {});
  /// The same for a model that is open, which may also be a GGUF file.
  static GenerationConfig read(const ModelFolder& folder, const SearchOptions& search = {});
  static GenerationConfig read(const Config& config, const SearchOptions& search = {});

  /// The options that differ from the defaults of `transformers`, under its keys.
  Config write() const;
  /// Writes generation_config.json.
  void save(const std::filesystem::path& folder) const;
};

}  // namespace attend
