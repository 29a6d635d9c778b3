// The files beside a tokenizer's own: tokenizer_config.json, special_tokens_map.json, added_tokens.json, and the
// model_type of config.json. Of what they say, this is what matters to us.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer_parts.h"

namespace attend {

/// The roles of special tokens, as the files name them, in the order in which transformers adds them.
struct SpecialRole {
  std::string_view key;
  std::optional<std::int32_t> SpecialTokens::*id;
};
constexpr std::array<SpecialRole, 7> kSpecialRoles = {{
    {"bos_token", &SpecialTokens::bos},
    {"eos_token", &SpecialTokens::eos},
    {"unk_token", &SpecialTokens::unknown},
    {"sep_token", &SpecialTokens::separator},
    {"pad_token", &SpecialTokens::padding},
    {"cls_token", &SpecialTokens::classify},
    {"mask_token", &SpecialTokens::mask},
}};

struct TokenizerConfig {
  /// "Bert", "GPT2", …: transformers' class without "Tokenizer" and "Fast", or the one that config.json's model_type
  /// stands for. Empty: nobody says.
  std::string family;
  std::optional<bool> do_lower_case, strip_accents, tokenize_chinese_chars, add_prefix_space;
  std::optional<bool> add_bos_token, add_eos_token;
  std::int64_t extra_ids = 100;  ///< T5's
  bool separate_vocabs = false;  ///< Marian's
  std::int64_t max_tokens = 0;   ///< 0: not said

  std::array<std::optional<AddedToken>, kSpecialRoles.size()> roles;  ///< ids are not said here
  std::vector<AddedToken> extra_special;                              ///< special tokens without a role, without ids
  std::vector<AddedToken> added;                                      ///< with ids
};

/// Files that are not there say nothing. Throws InputError where one is garbled.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

/// tokenizer_config.json and special_tokens_map.json for a tokenizer. `tokenizer_class` is transformers' name.
std::string write_tokenizer_config(const Tokenizer::Parts& parts, std::string_view tokenizer_class);
std::string write_special_tokens_map(const Tokenizer::Parts& parts);

}  // namespace attend
