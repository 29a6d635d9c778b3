// Summarizes documents with any encoder–decoder model (BART, T5, …):
//
//   attend::Summarizer summarizer("bart-large-cnn");
//   std::string summary = summarizer(article).text;
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/decode/generation_options.h"
#include "attend/tasks/translation/translator.h"

namespace attend {

/// The defaults of a model for summaries, in "task_specific_params" of its config.json. Other programs ignore the keys
/// that only Attend has.
struct SummaryParameters {
  std::string prefix = {};             ///< before each document, such as "summarize: " of T5; or of config.json itself
  std::int64_t max_source_tokens = 0;  ///< the most that it was trained to read; 0: the model's limit. Attend's own
  std::int64_t max_new_tokens = 0;     ///< "max_length", without the start token; 0: not set
  std::optional<LongText> long_text = {};  ///< what to do with longer documents. Attend's own
  std::int64_t candidates = 1;             ///< see SummarizeOptions. Attend's own

  static SummaryParameters read(const Config& config);
  /// Replaces the parameters in the config.json of a folder.
  void record(const std::filesystem::path& folder) const;
};

struct SummarizeOptions {
  /// Options that are not given come from "task_specific_params" of config.json, then from generation_config.json. The
  /// longest summary has 128 tokens if nothing else is said.
  GenerationOptions search = {};
  /// The text before each document; not given: "prefix" of "task_specific_params" or of config.json, such as
  /// "summarize: " of T5.
  std::optional<std::string> source_prefix = {};
  std::int64_t max_source_tokens = 0;  ///< the most that the model reads at once; 0: as the folder says, or its limit
  /// For longer documents. split: parts are summarized, and then their summaries, until one is left. Empty: as the
  /// folder says, otherwise split. Models that Attend has trained read the beginning, as in training.
  std::optional<LongText> long_text = {};
  /// Sample N summaries (or take those of a beam, if `search` has one), and choose the one that agrees most with
  /// the others (see consensus.h). 1: the best one of the beam. Not given: as the folder says, otherwise 1.
  std::optional<std::int64_t> candidates = {};
  std::int64_t batch_tokens = 4096;             ///< source tokens in a batch
  bool sources = false;                         ///< fill Summary::sentences
  std::optional<AttentionSelection> maps = {};  ///< fill Summary::maps with these views, layers and heads
};

/// How much a summary attended to a sentence of its document.
struct SourceSentence {
  Span span;  ///< byte range in the document
  float weight = 0;
};

struct Summary {
  std::string text;
  double score = 0;  ///< of the last pass, if the document was summarized in parts
  std::vector<std::int32_t> ids;
  bool finished = true;                    ///< false: it ended at its maximum length
  std::int64_t parts = 1;                  ///< the number of parts in which the document was read; 0 if it is blank
  std::int64_t truncated = 0;              ///< the number of dropped source tokens
  std::int64_t invalid = 0;                ///< the number of invalid UTF-8 sequences in the document
  std::optional<std::uint64_t> seed = {};  ///< the seed that repeats it, if it was sampled
  /// The sentences of the document with the share of the cross-attention of each; the weights add up to 1. For a
  /// document in parts, the weights of the passes are multiplied. Only with SummarizeOptions::sources.
  std::vector<SourceSentence> sentences;
  std::vector<AttentionMap> maps;  ///< of the last pass
};

/// Immutable and cheap to copy.
class Summarizer {
 public:
  /// Throws InputError if the folder holds no encoder–decoder model.
  explicit Summarizer(const ModelFolder& folder);
  explicit Summarizer(const std::filesystem::path& folder) : Summarizer(ModelFolder(folder)) {}

  /// The best summary of each document. The summary of a blank document is blank. Throws TextError, before anything is
  /// generated, if a document is too long with LongText::error.
  std::vector<Summary> operator()(std::span<const std::string> documents, const SummarizeOptions& options = {},
                                  const Progress& progress = {}) const;
  Summary operator()(const std::string& document, const SummarizeOptions& options = {}) const;

  /// Throws InputError if the options ask for something that the model does not have.
  void check(const SummarizeOptions& options) const;
  const GenerationConfig& generation() const { return translator_.generation(); }

  // With these options:
  std::string prefix_of(const SummarizeOptions& options) const;       ///< the text before each document
  std::int64_t limit_of(const SummarizeOptions& options) const;       ///< source tokens read at once; 0: no limit
  std::int64_t max_tokens_of(const SummarizeOptions& options) const;  ///< the longest summary
  LongText long_text_of(const SummarizeOptions& options) const;

 private:
  friend class SummaryJob;
  GenerationOptions search_of(const SummarizeOptions& options) const;

  Translator translator_;
  SummaryParameters defaults_;
};

/// Summarizes documents with a translator that the caller runs, as the server does, whose engine has other requests,
/// too. In each round, the caller translates the sources and gives the job the results. Summarizer::operator() does
/// so with a translator of its own.
class SummaryJob {
 public:
  /// The documents must outlive the job. Throws as Summarizer does.
  SummaryJob(const Summarizer& summarizer, std::span<const std::string> documents, const SummarizeOptions& options);
  ~SummaryJob();
  SummaryJob(SummaryJob&&) noexcept;
  SummaryJob& operator=(SummaryJob&&) noexcept;

  /// The sources of the next round: parts of documents, or of summaries of parts. Empty when all is done.
  std::vector<std::string> next_sources();
  /// How to translate them.
  const TranslateOptions& options() const;
  /// The translations of the sources.
  void set(std::span<const std::vector<Translation>> found);
  /// The summary of each document, when all is done.
  std::vector<Summary> finish();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace attend
