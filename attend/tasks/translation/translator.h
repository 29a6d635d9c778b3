// A translation model: text in, text out. The program and the server use this class; so can your programs.
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
  GenerationOptions search = {};  ///< without a beam, nbest makes the beam at least as wide

  std::int64_t max_tokens = 0;           ///< largest number of source tokens; 0: the model's limit
  LongText long_text = LongText::split;  ///< of longer ones; split translates their sentences, or parts of them
  /// Whether to translate each sentence and each line of a text by itself; not set: as the model's folder says. Scores
  /// are added, ids joined. The nbest translations are the combinations of hypotheses with the highest scores.
  std::optional<SentenceMode> sentences = {};
  std::int64_t batch_tokens = 2048;  ///< source tokens to translate at once

  bool attention = false;                  ///< fill Translation::attention
  bool only_best_attention = false;        ///< only for the first of nbest
  std::optional<std::int64_t> layer = {};  ///< of the decoder, negative: from the end; otherwise -1, of more than 4 -2
  std::optional<std::int64_t> head = {};   ///< not set: the mean of all
  /// Fill Translation::maps with these; `layer` and `head` then choose what the alignments in them follow.
  std::optional<AttentionSelection> maps = {};
};

struct Translation {
  std::string text;
  double score = 0;
  std::vector<std::int32_t> ids;
  bool finished = true;                    ///< false: cut at the maximum length
  std::int64_t pieces = 1;                 ///< parts of the source that were translated by themselves; 0: it is blank
  std::int64_t cuts = 0;                   ///< of them, those that begin inside a sentence, as it was too long
  bool too_long = false;                   ///< the source, or a sentence of it, was split because it was too long
  std::int64_t truncated = 0;              ///< source tokens that were dropped
  std::int64_t invalid = 0;                ///< invalid UTF-8 sequences of the source
  std::optional<std::uint64_t> seed = {};  ///< that repeats it, if it was sampled
  // With attention only, of all pieces in order:
  std::vector<std::string> source_tokens, target_tokens;  ///< both with the end of sentence
  std::vector<Span> source_spans;                         ///< the bytes of the source that each source token covers
  std::vector<Span> target_spans;             ///< the bytes of the translation that each target token covers
  std::vector<std::vector<float>> attention;  ///< a row for each target token, over the source tokens
  std::vector<AttentionMap> maps;             ///< of each piece; with TranslateOptions::maps only
};

/// Immutable and cheap to copy.
class Translator {
 public:
  /// Throws InputError when the folder holds no translation model.
  explicit Translator(const ModelFolder& folder);
  explicit Translator(const std::filesystem::path& folder) : Translator(ModelFolder(folder)) {}
  /// A model in memory, such as one in training. The parameters are shared.
  Translator(Transformer model, const Tokenizer& source, const Tokenizer& target);
  /// Source and target have one tokenizer, whose end-of-sentence token is also the start token.
  Translator(RecurrentTranslator model, const Tokenizer& tokenizer);

  /// The nbest translations of each text, best first, in the order of the texts. Texts of like length are translated
  /// together; blank ones stay blank. Throws TextError before anything is translated.
  std::vector<std::vector<Translation>> operator()(std::span<const std::string> texts,
                                                   const TranslateOptions& options = {},
                                                   const Progress& progress = {}) const;
  Translation operator()(const std::string& text, const TranslateOptions& options = {}) const;
  /// The attention of the model for a given translation: fills `attention` and `maps` only. The text is read as a
  /// whole. Throws InputError where either text is blank, or longer than the model takes.
  Translation look(const std::string& text, const std::string& translation, const TranslateOptions& options = {}) const;

  /// Throws InputError, as translating would, when the options ask for what the model does not have: attention, or a
  /// layer or head of it.
  void check(const TranslateOptions& options) const;
  /// The largest number of tokens that the model can generate after a prefix, which its positions limit; a larger
  /// max_new_tokens has no effect. 0: no limit.
  std::int64_t max_new_tokens(const std::string& prefix = {}) const;

  std::int64_t max_source_tokens() const;  ///< largest number of tokens of a source; 0: no limit
  SentenceMode sentences() const;          ///< the default of TranslateOptions::sentences

  const Tokenizer& source_tokenizer() const;
  const Tokenizer& target_tokenizer() const;
  const GenerationConfig& generation() const;  ///< the folder's generation options

  std::shared_ptr<const GenerativeModel> generator() const;  ///< for an engine

  struct Model;

 private:
  friend class TranslationJob;
  std::shared_ptr<const Model> model_;
};

/// Splits texts into requests for an engine, and makes translations of the results. The server uses it to share one
/// engine among its clients; Translator::operator() runs an engine of its own.
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
  /// The result of the i-th request.
  void set(std::size_t request, std::vector<Hypothesis>&& hypotheses);
  bool complete() const;
  /// The nbest translations of each text, with their attention if the options ask for it, which takes another pass of
  /// the model. Call it once, when the job is complete.
  std::vector<std::vector<Translation>> finish();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace attend
