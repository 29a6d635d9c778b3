// The Transformer for translation (Vaswani et al. 2017), with the choices that its descendants made. As MarianMT's
// folders have it when only those of Marian are made: then parameters and configuration have Hugging Face's names.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/multi_head.h"
#include "attend/attention/positions.h"
#include "attend/formats/config.h"
#include "attend/nn/embedding.h"
#include "attend/nn/feed_forward.h"
#include "attend/nn/residual.h"

namespace attend {

/// "model_type" in config.json: Marian's where a model has nothing that Marian lacks.
constexpr std::string_view kMarianType = "marian";
constexpr std::string_view kTransformerType = "attend-transformer";

struct TransformerOptions {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t width = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_inner = 2048, decoder_inner = 2048;  ///< of the feed-forward networks
  Activation activation = Activation::silu;
  bool shared_embeddings = true;     ///< one table for both languages
  bool tied_output = true;           ///< the output multiplies with the target's embeddings
  bool scale_embedding = true;       ///< by √width
  std::int64_t max_positions = 512;  ///< tokens of a text at most
  float dropout = 0.1f;              ///< of embeddings, and of what each sub-layer adds
  float attention_dropout = 0.f;     ///< of attention weights
  float activation_dropout = 0.f;    ///< inside the feed-forward networks
  std::int32_t padding = 0;
  std::int32_t start = 0;  ///< stands before the first word of a translation
  std::int32_t end = 0;
  // What Marian lacks:
  bool pre_norm = false;           ///< normalise what enters a sub-layer, instead of what leaves it
  bool final_norm = false;         ///< normalise what leaves the last layer of each side; pre_norm needs it
  bool learned_positions = false;  ///< instead of sines and cosines

  /// Throws InputError, naming the key, where a Marian configuration wants what is not supported.
  static TransformerOptions read(const Config& config);
  void write(Config& config) const;
  /// kMarianType or kTransformerType.
  std::string_view type() const { return pre_norm || final_norm || learned_positions ? kTransformerType : kMarianType; }
};

struct EncoderLayer {
  MultiHeadAttention self_attention;
  FeedForward feed_forward;
  Residual around_attention, around_feed_forward;

  EncoderLayer(const TransformerOptions& options, Generator& generator);
  /// [B, S, width] -> [B, S, width]
  Tensor operator()(const Tensor& x, const Mask& mask, Probe* probe) const;
  void visit(auto&& v);
};

/// A translator in the middle of its sentences: what each hypothesis has read and said, in each layer of the decoder.
struct DecodingState {
  KeyValueCache source, target;

  /// From now on row i is what row rows[i] was. Rows may repeat, and may be left out.
  void select(std::span<const std::int64_t> rows) { source.select(rows), target.select(rows); }
};

struct DecoderLayer {
  MultiHeadAttention self_attention, cross_attention;
  FeedForward feed_forward;
  Residual around_self, around_cross, around_feed_forward;

  DecoderLayer(const TransformerOptions& options, Generator& generator);
  /// [B, T, width], the encoder's states [B, S, width] -> [B, T, width]
  Tensor operator()(const Tensor& x, const Tensor& states, const Mask& states_mask, Probe* probe) const;
  /// The next word of each row, as layer `index` of the decoder.   [N, width] -> [N, width]
  Tensor step(const Tensor& x, DecodingState& state, std::size_t index, Probe* probe) const;
  void visit(auto&& v);
};

struct Transformer {
  TransformerOptions options;
  Embedding shared_embedding;                    // of both sides, where they share one
  Embedding source_embedding, target_embedding;  // otherwise
  Tensor positions;                              // [max_positions, width]; no parameter unless learned
  Tensor source_positions, target_positions;     // learned ones
  std::vector<EncoderLayer> encoder;
  std::vector<DecoderLayer> decoder;
  LayerNorm encoder_norm, decoder_norm;  // with final_norm
  Tensor output;                         // [target_vocabulary, width], unless it is the target's embedding
  Tensor output_bias;                    // [1, target_vocabulary]

