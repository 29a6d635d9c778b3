// BERT (Devlin et al. 2019) and the encoders after it, with the heads of Hugging Face's classes. Each family (BERT,
// DistilBERT, RoBERTa, ELECTRA, MPNet, ALBERT, ModernBERT) has a source file of its own, which reads and writes
// config.json and names the parameters (see BertFamily). A batch is packed sequences, so no time is spent on padding.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/attention/positions.h"
#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/model.h"
#include "attend/models/rotary_scaling.h"
#include "attend/nn/embedding.h"

namespace attend {

struct BertOptions;

/// What is special in a family: its folder format, and the layers of some heads.
struct BertFamily {
  /// Throws InputError, naming the key, if a value in config.json is not supported.
  void (*read)(const Config& config, BertOptions& options);
  void (*write)(const BertOptions& options, Config& config);
  /// The keys of the sizes in config.json; null: the family does not have the key.
  struct Keys {
    const char *width = "hidden_size", *layers = "num_hidden_layers", *heads = "num_attention_heads";
    const char *inner = "intermediate_size", *activation = "hidden_act", *types = "type_vocab_size";
    const char *dropout = "hidden_dropout_prob", *attention_dropout = "attention_probs_dropout_prob";
    const char *head_dropout = "classifier_dropout", *eps = "layer_norm_eps";
    const char* position_kind = "position_embedding_type";  ///< must be "absolute"
  } keys = {};
  std::string_view prefix;  ///< of the encoder's parameters: "bert."
  std::string_view layers;  ///< the list of layers, without the prefix: "encoder.layer."
  const char* layers_key;   ///< the key of their number
  /// Parts of our parameter names, which are BERT's, and what replaces them. All that match are replaced, in this
  /// order. Parameters that get the same name are stored as one tensor.
  std::span<const std::pair<std::string_view, std::string_view>> names = {};
  std::span<const std::pair<std::string_view, std::string_view>> head_names = {};  ///< of heads, after `names`

  bool next_sentence = false;            ///< there are classes for next-sentence prediction
  bool encoder_pre_training = false;     ///< the head of …ForPreTraining is ignored
  bool positions_after_padding = false;  ///< the first position is that after the padding id, as in fairseq
  bool projected_embeddings = false;  ///< there is a layer after the embeddings even if they have the encoder's width
  bool pooler = false;                ///< the model without a head has a pooler
  bool pooled_labels = false;         ///< the labels of a text are computed from the pooler, without before_labels
  Activation label_activation = Activation::none;  ///< of before_labels
  bool label_dropout = false;     ///< there is dropout before before_labels; its classifier is "classifier.out_proj"
  bool shared_transform = false;  ///< all heads have `transform`, the layers before the output
  bool answer_dropout = false;    ///< there is dropout before the layer that finds answers
};

/// One "model_type".
struct BertVariant {
  std::string_view type;        ///< "model_type" in config.json
  std::string_view class_name;  ///< prefix of the class names in `transformers`
  const BertFamily* family;
};
extern const BertFamily kBertFamily, kDistilBertFamily, kRobertaFamily, kElectraFamily, kMpnetFamily, kAlbertFamily,
    kModernBertFamily;
inline constexpr BertVariant kBert{"bert", "Bert", &kBertFamily};
inline constexpr BertVariant kDistilBert{"distilbert", "DistilBert", &kDistilBertFamily};
inline constexpr BertVariant kRoberta{"roberta", "Roberta", &kRobertaFamily};
inline constexpr BertVariant kXlmRoberta{"xlm-roberta", "XLMRoberta", &kRobertaFamily};
inline constexpr BertVariant kCamembert{"camembert", "Camembert", &kRobertaFamily};
inline constexpr BertVariant kElectra{"electra", "Electra", &kElectraFamily};
inline constexpr BertVariant kMpnet{"mpnet", "MPNet", &kMpnetFamily};
inline constexpr BertVariant kAlbert{"albert", "Albert", &kAlbertFamily};
inline constexpr BertVariant kModernBert{"modernbert", "ModernBert", &kModernBertFamily};

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

/// Rotary positions, with layers that attend to all tokens and layers that attend to a window of neighbours.
struct BertRotary {
  std::vector<bool> local = {};  ///< of each layer: whether it attends to a window only
  std::int64_t window = 64;      ///< the largest distance in that window
  RotaryParameters global = {.theta = 160000}, local_layers = {};  ///< the frequencies
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
  std::int64_t embedding_width = 0;   ///< of the embeddings, which a linear layer maps to `width`; 0: `width`
  std::int64_t groups = 0;            ///< blocks with weights of their own, each of which is layers / groups layers in
                                      ///< a row; 0: every layer has its own weights
  std::int64_t positions = 512;       ///< rows of the position table; RoBERTa does not use the first padding + 1
  std::int64_t relative_buckets = 0;  ///< above 0: also a learned bias on the attention scores (see RelativeBias)
  std::optional<BertRotary> rotary = {};  ///< rotary positions instead of the table
  bool modern = false;                    ///< pre-norm blocks without biases, with gated networks and a final norm
  std::int64_t types = 2;  ///< token types: 0 for the first text, 1 for the second; 0: the model has none
  /// On the embeddings and, unless the model is `modern`, on the output of each sub-layer.
  float dropout = 0.1f;
  /// On the attention weights; of a `modern` model, also on the output of self-attention.
  float attention_dropout = 0.1f;
  float activation_dropout = 0.f;                  ///< inside the feed-forward networks
  float head_dropout = 0.1f;                       ///< before the last layer of the head
  std::optional<Activation> head_activation = {};  ///< before the output layer for tokens; empty: `activation`
  bool mean_labels = false;  ///< with shared_transform: label the mean of the states instead of the first
  float eps = 1e-12f;        ///< of the layer norms
  float deviation = 0.02f;   ///< the standard deviation of the initial weights
  std::int32_t padding = 0;
  bool tied_output = true;               ///< the output layer uses the weights of the token embedding
  std::vector<std::string> labels = {};  ///< with a head for sequence or token classification
  bool several_labels = false;           ///< multi-label classification: each label is independent of the others

