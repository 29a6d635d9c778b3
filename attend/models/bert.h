// BERT (Devlin et al. 2019), DistilBERT and RoBERTa: an encoder of texts with the heads that Hugging Face's folders
// have. Sequences are packed, so that nothing is spent on padding.
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

/// What differs beyond sizes: names in folders, positions, and the layers of some heads.
enum class BertFamily : std::uint8_t { bert, distilbert, roberta };

/// A kind of folder.
struct BertVariant {
  std::string_view type;        ///< "model_type" in config.json
  std::string_view class_name;  ///< the beginning of its class names in `transformers`
  BertFamily family;
};
inline constexpr BertVariant kBert{"bert", "Bert", BertFamily::bert};
inline constexpr BertVariant kDistilBert{"distilbert", "DistilBert", BertFamily::distilbert};
inline constexpr BertVariant kRoberta{"roberta", "Roberta", BertFamily::roberta};
inline constexpr BertVariant kXlmRoberta{"xlm-roberta", "XLMRoberta", BertFamily::roberta};
inline constexpr BertVariant kCamembert{"camembert", "Camembert", BertFamily::roberta};

/// What the encoder is used for.
enum class BertHead : std::uint8_t {
  none,           ///< its states
  pre_training,   ///< hidden words and the next sentence
  masked_words,   ///< hidden words
  next_sentence,  ///< whether the second text follows the first
  text_labels,    ///< a text's class, or all that hold
  token_labels,   ///< each token's class
  answer,         ///< where in the text the answer begins and ends
};

struct BertOptions {
  const BertVariant* variant = &kBert;
  BertHead head = BertHead::none;
  std::int64_t vocabulary = 30522;
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner = 3072;  ///< of the feed-forward networks
  Activation activation = Activation::gelu;
  std::int64_t positions = 512;  ///< rows of their table; RoBERTa leaves the first ones out
  std::int64_t types = 2;        ///< kinds of tokens: of the first text, of the second
  float dropout = 0.1f;          ///< of embeddings, and of what each sub-layer adds
  float attention_dropout = 0.1f;
  float head_dropout = 0.1f;  ///< before a head's last layer
  float eps = 1e-12f;         ///< of the norms
  float deviation = 0.02f;    ///< of new weights
  std::int32_t padding = 0;
  bool tied_output = true;               ///< the output layer is the embedding
  std::vector<std::string> labels = {};  ///< of text_labels and token_labels
  bool several_labels = false;           ///< each label holds or not, by itself

  BertFamily family() const { return variant->family; }
  /// Tokens of a text at most.
  std::int64_t max_tokens() const;

  /// Throws InputError, naming the key, for what is not supported.
  static BertOptions read(const Config& config, const BertVariant& variant);
  static BertOptions read(const Config& config);  ///< by its model_type, see the registry
  void write(Config& config) const;
};

/// Packed sequences, without padding.
struct BertInput {
  Tensor ids;                         ///< int32 [N], or features [N, width] in place of the tokens' embeddings
  Tensor types;                       ///< int32 [N], or undefined: all 0
  std::vector<std::int64_t> lengths;  ///< of each text; N together
};

struct Bert : ModelOf<Bert> {
  BertOptions options;
  Embedding words, positions, types;  // types: where there are any
  Norm embedding_norm;
  TransformerStack encoder;
  Linear pooler;        // of BERT; undefined where no head needs it and the folder has none
  Linear transform;     // head for tokens: dense and norm, then the output layer
  Norm transform_norm;  //
  Linear output;        // [vocabulary, width], unless it is tied to the embedding
  Tensor output_bias;   // [vocabulary]
  Linear next_sentence;
  Linear before_labels;  // of texts, where the family has it
  Linear labels;         // of texts or tokens
  Linear answer;         // begin and end

  Bert() = default;
  /// Matrices begin normal, biases at 0. Throws InputError for sizes that do not fit.
  explicit Bert(const BertOptions& options, Generator& generator = default_generator());

  /// The states of all tokens.   -> [N, width];  a probe gets "layer.0.self" … [texts, heads, T, T]
  Tensor encode(const BertInput& input, Probe* probe = nullptr) const;

  // Each head, from states [N, width] of texts with these lengths. Throws where the model was made without it.
  /// A text as one vector, by the first token's state through BERT's pooler.   -> [texts, width]
  Tensor pool(const Tensor& states, const std::vector<std::int64_t>& lengths) const;
  /// Logits of the tokens at some of the rows.   rows int32 [M] -> [M, vocabulary]
  Tensor predict_tokens(const Tensor& states, const Tensor& rows) const;
  /// Logits of "it follows" and of "it does not".   -> [texts, 2]
  Tensor follows(const Tensor& states, const std::vector<std::int64_t>& lengths) const;
  Tensor label_texts(const Tensor& states, const std::vector<std::int64_t>& lengths) const;  ///< -> [texts, labels]
  Tensor label_tokens(const Tensor& states) const;                                           ///< -> [N, labels]
  /// Logits of where the answer begins and where it ends.   -> [N, 2]
  Tensor find_answer(const Tensor& states) const;

  Config config() const override;
  std::vector<NamedTensor> stored_parameters() override;

  /// As Hugging Face's BERT names them; folders of the others have their own names (see stored_parameters).
  void visit(auto&& v) {
    v("bert.embeddings.word_embeddings", words), v("bert.embeddings.position_embeddings", positions);
    v("bert.embeddings.token_type_embeddings", types), v("bert.embeddings.LayerNorm", embedding_norm);
    v("bert.encoder.layer", encoder.blocks), v("bert.pooler.dense", pooler);
    v("cls.predictions.transform.dense", transform), v("cls.predictions.transform.LayerNorm", transform_norm);
    v("cls.predictions.decoder", output), v("cls.predictions.bias", output_bias);
    v("cls.seq_relationship", next_sentence);
    v("before_labels", before_labels), v("classifier", labels), v("qa_outputs", answer);
  }
};

struct BertLoading {
  std::optional<BertHead> head = {};      ///< instead of the folder's own; what it has no weights for begins anew
  std::vector<std::string> labels = {};   ///< with a head for labels: instead of the folder's own. Where that has the
                                          ///< same ones, in whichever order, it is kept with its order
  bool several_labels = false;            ///< with `labels`: see BertOptions
  bool mapped = false;                    ///< for models that are only run: weights stay in the file
  std::vector<std::string>* begun = {};   ///< gets the names of weights that the folder lacks and that begin anew
  std::vector<std::string>* unused = {};  ///< gets the names of weights that nothing here wants
};
/// The model of a folder, by whichever names (with the encoder's prefix or without, "gamma" and "beta"). A folder's own
/// head must be complete. Throws InputError for what is not.
Bert load_bert(const Config& config, const Weights& weights, const BertVariant& variant,
               const BertLoading& loading = {});
Bert load_bert(const std::filesystem::path& folder, const BertLoading& loading = {});

}  // namespace attend
