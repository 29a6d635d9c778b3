// What translating needs of a model, whichever it is: its words, a stepper, and where it looked.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/data/batches.h"
#include "attend/decode/generation_config.h"
#include "attend/tasks/translation/source_stepper.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/transformer.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct TranslationModel {
  Tokenizer source, target;
  /// A max_length of 0 is nobody's word: then a translation has twice the tokens of its source, and 20, at most.
  GenerationConfig generation;
  std::int32_t padding = 0;     ///< of sources
  std::int64_t max_source = 0;  ///< tokens; 0: any number
  std::int64_t max_target = 0;  ///< words that it can read of its own, the start included; 0: any number
  std::string kind;             ///< "model_type" in config.json
  struct Attention {
    std::int64_t layers = 0, heads = 0;
  };
  Attention cross = {};                  ///< the decoder at the source; without layers, the model has no attention
  Attention encoder = {}, decoder = {};  ///< each at itself
  /// Reads sources: a row each.
  std::function<std::unique_ptr<SourceStepper>(const TokenBatch& sources)> read;
};

/// From a folder. Throws InputError when it holds no translation model.
TranslationModel load_translation_model(const std::filesystem::path& folder);
/// Of models in memory; they share their parameters.
TranslationModel translation_model(Transformer model, const Tokenizer& source, const Tokenizer& target);
TranslationModel translation_model(RecurrentTranslator model, const Tokenizer& tokenizer);

/// The id of a special token that translators cannot do without. Throws InputError when the tokenizer has none.
std::int32_t needed_token(const char* what, const std::optional<std::int32_t>& id);

/// How a model of ours is to be decoded unless somebody says otherwise: what is saved beside it.
GenerationConfig generation_defaults(const TransformerOptions& options);

}  // namespace attend
