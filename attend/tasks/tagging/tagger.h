// Labels of tokens, merged to words and to groups of words, as the token-classification pipeline of Hugging Face does
// it: names of people and places, parts of speech.
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

/// What becomes of a word whose tokens have different labels.
enum class TagStrategy : std::uint8_t {
  none,     ///< each token keeps its own, and nothing is merged
  simple,   ///< each token keeps its own; neighbours that belong together are merged
  first,    ///< the word has its first token's
  average,  ///< the word has what its tokens' probabilities give on average
  max,      ///< the word has its surest token's
};
extern const std::vector<std::pair<std::string, TagStrategy>> kTagStrategyNames;

struct TagOptions {
  TagStrategy strategy = TagStrategy::first;
  bool group = true;                         ///< join neighbours: "B-" begins a group, "I-" goes on
  std::vector<std::string> ignored = {"O"};  ///< labels that are not given
  std::int64_t max_tokens = 0;               ///< of a window; 0: no limit but the model's
  LongText long_text = LongText::split;      ///< in windows; of tags that overlap the longer is kept, then the surer
  std::int64_t overlap = 32;                 ///< tokens that neighbouring windows share, at most half a window
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct Tag {
  std::string label;      ///< of a group without its "B-" or "I-"
  Span span;              ///< in the text
  float probability = 0;  ///< of a group, the mean of its words'
};

struct TaggedText {
  std::vector<Tag> tags;
  std::int64_t truncated = 0;  ///< tokens that were dropped
};

/// Immutable and cheap to copy.
class Tagger {
 public:
  /// Throws InputError when the folder holds no model for labels of tokens.
  explicit Tagger(const ModelFolder& folder);
  explicit Tagger(const std::filesystem::path& folder) : Tagger(ModelFolder(folder)) {}
  /// A model in memory; the parameters are shared.
  Tagger(Bert model, const Tokenizer& tokenizer);

  /// In the order of the texts. Throws TextError for a text that is too long, with LongText::error.
  std::vector<TaggedText> operator()(std::span<const std::string> texts, const TagOptions& options = {},
                                     const Progress& progress = {}) const;

  const std::vector<std::string>& labels() const { return reader_->model.options.labels; }

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
