// How a model's makers want it decoded: generation_config.json, or the same keys in the config.json of older folders.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/decode/search.h"
#include "attend/formats/config.h"

namespace attend {

struct GenerationConfig {
  SearchOptions search;
  std::optional<std::int32_t> padding = {};  ///< pad_token_id
  /// Keys of the file that would change what comes out, and that nothing here follows.
  std::vector<std::string> ignored = {};

  /// What a folder says; what it does not say is as in `search`. Throws InputError [config], naming file and key, when
  /// one is of another kind than it should be.
  static GenerationConfig read(const std::filesystem::path& folder, const SearchOptions& search = {});
  static GenerationConfig read(const Config& config, const SearchOptions& search = {});

  /// In the keys of `transformers`, those that differ from its own defaults.
  Config write() const;
  /// Writes generation_config.json.
  void save(const std::filesystem::path& folder) const;
};

}  // namespace attend
