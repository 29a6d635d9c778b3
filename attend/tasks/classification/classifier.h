// Classifies texts, pairs of texts or documents with a network that Attend has trained, a model of BERT's family, or
// GPT-2:
//
//   attend::Classifier classifier("reviews");
//   std::vector<std::string> texts = {"A lovely film."};
//   std::string label = classifier.labels()[classifier(texts).front().label];
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/core/progress.h"
#include "attend/core/text_error.h"
#include "attend/models/bert.h"
#include "attend/models/causal_lm.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct ClassifyOptions {
  std::int64_t max_tokens = 0;              ///< the maximum length of a text; 0: only the model's limit
  LongText long_text = LongText::truncate;  ///< truncate or error
  std::int64_t batch_tokens = 0;            ///< tokens in a batch; 0: a default that depends on the model
  bool pairs = false;                       ///< each text is a pair of texts, separated by a tab
  bool attention = false;                   ///< fill Classification::tokens, spans and attention
};

/// A sentence of a document, and how much it counts.
struct SentenceWeight {
  Span span;  ///< byte range in the text
  float weight = 0;
};

struct Classification {
  std::size_t label = 0;               ///< the index of the most probable label in labels()
  std::vector<float> probabilities;    ///< of all labels; they sum to 1 unless the model is multi-label
  std::vector<std::size_t> predicted;  ///< the most probable label; for a multi-label model all labels above 0.5
  std::int64_t truncated = 0;          ///< the number of dropped tokens
  std::vector<std::string> tokens = {};
  std::vector<Span> spans = {};  ///< byte range of each token in the text; empty for special tokens
  /// An attention weight for each token. BERT: the weights of the first token in the last layer, the mean over its
  /// heads. GPT-2: the same of the last token. Recurrent classifiers: the weights of attention pooling; empty with
  /// other poolings. Hierarchical classifiers: the weight of the sentence times that of the word in it. Networks for
  /// pairs: the mean weight that the tokens of the other text give it.
  std::vector<float> attention = {};
  std::vector<SentenceWeight> sentences = {};  ///< hierarchical classifiers only
  /// Networks for pairs only: the token of the other text to which each token attends most, and how much.
  std::vector<std::size_t> aligned = {};
  std::vector<float> aligned_weights = {};
};

/// Immutable and cheap to copy.
class Classifier {
 public:
  /// Throws InputError if the folder holds no classifier.
  explicit Classifier(const ModelFolder& folder);
  explicit Classifier(const std::filesystem::path& folder) : Classifier(ModelFolder(folder)) {}

  /// Classifies texts, in order. A text without tokens is classified as one unknown token. Throws TextError if a text
  /// is too long, with LongText::error, or if a pair has no tab.
  std::vector<Classification> operator()(std::span<const std::string> texts, const ClassifyOptions& options = {},
                                         const Progress& progress = {}) const;

  /// The attention weights of one text: all layers and heads of BERT or GPT-2; otherwise one layer with one head: the
  /// attention pooling of a recurrent classifier, the words of a pair over those of the other text, the sentences of a
  /// document over their words and the document over all words. Throws InputError if the text is blank or too long, or
  /// if the model has no attention.
  AttentionMap attention_map(const std::string& text, const ClassifyOptions& options = {},
                             const AttentionSelection& selection = {}) const;

  const std::vector<std::string>& labels() const;
  /// Whether the model is multi-label: each label is independent of the others.
  bool several_labels() const;
  /// Whether the model can read pairs of texts.
  bool takes_pairs() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
