// BERT (Devlin et al. 2019), DistilBERT and RoBERTa: an encoder with the heads of Hugging Face's classes. A batch is
// packed sequences, so no time is spent on padding.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/model.h"
#include "attend/nn/embedding.h"

namespace attend {

/// The families differ in parameter names, in positions, and in the layers of some heads.
enum class BertFamily : std::uint8_t { bert, distilbert, roberta };

/// One "model_type".
struct BertVariant {
  std::string_view type;        ///< "model_type" in config.json
  std::string_view class_name;  ///< prefix of the class names in `transformers`
  BertFamily family;
};
inline constexpr BertVariant kBert{"bert", "Bert", BertFamily::bert};
inline constexpr BertVariant kDistilBert{"distilbert", "DistilBert", BertFamily::distilbert};
inline constexpr BertVariant kRoberta{"roberta", "Roberta", BertFamily::roberta};
inline constexpr BertVariant kXlmRoberta{"xlm-roberta", "XLMRoberta", BertFamily::roberta};
inline constexpr BertVariant kCamembert{"camembert", "Camembert", BertFamily::roberta};

/// The head on top of the encoder, with the class suffix in `transformers`.
enum class BertHead : std::uint8_t {
  none,                     ///< the states alone (…Model)
  pre_training,             ///< masked tokens and next-sentence prediction (…ForPreTraining)
  masked_lm,                ///< masked tokens (…ForMaskedLM)
  next_sentence,            ///< whether the second text follows the first (…ForNextSentencePrediction)
  sequence_classification,  ///< labels of a text (…ForSequenceClassification)
  token_classification,     ///< a label for each token (…ForTokenClassification)
  question_answering,       ///< where the answer begins and ends (…ForQuestionAnswering)
};

struct BertOptions {
  const BertVariant* variant = &kBert;
  BertHead head = BertHead::none;
  std::int64_t vocabulary = 30522;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner = 3072;  ///< width inside the feed-forward networks
  Activation activation = Activation::gelu;
  std::int64_t positions = 512;  ///< rows of the position table; RoBERTa does not use the first padding + 1
  std::int64_t types = 2;        ///< token types: 0 for the first text, 1 for the second; DistilBERT has none
  float dropout = 0.1f;          ///< on the embeddings and on the output of each sub-layer
  float attention_dropout = 0.1f;
  float head_dropout = 0.1f;  ///< before the last layer of the head
  float eps = 1e-12f;         ///< of the layer norms
  float deviation = 0.02f;    ///< the standard deviation of the initial weights
  std::int32_t padding = 0;
  bool tied_output = true;               ///< the output layer uses the weights of the token embedding
  std::vector<std::string> labels = {};  ///< with a head for sequence or token classification
  bool several_labels = false;           ///< multi-label classification: each label is independent of the others

  BertFamily family() const { return variant->family; }
  /// The maximum length of a text in tokens.
  std::int64_t max_tokens() const;

  /// Throws InputError, naming the key, if a value in config.json is not supported.
  static BertOptions read(const Config& config, const BertVariant& variant);
  static BertOptions read(const Config& config);  ///< of any variant that the registry knows
  void write(Config& config) const;
};

/// Packed sequences: N tokens in total.
struct BertInput {
  Tensor ids;                         ///< int32 [N], or features [N, width] that replace the token embeddings
  Tensor types;                       ///< token types int32 [N]; undefined: all 0
  std::vector<std::int64_t> lengths;  ///< of each text in tokens; their sum is N
};

struct Bert : ModelOf<Bert> {
  BertOptions options;
  Embedding tokens, positions, types;  // types: undefined if options.types is 0
  Norm embedding_norm;
  TransformerStack encoder;
  // The layers of the heads; those that the model's head does not need are undefined.
  Linear pooler;         // see pool(); without a head it is loaded if the folder has it
  Linear transform;      // masked tokens: linear layer and norm before the output layer
  Norm transform_norm;   //
  Linear output;         // [vocabulary, width]; undefined if it is tied
  Tensor output_bias;    // [vocabulary]
  Linear next_sentence;  // [2, width]
  Linear before_labels;  // [width, width], sequence classification of DistilBERT and RoBERTa
  Linear labels;         // [labels, width]
  Linear answer;         // [2, width]

