// Any model's folder as one object that says where it looks: recurrent and Transformer translators, recurrent
// classifiers, BERT and its kin, GPT-2. What `attend attention` and the server call.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/tasks/encoder/bert_reader.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/tasks/translation/translator.h"

namespace attend {

struct AttentionRequest {
  std::string text;
  std::optional<std::string> pair = {};    ///< the second text, for BERT and its kin
  std::optional<std::string> target = {};  ///< of translators: look at this translation instead of one of their own
  /// How a translator or language model generates. A language model generates nothing unless max_new_tokens is given;
  /// there is one map for each of the nbest hypotheses.
  GenerationOptions search = {};
  AttentionSelection selection = {};     ///< which views, layers and heads
  std::int64_t max_tokens = 0;           ///< of the text; 0: no limit but the model's
  LongText long_text = LongText::error;  ///< error or truncate; AttentionMap::truncated tells what was cut
};

/// Immutable, cheap to copy, and safe to use from many threads. The model is loaded once; its weights stay in the
/// mapped file where they can.
class AttentionReader {
 public:
  /// Throws InputError when the folder holds no model that Attend knows.
  explicit AttentionReader(const ModelFolder& folder);
  /// The same, also from the folder of a sentence-transformers model.
  explicit AttentionReader(const std::filesystem::path& folder);
  // Models that somebody has open already: they are shared, not loaded again.
  explicit AttentionReader(Translator translator);
  explicit AttentionReader(LanguageModel model);
  explicit AttentionReader(Classifier classifier);
  explicit AttentionReader(BertReader reader);

  /// One text: a map for each hypothesis, one where nothing is searched for. Throws InputError for what the model
  /// cannot do, or has not: a layer, a head, a view, a second text, positions for so many tokens, attention at all.
  std::vector<AttentionMap> operator()(const AttentionRequest& request) const;

  bool takes_pairs() const;  ///< a second text
  bool translates() const;   ///< and looks at a given target
  bool writes() const;       ///< text behind the text

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
