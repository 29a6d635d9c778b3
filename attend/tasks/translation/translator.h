// A translation model's folder as one object: text in, text out. What the program, a program of yours and the server
// call.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/core/progress.h"
#include "attend/core/text_error.h"
#include "attend/decode/generation_config.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// What is not given is as the model's folder says (GenerationConfig), and where that says nothing a beam of 4.
struct TranslateOptions {
  std::optional<std::int64_t> beam = {};   ///< 1 is greedy
  std::optional<std::int64_t> nbest = {};  ///< translations of each text, otherwise 1 whatever the folder says; a beam
                                           ///< that is not given is at least as wide
  std::optional<double> length_penalty = {};  ///< this and the following: see SearchOptions
  std::optional<EarlyStopping> early_stopping = {};
  std::optional<std::int64_t> max_new_tokens = {};  ///< see also Translator::max_new_tokens
  std::optional<std::int64_t> min_new_tokens = {};
  std::optional<std::int64_t> no_repeat_ngram = {};
  std::optional<double> repetition_penalty = {};
  std::vector<std::string> bad_words = {};  ///< texts that no translation may contain, beside those of the folder
  std::string prefix = {};                  ///< text that every translation begins with
  bool sample = false;                      ///< draw words by chance, nbest times; see SamplingOptions
  std::optional<double> temperature = {};
  std::optional<std::int64_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> min_p = {};
  std::uint64_t seed = 0;  ///< the same seed and text give the same samples, whatever else is translated

  std::int64_t max_tokens = 0;           ///< of a source; 0: no limit but the model's
  LongText long_text = LongText::split;  ///< a longer one; split translates sentence by sentence
  std::int64_t batch_tokens = 2048;      ///< source tokens that are translated at once

  bool attention = false;                  ///< fill Translation::attention
  bool only_best_attention = false;        ///< of the first of nbest alone
  std::optional<std::int64_t> layer = {};  ///< of the decoder, negative: from the end; otherwise -1, of more than 4 -2
  std::optional<std::int64_t> head = {};   ///< otherwise the mean of all
  /// Fill Translation::maps with these; `layer` and `head` then choose what the alignments in them follow.
  std::optional<AttentionSelection> maps = {};
};

struct Translation {
  std::string text;
  double score = 0;
  std::vector<std::int32_t> ids;
  bool finished = true;        ///< false: cut at its length
  std::int64_t pieces = 1;     ///< in which the source was translated; a blank one has none
  std::int64_t cuts = 0;       ///< of them, those that begin inside a sentence, as it was too long
  std::int64_t truncated = 0;  ///< source tokens that were dropped
  std::int64_t invalid = 0;    ///< sequences of the source that were no UTF-8
  // With attention only, the pieces one after the other:
  std::vector<std::string> source_tokens, target_tokens;  ///< both with the end of sentence
  std::vector<Span> source_spans;                         ///< where in its text each source token stands
  std::vector<Span> target_spans;                         ///< where in the translation each target token stands
  std::vector<std::vector<float>> attention;              ///< a row for each target token, over the source tokens
  std::vector<AttentionMap> maps;                         ///< of each piece; with TranslateOptions::maps only
};

/// Immutable and cheap to copy.
class Translator {
 public:
  /// Throws InputError when the folder holds no translation model.
  explicit Translator(const ModelFolder& folder);
  explicit Translator(const std::filesystem::path& folder) : Translator(ModelFolder(folder)) {}
  /// Models in memory, one in training, say: the parameters are shared.
  Translator(Transformer model, const Tokenizer& source, const Tokenizer& target);
  /// Source and target have one tokenizer, whose end of sentence also stands before the first word.
  Translator(RecurrentTranslator model, const Tokenizer& tokenizer);

  /// The nbest translations of each text, best first, in the order of the texts. Texts of like length are translated
  /// together; blank ones stay blank. Throws TextError before anything is translated.
  std::vector<std::vector<Translation>> operator()(std::span<const std::string> texts,
                                                   const TranslateOptions& options = {},
                                                   const Progress& progress = {}) const;
  Translation operator()(const std::string& text, const TranslateOptions& options = {}) const;
  /// Where the model looks while it says a translation that is given; all that is made is its attention and its maps.
  /// Throws InputError where either text is blank, or longer than the model takes.
  Translation look(const std::string& text, const std::string& translation, const TranslateOptions& options = {}) const;

  /// Throws InputError, as translating would, when the options ask for what the model does not have: attention, or a
  /// layer or head of it.
  void check(const TranslateOptions& options) const;
  /// Tokens that the model can say behind a prefix, as many as it has positions; a larger TranslateOptions::
  /// max_new_tokens comes to the same. 0: any number.
  std::int64_t max_new_tokens(const std::string& prefix = {}) const;

  const Tokenizer& source_tokenizer() const;
  const Tokenizer& target_tokenizer() const;
  const GenerationConfig& generation() const;  ///< what the folder says

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
