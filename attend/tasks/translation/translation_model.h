// What translating needs of a model: the network, its tokenizers, and its generation options.
#pragma once
#include <filesystem>
#include <memory>
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
  std::int32_t padding = 0;  ///< of sources
  /// A max_length of 0 means "not set": then a translation has at most twice the tokens of its source, and 20.
  GenerationConfig generation;
  SentenceMode sentences = SentenceMode::split;
};

/// The beam that new translators are saved with (num_beams in generation_config.json).
constexpr std::int64_t kTrainedBeam = 4;

/// From a folder. Throws InputError when it holds no translation model.
TranslationModel load_translation_model(const ModelFolder& folder);
/// Of models in memory; they share their parameters.
TranslationModel translation_model(Transformer model, const Tokenizer& source, const Tokenizer& target);
TranslationModel translation_model(RecurrentTranslator model, const Tokenizer& tokenizer);

/// The id of a special token that translators cannot do without. Throws InputError when the tokenizer has none.
std::int32_t needed_token(const char* what, const std::optional<std::int32_t>& id);

/// The generation options that a new model is saved with.
GenerationConfig generation_defaults(const TransformerOptions& options);

}  // namespace attend