  const BertFamily& family() const { return *variant->family; }
  std::int64_t embedding_size() const { return embedding_width > 0 ? embedding_width : width; }
  /// The maximum length of a text in tokens.
  std::int64_t max_tokens() const;

  /// Throws InputError, naming the key, if a value in config.json is not supported.
  static BertOptions read(const Config& config, const BertVariant& variant);
  static BertOptions read(const Config& config);  ///< of any variant that the registry knows
  void write(Config& config) const;
};

/// Packed sequences: N tokens in total.
struct BertInput {
  Tensor ids;                         ///< int32 [N], or features [N, embedding_size()] instead of token embeddings
  Tensor types;                       ///< token types int32 [N]; undefined: all 0
  std::vector<std::int64_t> lengths;  ///< of each text in tokens; their sum is N
};

struct Bert : ModelOf<Bert> {
  BertOptions options;
  Embedding tokens, positions, types;  // positions: undefined with rotary positions; types: if options.types is 0
  Norm embedding_norm;
  Linear embedding_projection;  // undefined unless the embeddings have another width
  RelativeBias relative_bias;   // with options.relative_buckets
  TransformerStack encoder;
  // The layers of the heads; those that the model's head does not need are undefined.
  Linear pooler;         // see pool(); without a head it is loaded if the folder has it
  Linear transform;      // masked tokens: linear layer and norm before the output layer; ModernBERT: all heads
  Norm transform_norm;   //
  Linear output;         // [vocabulary, embedding_size]; undefined if it is tied
  Tensor output_bias;    // [vocabulary]
  Linear next_sentence;  // [2, width]
  Linear before_labels;  // [width, width], sequence classification of DistilBERT, RoBERTa and others
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
  std::string stored_name(std::string name) const;

  /// With the names of Hugging Face's BERT. The folders of the other families have other names: see
  /// stored_parameters().
  void visit(auto&& v) {
    v("bert.embeddings.word_embeddings", tokens), v("bert.embeddings.position_embeddings", positions);
    v("bert.embeddings.token_type_embeddings", types), v("bert.embeddings.LayerNorm", embedding_norm);
    v("bert.embeddings_project", embedding_projection);
    v("bert.encoder.relative_attention_bias", relative_bias), v("bert.encoder.layer", encoder.blocks);
    v("bert.encoder.LayerNorm", encoder.final_norm), v("bert.pooler.dense", pooler);
    v("cls.predictions.transform.dense", transform), v("cls.predictions.transform.LayerNorm", transform_norm);
    v("cls.predictions.decoder", output), v("cls.predictions.bias", output_bias);
    v("cls.seq_relationship", next_sentence);
    v("before_labels", before_labels), v("classifier", labels), v("qa_outputs", answer);
  }

 private:
  Tensor transformed(const Tensor& x) const;  // linear layer, activation and norm before the output layer
};

/// Read and write the keys that most families share. The current values of the options are the defaults.
void read_bert_keys(const Config& config, BertOptions& options);
void write_bert_keys(const BertOptions& options, Config& config);

struct BertLoading {
  std::optional<BertHead> head = {};     ///< load with this head; empty: the head of the folder. If the folder has no
                                         ///< weights for it, they are initialised with random values
  std::vector<std::string> labels = {};  ///< the labels of a classification head; empty: those of the folder. If the
                                         ///< folder has the same labels in any order, its head and order are kept
  bool several_labels = false;           ///< used with `labels`: see BertOptions
  bool mapped = false;                   ///< the weights stay in the mapped file; only adapters can be trained
  std::vector<std::string>* initialised = {};  ///< output: the names of weights that were initialised, as the folder
                                               ///< does not have them
  std::vector<std::string>* unused = {};  ///< output: the names of the folder's weights that the model does not use
};
/// Loads a model from config.json and the weights of a folder (see Weights). The names of the weights may have the
/// encoder's prefix ("bert.") or not, and norms may be called "gamma" and "beta". Throws InputError if a weight of the
/// encoder or of the folder's own head is missing, or, with `mapped` and without `initialised`, any weight.
Bert load_bert(const Config& config, const Weights& weights, const BertVariant& variant,
               const BertLoading& loading = {});
Bert load_bert(const std::filesystem::path& folder, const BertLoading& loading = {});

}  // namespace attend
