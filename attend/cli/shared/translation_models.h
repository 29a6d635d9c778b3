// The architectures that a translator in training can have: their flags, and what training needs of each.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "attend/tasks/translation/translator.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/transformer.h"
#include "attend/tasks/translation/training.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attend::cli {

enum class Architecture : std::uint8_t { rnn, marian };

struct ArchitectureFlags {
  Architecture arch = Architecture::marian;
  // What both have, with defaults of their own:
  std::optional<std::int64_t> encoder_layers, decoder_layers;
  std::optional<float> dropout;
  RecurrentTranslatorOptions recurrent;
  TransformerOptions transformer;
  std::int64_t heads = 4, inner = 1024;  // of the Transformer, on both sides
};
void add_architecture_flags(CLI::App& verb, ArchitectureFlags& flags);
/// Throws when one was given that is for another architecture.
void check_architecture_flags(const CLI::App& verb, const ArchitectureFlags& flags);
/// Only what a model that exists already can change: its dropout.
void add_dropout_flag(CLI::App& verb, ArchitectureFlags& flags);

/// The two sides of a translator's text. They are one, unless each language has its own subwords.
struct Tokenizers {
  Tokenizer source, target;
};

/// A translator, whatever its architecture.
struct TranslatorInTraining {
  std::string options;                     ///< all of its configuration, as JSON
  std::int64_t size = 0;                   ///< parameters
  std::int32_t start = 0;                  ///< the word before the first
  std::int64_t max_length = 0;             ///< tokens of a text at most; 0: any number
  TranslationTask task;                    ///< without a judge
  std::function<Translator()> translator;  ///< shares the parameters
};
/// A new one. Positions for texts of `max_length` tokens at least.
TranslatorInTraining make_translator(const ArchitectureFlags& flags, const Tokenizers& tokenizers,
                                     std::int64_t max_length, std::uint64_t seed);

/// A model's folder to go on from, and the tokenizers that are its own.
struct Origin {
  explicit Origin(std::filesystem::path folder);
  std::filesystem::path folder;
  Config config;
  Architecture arch;  ///< throws InputError when it holds no translator
  Tokenizers tokenizers;
};
/// The folder's model, with the flags' dropout if they say one. With `new_vocabulary` the tokenizers are not the
/// folder's: what the model knows of pieces that both have is carried over, and how many they are is said.
TranslatorInTraining continue_translator(const Origin& origin, const ArchitectureFlags& flags,
                                         const Tokenizers& tokenizers, bool new_vocabulary, std::uint64_t seed);

}  // namespace attend::cli
