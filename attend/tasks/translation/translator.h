// Translates texts with any encoder–decoder model:
//
//   attend::Translator translator("opus-mt-en-de");
//   std::string german = translator("The house is small.").text;
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
#include "attend/decode/engine.h"
#include "attend/decode/generation_config.h"
#include "attend/decode/generation_options.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/registry.h"
#include "attend/models/transformer.h"
#include "attend/tasks/translation/sentence_mode.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct TranslateOptions {
  GenerationOptions search = {};  ///< if nbest is given without a beam, the beam has at least that size

  /// The languages of a multilingual model (M2M-100, mBART, NLLB), by their codes in Translator::languages(); empty: as
  /// the model's folder says. It is an error to give one to another model.
  std::string source_language = {}, target_language = {};

  std::int64_t max_tokens = 0;           ///< the maximum length of a source; 0: only the model's limit
  LongText long_text = LongText::split;  ///< for longer sources; split: translate their sentences, or parts
  /// Whether to translate each sentence and each line of a text by itself; empty: as the model's folder says. Scores
  /// are added and ids joined. The nbest translations are the combinations of hypotheses with the highest scores.
  std::optional<SentenceMode> sentences = {};
  std::int64_t batch_tokens = 2048;  ///< source tokens in a batch

  bool attention = false;                  ///< fill Translation::attention
  bool only_best_attention = false;        ///< fill it for the best of the nbest translations only
  std::optional<std::int64_t> layer = {};  ///< the decoder layer of Translation::attention; negative: from the end;
                                           ///< empty: the last one, or the one before if there are more than 4
  std::optional<std::int64_t> head = {};   ///< its head; empty: the mean of all heads
  /// Fill Translation::maps with these views, layers and heads. The alignments in a map use `layer` and `head`.
  std::optional<AttentionSelection> maps = {};
};

struct Translation {
  std::string text;
  double score = 0;            ///< log_probability / length ^ length_penalty
  double log_probability = 0;  ///< the sum over its tokens
  std::vector<std::int32_t> ids;
  bool finished = true;                    ///< false: it ended at its maximum length, without the end-of-sentence token
  std::int64_t pieces = 1;                 ///< the number of parts in which the source was translated; 0 if it is blank
  std::int64_t cuts = 0;                   ///< the number of parts that begin inside a sentence, since it was too long
  bool too_long = false;                   ///< the source, or a sentence of it, was split because it was too long
  std::int64_t truncated = 0;              ///< the number of dropped source tokens
  std::int64_t invalid = 0;                ///< the number of invalid UTF-8 sequences in the source
  std::optional<std::uint64_t> seed = {};  ///< the seed that repeats it, if it was sampled
  // Only with TranslateOptions::attention; the parts are concatenated:
  std::vector<std::string> source_tokens, target_tokens;  ///< both with the end-of-sentence token
  std::vector<Span> source_spans;                         ///< byte range of each source token in the source
  std::vector<Span> target_spans;                         ///< byte range of each target token in the translation
  std::vector<std::vector<float>> attention;              ///< [target tokens][source tokens]
  std::vector<AttentionMap> maps;                         ///< of each part; only with TranslateOptions::maps
};

/// Immutable and cheap to copy.
class Translator {
 public:
  /// Throws InputError if the folder holds no translation model.
  explicit Translator(const ModelFolder& folder);
  explicit Translator(const std::filesystem::path& folder) : Translator(ModelFolder(folder)) {}
  /// Uses a model in memory, for example one in training, and shares its parameters.
  Translator(Transformer model, const Tokenizer& source, const Tokenizer& target);
  /// The same with one tokenizer for source and target. The decoder starts from the end-of-sentence token.
  Translator(RecurrentTranslator model, const Tokenizer& tokenizer);

  /// The nbest translations of each text, best first, in the order of the texts. The translation of a blank text is
  /// blank. Throws TextError, before anything is translated, if a text is too long with LongText::error.
  std::vector<std::vector<Translation>> operator()(std::span<const std::string> texts,
                                                   const TranslateOptions& options = {},
                                                   const Progress& progress = {}) const;
  Translation operator()(const std::string& text, const TranslateOptions& options = {}) const;
  /// The attention of a given translation, computed with teacher forcing. The result has only the attention, its tokens
  /// and spans, and the maps. Throws InputError if either text is blank or too long for the model.
  Translation attention_of(const std::string& text, const std::string& translation,
                           const TranslateOptions& options = {}) const;

  /// Throws InputError, as translating would, if the options ask for languages, attention, a layer or a head that the
  /// model does not have, or if they lack a language that it needs.
  void check(const TranslateOptions& options) const;
  /// The maximum number of tokens that the model can generate after a prefix. It is limited by the model's positions; a
  /// larger max_new_tokens has no effect. 0: no limit.
  std::int64_t max_new_tokens(const std::string& prefix = {}) const;

  std::int64_t max_source_tokens() const;  ///< largest number of tokens of a source; 0: no limit
  bool lowercase() const;                  ///< the model writes in lower case, and sees the case of its sources apart
  SentenceMode sentences() const;          ///< the default of TranslateOptions::sentences

  /// The languages of a multilingual model; empty for other models.
  const LanguageTokens& languages() const;
  const Tokenizer& source_tokenizer() const;
  const Tokenizer& target_tokenizer() const;
  const GenerationConfig& generation() const;  ///< the folder's generation_config.json
  /// The same model with other defaults.
  Translator with_generation(GenerationConfig generation) const;

  std::shared_ptr<const GenerativeModel> generator() const;  ///< for an engine

  struct Model;

 private:
  explicit Translator(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  friend class TranslationJob;
  std::shared_ptr<const Model> model_;
};

/// Translates texts with an engine that is shared with other requests, as in the server. The job makes requests for the
/// engine and builds the translations from the results. Translator::operator() runs an engine of its own.
class TranslationJob {
 public:
  /// The texts must outlive the job. Throws as Translator does.
  TranslationJob(const Translator& translator, std::span<const std::string> texts, const TranslateOptions& options);
  ~TranslationJob();
  TranslationJob(TranslationJob&&) noexcept;
  TranslationJob& operator=(TranslationJob&&) noexcept;

  /// One request for each sentence, or for each text (TranslateOptions::sentences); the longest sources come first.
  /// Blank texts have none.
  std::vector<EngineRequest> take_requests();
  /// Stores the result of a request.
  void set(std::size_t request, std::vector<Hypothesis>&& hypotheses);
  bool complete() const;
  /// The nbest translations of each text. Attention, if the options ask for it, needs another pass of the model. Call
  /// it once, when the job is complete.
  std::vector<std::vector<Translation>> finish();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace attend
