// A translation model: text in, text out. The program, the server and programs of yours use this class.
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
#include "attend/text/tokenizer.h"

namespace attend {

struct TranslateOptions {
  GenerationOptions search = {};  ///< nbest without a beam makes the beam at least as wide

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
  /// The largest number of tokens that the model can generate after a prefix, which its positions limit; a larger
  /// max_new_tokens has no effect. 0: no limit.
  std::int64_t max_new_tokens(const std::string& prefix = {}) const;

  const Tokenizer& source_tokenizer() const;
  const Tokenizer& target_tokenizer() const;
  const GenerationConfig& generation() const;  ///< what the folder says

  std::shared_ptr<const GenerativeModel> generator() const;  ///< for an engine

  struct Model;

 private:
  friend class TranslationJob;
  std::shared_ptr<const Model> model_;
};

/// Texts as requests for an engine that others share, as the server's clients do, and their translations when all
/// requests are answered. Translator::operator() runs an engine of its own.
class TranslationJob {
 public:
  /// The texts must outlive the job. Throws as Translator does.
  TranslationJob(const Translator& translator, std::span<const std::string> texts, const TranslateOptions& options);
  ~TranslationJob();
  TranslationJob(TranslationJob&&) noexcept;
  TranslationJob& operator=(TranslationJob&&) noexcept;

  /// One request for each text, or for each part of a text that is too long; the longest sources come first. Blank
  /// texts have none.
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
