// The configuration files of a tokenizer: tokenizer_config.json, special_tokens_map.json, added_tokens.json, and
// "model_type" of config.json. Only the settings that Attend needs are read.
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

/// The roles of special tokens with their keys in the files, in the order in which transformers adds the tokens.
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
  /// "Bert", "GPT2", …: the class in transformers without "Tokenizer" and "Fast", or the class for "model_type" of
  /// config.json. Empty: not known.
  std::string family;
  std::optional<bool> do_lower_case, strip_accents, keep_accents, tokenize_chinese_chars, add_prefix_space;
  std::optional<bool> add_bos_token, add_eos_token;
  std::int64_t extra_ids = 100;                  ///< of T5
  std::int64_t offset = 103;                     ///< of PEGASUS: what the ids of the SentencePiece model are shifted by
  std::string source_language, target_language;  ///< "src_lang" and "tgt_lang"
  std::string language_codes = "m2m100";         ///< of M2M-100
  bool legacy_behaviour = false;                 ///< of NLLB: the language of a source is its last token
  bool legacy = false;                           ///< of Llama: a space is also put behind special tokens
  bool separate_vocabs = false;                  ///< of Marian
  std::int64_t max_tokens = 0;                   ///< 0: not set

  std::array<std::optional<AddedToken>, kSpecialRoles.size()> roles;  ///< without ids
  std::vector<AddedToken> extra_special;                              ///< special tokens without role and id
  std::vector<AddedToken> added;                                      ///< with ids
};

/// A missing file is ignored. Throws InputError if a file is invalid.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

/// tokenizer_config.json and special_tokens_map.json for a tokenizer. `tokenizer_class` is the class in transformers.
std::string write_tokenizer_config(const Tokenizer::Parts& parts, std::string_view tokenizer_class);
std::string write_special_tokens_map(const Tokenizer::Parts& parts);

}  // namespace attend
