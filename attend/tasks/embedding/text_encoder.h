// Embeds texts as vectors with a model of sentence-transformers or an encoder of BERT's family:
//
//   attend::TextEncoder encoder("all-MiniLM-L6-v2");
//   attend::Tensor vector = encoder("How do I reset my password?");  // [384]
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

/// An empty option takes the folder's value. A folder without values means: mean pooling, no normalisation, no prompt.
struct EmbedOptions {
  std::optional<Pooling> pool = {};
  std::optional<bool> normalize = {};            ///< scale the vectors to length 1
  std::optional<std::string> prompt = {};        ///< put before each text
  std::int64_t max_tokens = 0;                   ///< the maximum length of a text; 0: only the model's limit
  LongText long_text = LongText::truncate;       ///< split: the mean of all parts, weighted by their number of tokens
  std::int64_t batch_tokens = kBertBatchTokens;  ///< tokens in a batch
};

struct Embeddings {
  Tensor vectors;                       ///< [texts, size]
  std::vector<std::int64_t> tokens;     ///< of each text that were encoded, including special tokens
  std::vector<std::int64_t> truncated;  ///< of each text, the number of dropped tokens
  std::vector<std::int64_t> pieces;     ///< of each text, the number of parts in which it was encoded
};

/// The states of all tokens of one text.
struct TextStates {
  std::vector<std::string> tokens;       ///< including special tokens
  std::vector<Span> spans;               ///< byte range of each token in the text; empty for special tokens
  Tensor states;                         ///< [tokens, width]
  std::vector<Probe::Record> attention;  ///< of each layer, [1, heads, tokens, tokens]; only if requested
};

/// Immutable and cheap to copy.
class TextEncoder {
 public:
  /// Loads a model; its weights stay in the mapped file. Throws InputError if the folder holds no encoder.
  explicit TextEncoder(const std::filesystem::path& folder);
  /// The same if the folder of its model (see transformer_in()) is already open.
  TextEncoder(const std::filesystem::path& folder, const ModelFolder& model);

  /// Embeds texts, one row for each, in order. White space at the ends of a text is ignored. Throws TextError if a text
  /// is too long, with LongText::error.
  Embeddings embed(std::span<const std::string> texts, const EmbedOptions& options = {},
                   const Progress& progress = {}) const;
  /// Embeds one text.   -> [size]
  Tensor operator()(const std::string& text, const EmbedOptions& options = {}) const;

  /// The states of one text, and its attention weights if requested. Throws InputError if the text is too long.
  TextStates read(const std::string& text, bool attention = false) const;

  std::int64_t size(const EmbedOptions& options = {}) const;  ///< the size of a vector
  std::int64_t max_tokens() const;                            ///< the maximum length of a text
  /// The folder's prompt with this name ("query", "passage"); empty if there is none.
  std::optional<std::string> prompt(const std::string& name) const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
