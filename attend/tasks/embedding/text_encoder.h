// Texts to vectors: a folder of sentence-transformers, BERT, DistilBERT or RoBERTa as one object.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/core/progress.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

/// What is not given is as the folder says; where it says nothing, the mean, not normalised, without a prompt.
struct EmbedOptions {
  std::optional<Pooling> pool = {};
  std::optional<bool> normalize = {};      ///< to length 1, or not
  std::optional<std::string> prompt = {};  ///< is put before each text
  std::int64_t max_tokens = 0;             ///< of a text; 0: no limit but the model's
  LongText long_text =
      LongText::truncate;  ///< split: the mean of the parts, each counting as many times as it has tokens
  std::int64_t batch_tokens = kBertBatchTokens;  ///< that are read at once
};

struct Embeddings {
  Tensor vectors;                       ///< [texts, size]
  std::vector<std::int64_t> tokens;     ///< that were read of each text, special ones too
  std::vector<std::int64_t> truncated;  ///< tokens that were dropped
  std::vector<std::int64_t> pieces;     ///< in which each was read
};

/// What the model makes of one text, token by token.
struct TextStates {
  std::vector<std::string> tokens;       ///< special ones too
  std::vector<Span> spans;               ///< where in the text each stands; empty for what was added
  Tensor states;                         ///< [tokens, width]
  std::vector<Probe::Record> attention;  ///< a layer each, [1, heads, tokens, tokens]; only if asked for
};

/// Immutable and cheap to copy.
class TextEncoder {
 public:
  /// The weights stay in the mapped file. Throws InputError when the folder holds no such model.
  explicit TextEncoder(const std::filesystem::path& folder);
  /// The same where its model (see transformer_in) is open already.
  TextEncoder(const std::filesystem::path& folder, const ModelFolder& model);
  /// A model in memory, as if its folder said nothing of sentences; the parameters are shared.
  TextEncoder(Bert model, const Tokenizer& tokenizer);

  /// A row for each text, in their order; those of like length are read together, without padding. White space at a
  /// text's ends does not count. Throws TextError for a text that is too long, with LongText::error.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options = {},
                   const Progress& progress = {}) const;
  /// One text.   -> [size]
  Tensor operator()(const std::string& text, const EmbedOptions& options = {}) const;

  /// Throws InputError for a text that is too long.
  TextStates read(const std::string& text, bool attention = false) const;

  std::int64_t size(const EmbedOptions& options = {}) const;  ///< of a vector
  std::int64_t max_tokens() const;                            ///< of a text
  /// What the folder wants before texts of a kind ("query", "passage"), or nothing where it does not know the name.
  std::optional<std::string> prompt(const std::string& name) const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
