// Translators as training needs them, whatever their architecture: new ones, and those of a folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/models/recurrent_translator.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/tasks/translation/translator.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

enum class TranslatorArchitecture : std::uint8_t {
  transformer,  ///< saved as a folder that Hugging Face's MarianMT reads, unless it has what Marian lacks
  recurrent,    ///< a recurrent encoder and decoder, with attention
};

/// The architecture of a new translator. Vocabularies, special tokens and positions are set by make_translator().
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

/// One tokenizer for each side. They are the same, unless each language has its own subwords.
struct TranslationTokenizers {
  Tokenizer source, target;
  /// A tokenizer, and the same for the target side.
  static TranslationTokenizers of(const Tokenizer& tokenizer);
};

struct TrainableTranslator {
  std::string config;                   ///< all options, as JSON
  std::int64_t size = 0;                ///< number of parameters
  std::int32_t start = 0;               ///< the decoder's first input
  std::int64_t max_length = 0;          ///< the longest text in tokens; 0: no limit
  bool whole_texts = false;             ///< the family reads whole texts, whatever it is trained on (Seq2SeqSpec)
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// Teacher forcing.   sources, inputs int32 [B, T] with their lengths -> logits [B, T, V]
  std::function<Tensor(const TokenBatch& sources, const TokenBatch& inputs)> logits;
  SaveModel save;
  std::function<Translator()> translator;  ///< for translating; shares the parameters
};

/// A new model, with positions for at least `max_length` tokens.
TrainableTranslator make_translator(const TranslatorOptions& options, const TranslationTokenizers& tokenizers,
                                    std::int64_t max_length, std::uint64_t seed);

/// A model's folder to start from, and its own tokenizers.
struct TranslatorFolder {
  /// Throws InputError when the folder holds no translator.
  explicit TranslatorFolder(const std::filesystem::path& folder);
  ModelFolder folder;
  TranslatorArchitecture architecture;
  TranslationTokenizers tokenizers;
};
/// The folder's model, with another dropout if one is given. With `new_vocabulary` the tokenizers are not the folder's:
/// the parameters of tokens that both vocabularies have are carried over, and the observer is told how many they are.
TrainableTranslator continue_translator(const TranslatorFolder& from, const TranslationTokenizers& tokenizers,
                                        bool new_vocabulary, const std::optional<float>& dropout, std::uint64_t seed,
                                        const TrainingObserver& observer = {});

}  // namespace attend