  Transformer() = default;
  explicit Transformer(const TransformerOptions& options, Generator& generator = default_generator());

  /// What the source means.   ids int32 [B, S], lengths int32 [B] -> [B, S, width];  a probe gets "encoder.0.self" …
  Tensor encode(const Tensor& ids, const Tensor& lengths, Probe* probe = nullptr) const;

  /// Teacher forcing: what is said after each of these words.   states [B, S, width] with their lengths [B], words
  /// int32 [B, T] -> logits [B, T, V];  a probe gets "decoder.0.self", "decoder.0.cross" …
  Tensor decode(const Tensor& states, const Tensor& lengths, const Tensor& words, Probe* probe = nullptr) const;
  /// What the logits are made of, for those who look at the attention only.   -> [B, T, width]
  Tensor decode_states(const Tensor& states, const Tensor& lengths, const Tensor& words, Probe* probe = nullptr) const;

  /// The same word by word, each step in the time of one word. What the encoder found out, [B, S, width] with lengths
  /// [B], becomes a state of one row a sentence.
  DecodingState start(const Tensor& states, const Tensor& lengths) const;
  /// What is said after the last words, int32 [N] -> logits [N, V]. The first step's word is options.start.
  /// Like start, without gradients and without dropout. A row's result depends on no other row.
  Tensor step(const Tensor& words, DecodingState& state, Probe* probe = nullptr) const;

  void visit(auto&& v) {
    v("model.shared", shared_embedding);
    v("model.encoder.embed_tokens", source_embedding), v("model.decoder.embed_tokens", target_embedding);
    if (options.shared_embeddings && !options.tied_output)  // beside an output of its own, Hugging Face ties nothing
      v("model.encoder.embed_tokens", shared_embedding), v("model.decoder.embed_tokens", shared_embedding);
    v("model.encoder.embed_positions.weight", source_positions);
    v("model.decoder.embed_positions.weight", target_positions);
    v("model.encoder.layers", encoder), v("model.decoder.layers", decoder);
    v("model.encoder.layer_norm", encoder_norm), v("model.decoder.layer_norm", decoder_norm);
    v("lm_head.weight", output), v("final_logits_bias", output_bias);
  }

 private:
  const Embedding& embedding_of(const Embedding& own) const {
    return options.shared_embeddings ? shared_embedding : own;
  }
  /// [B, T] -> [B, T, width]: words at the positions from `first` on.
  Tensor embed(const Embedding& words, const Tensor& positions, const Tensor& ids, std::int64_t first) const;
  /// [..., width] -> logits [..., V]
  Tensor say(const Tensor& x) const;
};

/// The model of a folder, MarianMT's or ours: config.json and the weights (see Weights). Of tied tables one name is
/// enough; the output's bias is 0 and positions are computed where the folder lacks them. With `mapped`, for models
/// that are only run, weights stay in the file (see borrow_parameters). Throws InputError for what is not complete.
Transformer load_transformer(const std::filesystem::path& folder, bool mapped = false);

// ---- how Hugging Face names the parts ----

inline void visit_attention(auto&& v, const std::string& name, MultiHeadAttention& attention) {
  v(name + ".q_proj", attention.query), v(name + ".k_proj", attention.key), v(name + ".v_proj", attention.value);
  v(name + ".out_proj", attention.output);
}

void EncoderLayer::visit(auto&& v) {
  visit_attention(v, "self_attn", self_attention);
  v("self_attn_layer_norm", around_attention);
  v("fc1", feed_forward.up), v("fc2", feed_forward.down);
  v("final_layer_norm", around_feed_forward);
}

void DecoderLayer::visit(auto&& v) {
  visit_attention(v, "self_attn", self_attention);
  v("self_attn_layer_norm", around_self);
  visit_attention(v, "encoder_attn", cross_attention);
  v("encoder_attn_layer_norm", around_cross);
  v("fc1", feed_forward.up), v("fc2", feed_forward.down);
  v("final_layer_norm", around_feed_forward);
}

}  // namespace attend
