// A classifier's folder as one object: text in, label out. Recurrent classifiers, BERT and its kin, GPT-2.
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
#include "attend/models/gpt2.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct ClassifyOptions {
  std::int64_t max_tokens = 0;  ///< of a text; 0: no limit but the model's
  LongText long_text = LongText::truncate;
  std::int64_t batch_tokens = 0;  ///< that are classified at once; 0: as many as suit the model
  bool pairs = false;             ///< each text is two, with a tab between; for BERT and its kin
  bool attention = false;         ///< fill Classification::tokens and attention
};

struct Classification {
  std::size_t label = 0;             ///< the most probable, by its place in labels()
  std::vector<float> probabilities;  ///< of all labels; they sum to 1 unless several may hold
  std::vector<std::size_t> holding;  ///< labels that hold: the most probable, or of several all above 0.5
  std::int64_t truncated = 0;        ///< tokens that were dropped
  std::vector<std::string> tokens = {};
  std::vector<Span> spans = {};  ///< where in the text each token stands; empty for those that were added
  /// Of each token; empty when the model does not pool by attention. Of BERT, what the first token looks at in the last
  /// layer, the mean of its heads; of GPT-2, what the last one looks at.
  std::vector<float> attention = {};
};

/// Immutable and cheap to copy.
class Classifier {
 public:
  /// Throws InputError when the folder holds no classifier.
  explicit Classifier(const ModelFolder& folder);
  explicit Classifier(const std::filesystem::path& folder) : Classifier(ModelFolder(folder)) {}
  /// Models in memory; the parameters are shared.
  Classifier(RecurrentClassifier model, const Tokenizer& tokenizer);
  Classifier(Bert model, const Tokenizer& tokenizer);

  /// In the order of the texts. A text without tokens is taken as one unknown word. Throws TextError for a text that
  /// the options do not allow.
  std::vector<Classification> operator()(std::span<const std::string> texts, const ClassifyOptions& options = {},
                                         const Progress& progress = {}) const;

  /// Where the model looks: of BERT all layers, of a recurrent classifier the one row with which it pools. Throws
  /// InputError for a text that is blank or that the options do not allow, and where the model pools without attention.
  AttentionMap look(const std::string& text, const ClassifyOptions& options = {},
                    const AttentionSelection& selection = {}) const;

  const std::vector<std::string>& labels() const;
  /// Whether each label holds or not by itself.
  bool several_labels() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

/// The ids of a text as classifiers take them: never empty, so that there is always something to read.
std::vector<std::int32_t> ids_to_classify(const Tokenizer& tokenizer, std::vector<std::int32_t> ids);

}  // namespace attend
