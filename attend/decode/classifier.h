// A classifier's folder as one object: text in, label out.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/models/recurrent_classifier.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct ClassifyOptions {
  std::int64_t max_tokens = 0;  ///< of a text; 0: no limit but the model's
  LongText long_text = LongText::truncate;
  std::int64_t batch_tokens = 8192;  ///< that are classified at once
  bool attention = false;            ///< fill Classification::tokens and attention
};

struct Classification {
  std::size_t label = 0;             ///< the most probable, by its place in labels()
  std::vector<float> probabilities;  ///< of all labels
  std::int64_t truncated = 0;        ///< tokens that were dropped
  std::vector<std::string> tokens = {};
  std::vector<Span> spans = {};       ///< where in the text each token stands
  std::vector<float> attention = {};  ///< of each token; empty when the model does not pool by attention
};

/// Immutable and cheap to copy.
class Classifier {
 public:
  /// Throws InputError when the folder holds no classifier.
  explicit Classifier(const std::filesystem::path& folder);
  Classifier(RecurrentClassifier model, const Tokenizer& tokenizer);

  /// In the order of the texts. A text without tokens is taken as one unknown word.
  std::vector<Classification> operator()(std::span<const std::string> texts, const ClassifyOptions& options = {}) const;

  const std::vector<std::string>& labels() const;

 private:
  struct Model;
  std::shared_ptr<const Model> model_;
};

/// The ids of a text as classifiers take them: never empty, so that there is always something to read.
std::vector<std::int32_t> ids_to_classify(const Tokenizer& tokenizer, std::vector<std::int32_t> ids);

}  // namespace attend
