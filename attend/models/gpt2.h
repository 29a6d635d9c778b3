// GPT-2 (Radford et al. 2019): a Transformer that says what comes next. Parameters and configuration are those of
// Hugging Face's GPT2LMHeadModel and GPT2ForSequenceClassification, whose folders it reads and writes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/cache.h"
#include "attend/formats/config.h"
#include "attend/nn/embedding.h"
#include "attend/nn/feed_forward.h"
#include "attend/nn/layer_norm.h"

namespace attend {

constexpr std::string_view kGpt2Type = "gpt2";  // "model_type" in config.json

struct Gpt2Options {
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;  ///< tokens of a text at most
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner = 0;  ///< of the feed-forward networks; 0: four times the width
  Activation activation = Activation::gelu_tanh;
  float epsilon = 1e-5f;                ///< of the norms
  float deviation = 0.02f;              ///< of the weights at the beginning
  float dropout = 0.1f;                 ///< of what each sub-layer adds
  float embedding_dropout = 0.1f;       ///< of the embeddings
  float attention_dropout = 0.1f;       ///< of attention weights
  bool scale_attention = true;          ///< scores by 1 / √(width / heads)
  bool scale_by_inverse_layer = false;  ///< and those of layer i, counted from 0, by 1 / (i + 1)
  bool tied_output = true;              ///< the output multiplies with the embeddings
  bool bias = true;                     ///< in linear layers and norms; false is not Hugging Face's: see save_gpt2
  std::int32_t start = 50256;           ///< stands before a text that begins with nothing
  std::int32_t end = 50256;
  std::vector<std::string> labels = {};  ///< of a GPT2ForSequenceClassification, which says them instead of words
  bool several_labels = false;           ///< each label holds or not, by itself

  std::int64_t inner_width() const { return inner > 0 ? inner : 4 * width; }
  /// Throws InputError, naming the key, where the configuration wants what is not supported.
  static Gpt2Options read(const Config& config);
  void write(Config& config) const;
};

/// A model in the middle of its texts: what each row has read and said, and how long that is.
struct Gpt2State {
  KeyValueCache cache;
  std::vector<std::int64_t> lengths;

  std::int64_t rows() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t longest() const;
  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  void select(std::span<const std::int64_t> rows);
};

struct Gpt2Layer {
  LayerNorm attention_norm, feed_forward_norm;
  Linear queries_keys_values, output;  // [3·width, width]: one product
  FeedForward feed_forward;
  float scale = 1.f;  // of the scores
  float dropout = 0.f;
  bool bias = true;

  Gpt2Layer(const Gpt2Options& options, std::int64_t index, Generator& generator);
  /// x and its attention_norm -> what the layer makes of x, and `next` of that: norms and sums are one pass. `attend`
  /// takes what was normed to the heads' contexts, [..., width] both.
  AddNorm operator()(const AddNorm& x, const LayerNorm& next, auto&& attend) const {
    const AddNorm h = feed_forward_norm(attend::dropout(output(attend(x.normed)), dropout), x.sum);
    return next(attend::dropout(feed_forward(h.normed), dropout), h.sum);
  }
  /// Parts of queries_keys_values, for decoding.   [..., width] -> [..., width], and [..., 2·width]
  Tensor queries(const Tensor& x) const { return queries_keys_values.view_rows(0, width())(x); }
  Tensor keys_values(const Tensor& x) const { return queries_keys_values.view_rows(width(), 3 * width())(x); }

  void visit(auto&& v) {
    visit_norm(v, "ln_1", attention_norm, bias);
    v("attn.c_attn", queries_keys_values), v("attn.c_proj", output);
    visit_norm(v, "ln_2", feed_forward_norm, bias);
    v("mlp.c_fc", feed_forward.up), v("mlp.c_proj", feed_forward.down);
  }
  /// Without biases, that of a norm is 0 and no parameter.
  static void visit_norm(auto&& v, const std::string& name, LayerNorm& norm, bool bias) {
    v(name + ".weight", norm.gain);
    if (bias) v(name + ".bias", norm.bias);
  }

 private:
  std::int64_t width() const { return queries_keys_values.weight.dim(1); }
};

struct Gpt2 {
  Gpt2Options options;
  Embedding words;   // [vocabulary, width]
  Tensor positions;  // [positions, width]
  std::vector<Gpt2Layer> layers;
  LayerNorm last_norm;
  Linear output;  // [vocabulary, width], unless it is the embeddings
  Linear labels;  // [labels, width], where there are labels

  Gpt2() = default;
  explicit Gpt2(const Gpt2Options& options, Generator& generator = default_generator());

  /// What follows each token, for texts that begin together; those that end earlier are filled up with any ids, which
  /// what stands before them does not see.   int32 [B, T] -> logits [B, T, V];  a probe gets "layers.0" …
  Tensor operator()(const Tensor& ids, Probe* probe = nullptr) const { return say(states(ids, probe)); }
  /// What the logits are made of.   int32 [B, T] -> [B, T, width]
  Tensor states(const Tensor& ids, Probe* probe = nullptr) const;
  /// [..., width] -> logits [..., V]
  Tensor say(const Tensor& states) const;

  /// The following are without gradients and without dropout, and a row's result depends on no other row.
  bool quantised() const { return words.scales.defined(); }  ///< whether the matrices are of int8

  using Texts = std::span<const std::span<const std::int32_t>>;

  /// Texts of any lengths one behind the other, without padding, in one pass.   -> [sum of lengths, width]
  /// `state`, if there is one, becomes that of these texts: a row each.
  Tensor read(Texts texts, Gpt2State* state = nullptr, Probe* probe = nullptr) const;
  /// What follows these texts, none of which is empty: the beginning of a state.   -> logits [N, V]
  Tensor start(Texts texts, Gpt2State& state) const;
  /// What texts, none of which is empty, are called, by what stands at their last token.   -> logits [N, labels]
  Tensor label(Texts texts, Probe* probe = nullptr) const;
  /// What follows one more token in each row.   int32 [N] -> logits [N, V]
  Tensor step(const Tensor& ids, Gpt2State& state, Probe* probe = nullptr) const;

  void visit(auto&& v) {
    v("transformer.wte", words), v("transformer.wpe.weight", positions);
    v("transformer.h", layers);
    Gpt2Layer::visit_norm(v, "transformer.ln_f", last_norm, options.bias);
    v("lm_head", output), v("score", labels);
  }

 private:
  AddNorm begin(const Tensor& x) const;
  Tensor read_last(Texts texts, Gpt2State& state, Probe* probe) const;  // [N, width]
  const LayerNorm& norm_after(std::size_t layer) const {
    return layer + 1 < layers.size() ? layers[layer + 1].attention_norm : last_norm;
  }
};

/// The model of a folder: config.json and the weights (see Weights), with or without "transformer." before their names.
/// With `mapped`, for models that are only run, tables stay in the file (see
/// borrow_parameters); matrices, which GPT-2's files hold the other way round, are turned into memory of their own.
/// Throws InputError for what is not complete.
/// A folder with weights of int8 can only be mapped.
Gpt2 load_gpt2(const std::filesystem::path& folder, bool mapped = false);

/// Writes config.json and model.safetensors as Hugging Face does. A model without biases is written with biases of 0,
/// and has none again when it is loaded. One whose matrices are of int8 (see quantise_parameters) is for Attend alone:
/// they are stored as they lie in memory, [out, in], each with its scales as "….weight_scale".
void save_gpt2(Gpt2& model, const std::filesystem::path& folder);

}  // namespace attend
