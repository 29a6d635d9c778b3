// The parts of a translation model: the network, its tokenizers, and its default generation options.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "attend/decode/generation_config.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/tasks/translation/sentence_mode.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct TranslationModel {
  std::shared_ptr<const Seq2SeqModel> network;
  std::string kind;  ///< "model_type" in config.json
  Tokenizer source, target;
  Seq2SeqSpec spec;
  std::int32_t padding = 0;  ///< the padding id of sources
  /// A max_length of 0 means "not set": then a translation has at most 2 · (tokens of its source) + 20 tokens.
  GenerationConfig generation;
  SentenceMode sentences = SentenceMode::split;
  std::optional<std::int32_t> source_language = {};  ///< the token that marks a source; empty: as the tokenizer does
  std::optional<std::int32_t> target_language = {};  ///< the first token of a translation
};

/// The beam that new translators are saved with (num_beams in generation_config.json).
constexpr std::int64_t kTrainedBeam = 4;

/// Loads the model of a folder. Throws InputError if it holds no translation model.
TranslationModel load_translation_model(const ModelFolder& folder);
/// Uses a model in memory and shares its parameters.
TranslationModel translation_model(Transformer model, const Tokenizer& source, const Tokenizer& target);
TranslationModel translation_model(RecurrentTranslator model, const Tokenizer& tokenizer);

/// The model with the tokens of these languages; empty: the defaults of its folder. Throws InputError if a language is
/// not known or missing, or if a language is given to a model that has none.
TranslationModel in_languages(TranslationModel model, const std::string& source, const std::string& target);

/// Returns the id of a special token that translation needs. Throws InputError if the tokenizer does not have it.
std::int32_t needed_token(const char* what, const std::optional<std::int32_t>& id);

/// The contents of generation_config.json that is saved with a model that Attend has trained.
GenerationConfig generation_defaults(const TransformerOptions& options);

}  // namespace attend
