// Creates or loads translators of any architecture for training.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/tasks/translation/translator.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

enum class TranslatorArchitecture : std::uint8_t {
  transformer,  ///< saved as a MarianMT folder, unless it has options that MarianMT does not have
  recurrent,    ///< a recurrent encoder and decoder with attention
};

/// The options of a new translator. make_translator() sets vocabularies, special tokens and positions.
struct TranslatorOptions {
  TranslatorArchitecture architecture = TranslatorArchitecture::transformer;
  TransformerOptions transformer = {.width = 256,
                                    .encoder_layers = 3,
                                    .decoder_layers = 3,
                                    .encoder_heads = 4,
                                    .decoder_heads = 4,
                                    .encoder_inner = 1024,
                                    .decoder_inner = 1024,
                                    .activation = Activation::relu};
  RecurrentTranslatorOptions recurrent = {.tied_output = true};
};

/// The tokenizers of source and target. They are the same unless each language has its own subwords.
struct TranslationTokenizers {
  Tokenizer source, target;
  /// The same tokenizer for source and target.
  static TranslationTokenizers of(const Tokenizer& tokenizer);
  /// The tokens that a decoder learns to predict for a target. With languages, they begin with the target language,
  /// unless the decoder starts with it.
  std::vector<std::int32_t> labels(const std::string& text) const;
};

struct TrainableTranslator {
  std::string config;                   ///< the contents of config.json
  std::string size;                     ///< "1,000 parameters": see parameters_to_train()
  std::int32_t start = 0;               ///< the decoder's first token
  std::int64_t max_length = 0;          ///< the maximum length of a text in tokens; 0: no limit
  std::int64_t case_step = 0;           ///< how letter case is added to the ids of sources (Seq2SeqSpec)
  bool whole_texts = false;             ///< the family reads whole texts, whatever it is trained on (Seq2SeqSpec)
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// Teacher forcing.   sources int32 [B, S] and inputs int32 [B, T], with their lengths -> logits [B, T, V]
  std::function<Predictions(const TokenBatch& sources, const TokenBatch& inputs)> predict;
  std::shared_ptr<GenerationConfig> generation;  ///< saved with the model; may be changed until then
  std::shared_ptr<Model> network;                ///< for the estimate of memory
  SaveModel save;
  std::function<Translator()> translator;  ///< makes a Translator that shares the parameters
};

/// Makes a new model with positions for at least `max_length` tokens.
TrainableTranslator make_translator(const TranslatorOptions& options, const TranslationTokenizers& tokenizers,
                                    std::int64_t max_length, std::uint64_t seed);

/// The folder of a translator to fine-tune, and its tokenizers.
struct TranslatorFolder {
  /// Throws InputError if the folder holds no translator.
  explicit TranslatorFolder(const std::filesystem::path& folder);
  ModelFolder folder;
  TranslatorArchitecture architecture;
  TranslationTokenizers tokenizers;
};
struct ContinuedTranslator {
  bool new_vocabulary = false;        ///< the tokenizers are not the folder's: rows of tokens that both vocabularies
                                      ///< have are copied (see carry_over.h); the observer is told their number
  std::optional<float> dropout = {};  ///< replaces the model's dropout
  LoraOptions lora = {};              ///< train adapters only; not with a new vocabulary
  std::uint64_t seed = 1;
};
/// Loads the folder's model for fine-tuning.
TrainableTranslator continue_translator(const TranslatorFolder& from, const TranslationTokenizers& tokenizers,
                                        const ContinuedTranslator& options, const TrainingObserver& observer = {});

}  // namespace attend
