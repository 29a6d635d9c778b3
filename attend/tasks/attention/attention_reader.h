// Computes the attention weights of any model: recurrent and Transformer translators, classifiers, BERT's family,
// GPT-2, memory networks, BiDAF. `attend attention` and the server use this class.
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
  std::optional<std::string> pair = {};    ///< the second text, for BERT's family, classifiers of pairs and BiDAF
  std::optional<std::string> target = {};  ///< for translators: use this translation instead of generating one
  std::string source_language = {}, target_language = {};  ///< for multilingual translators: see TranslateOptions
  /// How a translator or language model generates. A language model generates nothing unless max_new_tokens is given.
  /// There is one map for each of the nbest hypotheses.
  GenerationOptions search = {};
  AttentionSelection selection = {};     ///< which views, layers and heads to keep
  std::int64_t max_tokens = 0;           ///< the maximum length of the text; 0: only the model's limit
  LongText long_text = LongText::error;  ///< error or truncate; AttentionMap::truncated counts the dropped tokens
};

/// Immutable, cheap to copy, and thread-safe. The model is loaded once; its weights stay in the mapped file if
/// possible.
class AttentionReader {
 public:
  /// Loads the model of a folder.
  explicit AttentionReader(const ModelFolder& folder);
  /// The same from a path, which may also be the folder of a sentence-transformers model. Throws InputError if it holds
  /// no model that Attend supports.
  explicit AttentionReader(const std::filesystem::path& folder);
  // From models that are already loaded; their weights are shared.
  explicit AttentionReader(Translator translator);
  explicit AttentionReader(LanguageModel model);
  explicit AttentionReader(Classifier classifier);
  explicit AttentionReader(BertReader reader);

  /// The attention of one text: a map for each hypothesis, or one map if nothing is generated. Throws InputError if the
  /// text is too long, or if the model does not have what the request asks for (a layer, head or view, a second text,
  /// attention).
  std::vector<AttentionMap> operator()(const AttentionRequest& request) const;

  bool takes_pairs() const;  ///< whether AttentionRequest::pair is supported
  bool translates() const;   ///< whether AttentionRequest::target is supported

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
