// Token classification (named entities, parts of speech): the labels of tokens are merged to words and to groups of
// words, as in Hugging Face's token-classification pipeline.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/models/registry.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

/// The label of a word with several tokens.
enum class TagStrategy : std::uint8_t {
  none,     ///< each token keeps its label, and nothing is merged
  simple,   ///< each token keeps its label; neighbouring tokens are merged to groups
  first,    ///< the label of the first token
  average,  ///< the label with the highest mean probability over the tokens
  max,      ///< the label of the token with the highest probability
};
extern const std::vector<std::pair<std::string, TagStrategy>> kTagStrategyNames;

struct TagOptions {
  TagStrategy strategy = TagStrategy::first;
  bool group = true;                         ///< merge neighbours: "B-" begins a group, "I-" continues it
  std::vector<std::string> ignored = {"O"};  ///< labels that are left out of the result
  std::int64_t max_tokens = 0;               ///< of a window; 0: only the model's limit
  LongText long_text = LongText::split;      ///< split: into windows; of overlapping tags the longer, then the more
                                             ///< probable is kept
  std::int64_t overlap = 32;                 ///< tokens that two windows in a row share, at most half a window
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct Tag {
  std::string label;      ///< for a group, without "B-" or "I-"
  Span span;              ///< byte range in the text
  float probability = 0;  ///< for a group, the mean over its words
};

struct TaggedText {
  std::vector<Tag> tags;
  std::int64_t truncated = 0;  ///< the number of dropped tokens
};

/// Immutable and cheap to copy.
class Tagger {
 public:
  /// Throws InputError if the folder holds no model for token classification.
  explicit Tagger(const ModelFolder& folder);
  explicit Tagger(const std::filesystem::path& folder) : Tagger(ModelFolder(folder)) {}

  /// Tags texts, in order. Throws TextError if a text is too long, with LongText::error.
  std::vector<TaggedText> operator()(std::span<const std::string> texts, const TagOptions& options = {},
                                     const Progress& progress = {}) const;

  const std::vector<std::string>& labels() const { return reader_->model.options.labels; }

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