  Bert() = default;
  /// Initialises matrices with normal random values and biases with 0. Throws InputError if the options do not fit
  /// together.
  explicit Bert(const BertOptions& options, Generator& generator = default_generator());

  /// The states of all tokens.   -> [N, width].  A probe records the layers "layer.0.self", … [texts, heads, T, T].
  Tensor encode(const BertInput& input, Probe* probe = nullptr) const;

  // The heads take the states [N, width] and the lengths of the texts. They throw Error if the model does not have the
  // head.
  /// BERT's pooler: tanh(W · state of the first token) of each text.   -> [texts, width]
  Tensor pool(const Tensor& states, const std::vector<std::int64_t>& lengths) const;
  /// The logits of the tokens at the given rows of the states.   rows int32 [M] -> [M, vocabulary]
  Tensor predict_tokens(const Tensor& states, const Tensor& rows) const;
  /// The logits of "the second text follows the first" and of "it does not".   -> [texts, 2]
  Tensor predict_next_sentence(const Tensor& states, const std::vector<std::int64_t>& lengths) const;
  Tensor label_texts(const Tensor& states, const std::vector<std::int64_t>& lengths) const;  ///< -> [texts, labels]
  Tensor label_tokens(const Tensor& states) const;                                           ///< -> [N, labels]
  /// For each token, the logits that the answer begins and ends there.   -> [N, 2]
  Tensor find_answer(const Tensor& states) const;

  Config config() const override;
  std::vector<NamedTensor> stored_parameters() override;

  /// With the names of Hugging Face's BERT. The folders of the other families have other names: see
  /// stored_parameters().
  void visit(auto&& v) {
    v("bert.embeddings.word_embeddings", tokens), v("bert.embeddings.position_embeddings", positions);
    v("bert.embeddings.token_type_embeddings", types), v("bert.embeddings.LayerNorm", embedding_norm);
    v("bert.encoder.layer", encoder.blocks), v("bert.pooler.dense", pooler);
    v("cls.predictions.transform.dense", transform), v("cls.predictions.transform.LayerNorm", transform_norm);
    v("cls.predictions.decoder", output), v("cls.predictions.bias", output_bias);
    v("cls.seq_relationship", next_sentence);
    v("before_labels", before_labels), v("classifier", labels), v("qa_outputs", answer);
  }
};

struct BertLoading {
  std::optional<BertHead> head = {};     ///< load with this head; empty: the head of the folder. If the folder has no
                                         ///< weights for it, they are initialised with random values
  std::vector<std::string> labels = {};  ///< the labels of a classification head; empty: those of the folder. If the
                                         ///< folder has the same labels in any order, its head and order are kept
  bool several_labels = false;           ///< used with `labels`: see BertOptions
  bool mapped = false;                   ///< the weights stay in the mapped file; the model cannot be trained
  std::vector<std::string>* initialised = {};  ///< output: the names of weights that were initialised, as the folder
                                               ///< does not have them
  std::vector<std::string>* unused = {};  ///< output: the names of the folder's weights that the model does not use
};
/// Loads a model from config.json and the weights of a folder (see Weights). The names of the weights may have the
/// encoder's prefix ("bert.") or not, and norms may be called "gamma" and "beta". Throws InputError if a weight of the
/// encoder or of the folder's own head is missing, or, with `mapped`, any weight.
Bert load_bert(const Config& config, const Weights& weights, const BertVariant& variant,
               const BertLoading& loading = {});
Bert load_bert(const std::filesystem::path& folder, const BertLoading& loading = {});

}  // namespace attend
