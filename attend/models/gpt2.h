// GPT-2 (Radford et al. 2019): a Transformer that predicts the next token. Reads and writes the folders of Hugging
// Face's GPT2LMHeadModel and GPT2ForSequenceClassification. Their c_attn is three projections here (see load_gpt2).
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/generative_model.h"
#include "attend/models/model.h"
#include "attend/nn/embedding.h"

namespace attend {

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
  bool bias = true;            ///< in linear layers and norms; false is not Hugging Face's, see stored_parameters
  std::int32_t start = 50256;  ///< stands before a text that begins with nothing
  std::int32_t end = 50256;
  std::vector<std::string> labels = {};  ///< of a GPT2ForSequenceClassification, which says them instead of words
  bool several_labels = false;           ///< each label holds or not, by itself

  std::int64_t inner_width() const { return inner > 0 ? inner : 4 * width; }
  /// Throws InputError, naming the key, where the configuration wants what is not supported.
  static Gpt2Options read(const Config& config);
  void write(Config& config) const;
};

/// Sequences in the middle of their generation.
struct Gpt2State : GenerationState {
  KeyValueCache cache;
  std::vector<std::int64_t> lengths;  ///< of each row, in tokens

  explicit Gpt2State(std::int64_t layers = 0) : cache(layers) {}
  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

struct Gpt2 : ModelOf<Gpt2>, GenerativeModel {
  Gpt2Options options;
  Embedding tokens;  // [vocabulary, width]
  Tensor positions;  // [positions, width]
  TransformerStack decoder;
  Linear output;  // [vocabulary, width], unless it is tied to the embedding
  Linear labels;  // [labels, width], where there are labels

  Gpt2() = default;
  explicit Gpt2(const Gpt2Options& options, Generator& generator = default_generator());

  /// Logits of the token that follows each, for texts that begin together; shorter ones are padded at the end with any
  /// ids, which earlier tokens do not see.   int32 [B, T] -> [B, T, V];  a probe gets "layers.0.self" …
  Tensor operator()(const Tensor& ids, Probe* probe = nullptr) const { return logits(states(ids, probe)); }
  /// The states that the logits are computed from.   int32 [B, T] -> [B, T, width]
  Tensor states(const Tensor& ids, Probe* probe = nullptr) const;
  /// [..., width] -> [..., V]
  Tensor logits(const Tensor& states) const;

  // The following are without gradients and without dropout, and a row's result depends on no other row.
  using Texts = std::span<const std::span<const std::int32_t>>;
  /// Packed sequences of any lengths in one pass.   -> states [sum of lengths, width]
  /// `state`, if given, becomes that of these texts: a row each.
  Tensor read(Texts texts, Gpt2State* state = nullptr, Probe* probe = nullptr) const;
  /// Reads texts, none of which is empty.   -> logits of the token that follows each, [N, V]
  Tensor start(Texts texts, Gpt2State& state) const;
  /// Logits of the labels of texts, none of which is empty, from the state of their last token.   -> [N, labels]
  Tensor label(Texts texts, Probe* probe = nullptr) const;
  /// Reads one more token for each row.   int32 [N] -> logits [N, V]
  Tensor step(const Tensor& ids, Gpt2State& state, Probe* probe) const;

  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t max_positions() const override { return options.positions; }
  SequenceBytes sequence_bytes() const override {
    return {.token = options.layers * 2 * options.width * std::int64_t{sizeof(float)}};
  }
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;

  bool quantised() const { return tokens.scales.defined(); }  ///< whether the matrices are int8

  Config config() const override;
  /// As Hugging Face has them; a model without biases is stored with biases of 0, and has none again when it is loaded.
  std::vector<NamedTensor> stored_parameters() override;

  void visit(auto&& v) {
    v("transformer.wte", tokens), v("transformer.wpe.weight", positions);
    v("transformer.h", decoder.blocks), v("transformer.ln_f", decoder.final_norm);
    v("lm_head", output), v("score", labels);
  }

 private:
  Tensor embed(const Tensor& ids, const Tensor& places) const;
  Tensor read_last(Texts texts, Gpt2State& state, Probe* probe) const;  // [N, width]
};

/// The model of a folder: config.json and the weights (see Weights), with or without "transformer." before their names.
/// With `mapped`, for models that are only run, tables stay in the file (see borrow_parameters); matrices, which
/// GPT-2's files hold transposed, are copied to memory. Throws InputError for what is not complete.
Gpt2 load_gpt2(const Config& config, const Weights& weights, bool mapped = false);
Gpt2 load_gpt2(const std::filesystem::path& folder, bool mapped = false);

/// Hugging Face's c_attn: the projections of queries, keys and values as one layer.
Linear joined_projections(const MultiHeadAttention& attention);

}  // namespace attend
