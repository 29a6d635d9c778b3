// GPT-2 (Radford et al. 2019), a decoder-only Transformer. Reads and writes the folders of Hugging Face's
// GPT2LMHeadModel and GPT2ForSequenceClassification. Their c_attn, one matrix for queries, keys and values, is three
// layers here.
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
  std::int64_t positions = 1024;  ///< the maximum length of a text in tokens
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t inner = 0;  ///< width inside the feed-forward networks; 0: 4 · width
  Activation activation = Activation::gelu_tanh;
  float epsilon = 1e-5f;                ///< of the layer norms
  float deviation = 0.02f;              ///< the standard deviation of the initial weights
  float dropout = 0.1f;                 ///< on the output of each sub-layer
  float embedding_dropout = 0.1f;       ///< on the embeddings
  float attention_dropout = 0.1f;       ///< on the attention weights
  bool scale_attention = true;          ///< multiply the attention scores by 1 / √(width / heads)
  bool scale_by_inverse_layer = false;  ///< also multiply those of layer i, counted from 0, by 1 / (i + 1)
  bool tied_output = true;              ///< the output layer uses the weights of the embedding
  bool bias = true;                     ///< in linear layers and norms; Hugging Face's GPT-2 always has biases, see
                                        ///< stored_parameters()
  std::int32_t start = 50256;           ///< the prompt of a text that begins with nothing
  std::int32_t end = 50256;
  std::vector<std::string> labels = {};  ///< the classes of a GPT2ForSequenceClassification; empty: a language model
  bool several_labels = false;           ///< multi-label classification: each label is independent of the others

  std::int64_t inner_width() const { return inner > 0 ? inner : 4 * width; }
  /// Throws InputError, naming the key, if a value in config.json is not supported.
  static Gpt2Options read(const Config& config);
  void write(Config& config) const;
};

/// The state of a batch of sequences during generation.
struct Gpt2State : GenerationState {
  KeyValueCache cache;
  std::vector<std::int64_t> lengths;  ///< of each sequence, in tokens

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
  Linear output;  // [vocabulary, width]; undefined if it is tied
  Linear labels;  // [labels, width]; undefined in a language model

  Gpt2() = default;
  explicit Gpt2(const Gpt2Options& options, Generator& generator = default_generator());

  /// The logits of the token that follows each id.   ids int32 [B, T] -> [B, T, V].  Shorter texts are padded at the
  /// end with any id; causal attention ignores the padding. A probe records the layers "layers.0.self", …
  Tensor operator()(const Tensor& ids, Probe* probe = nullptr) const { return logits(states(ids, probe)); }
  /// The same without the output layer: the states of the last layer.   ids int32 [B, T] -> [B, T, width]
  Tensor states(const Tensor& ids, Probe* probe = nullptr) const;
  /// The output layer.   states [..., width] -> logits [..., V]
  Tensor logits(const Tensor& states) const;

  // The following functions run without gradients and without dropout. The result for a text does not depend on the
  // other texts of the batch.
  using Texts = std::span<const std::span<const std::int32_t>>;
  /// Reads packed sequences of any lengths in one pass.   -> states [sum of lengths, width]
  /// If `state` is given, it is replaced by the state of these texts, one row for each.
  Tensor read(Texts texts, Gpt2State* state = nullptr, Probe* probe = nullptr) const;
  /// Reads N texts, none of them empty.   -> logits [N, V] for the token that follows each text
  Tensor start(Texts texts, Gpt2State& state) const;
  /// Classifies N texts, none of them empty, from the state of their last token.   -> logits [N, labels]
  Tensor label(Texts texts, Probe* probe = nullptr) const;
  /// Reads one more token of each sequence.   ids int32 [N] -> logits [N, V] for the next token
  Tensor step(const Tensor& ids, Gpt2State& state, Probe* probe) const;

  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t max_positions() const override { return options.positions; }
  SequenceBytes sequence_bytes() const override {
    return {.token = options.layers * 2 * options.width * std::int64_t{sizeof(float)}};
  }
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;

  bool quantised() const { return tokens.scales.defined(); }  ///< whether the weight matrices are int8

  Config config() const override;
  /// With Hugging Face's names and shapes. A model without biases is stored with biases of 0; loading the folder drops
  /// them again.
  std::vector<NamedTensor> stored_parameters() override;
  std::string stored_name(std::string name) const;

  void visit(auto&& v) {
    v("transformer.wte", tokens), v("transformer.wpe.weight", positions);
    v("transformer.h", decoder.blocks), v("transformer.ln_f", decoder.final_norm);
    v("lm_head", output), v("score", labels);
  }

 private:
  Tensor embed(const Tensor& ids, const Tensor& places) const;
  Tensor read_last(Texts texts, Gpt2State& state, Probe* probe) const;  // [N, width]
};

/// Loads a model from config.json and the weights of a folder (see Weights). The names of the weights may begin with
/// "transformer." or not. With `mapped` the embedding tables stay in the mapped file (see borrow_parameters); such a
/// model can be run but not trained. Matrices are copied, since GPT-2's files hold them transposed. Throws InputError
/// if a parameter is missing or has another shape.
Gpt2 load_gpt2(const Config& config, const Weights& weights, bool mapped = false);
Gpt2 load_gpt2(const std::filesystem::path& folder, bool mapped = false);

/// Returns Hugging Face's c_attn: one layer with the weights of the query, key and value projections.
Linear joined_projections(const MultiHeadAttention& attention);

}  // namespace attend
