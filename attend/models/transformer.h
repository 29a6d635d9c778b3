// The encoder–decoder Transformer (Vaswani et al. 2017) and its descendants. A family (Marian, BART, T5 …) is a file of
// its own: how its configuration is read and written, and how its parameters are named (see TransformerFamily).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/positions.h"
#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/model.h"
#include "attend/models/seq2seq_model.h"
#include "attend/nn/embedding.h"

namespace attend {

struct TransformerOptions;

/// What distinguishes the folders of one family from those of another.
struct TransformerFamily {
  std::string_view type;  ///< "model_type" in config.json
  /// Throws InputError, naming the key, where a configuration asks for what is not supported.
  void (*read)(const Config& config, TransformerOptions& options);
  void (*write)(const TransformerOptions& options, Config& config);
  struct Names {
    std::string_view prefix;      ///< of all parameters but the output's; folders of bare encoder–decoders lack it
    std::string_view layers;      ///< of the blocks of each side
    std::string_view final_norm;  ///< of each side
    BlockNames encoder, decoder;
    std::string_view relative_bias = "";  ///< of each side, behind `layers`
  } names;
  bool tied_unless_stored = false;  ///< the output layer is tied unless the folder has another, whatever it says
  bool whole_texts = false;         ///< see Seq2SeqSpec
};

extern const TransformerFamily kMarian;             ///< MarianMT
extern const TransformerFamily kAttendTransformer;  ///< the same with options that MarianMT lacks
extern const TransformerFamily kBart;
extern const TransformerFamily kT5;

struct TransformerOptions {
  const TransformerFamily* family = &kMarian;
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t width = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_inner = 2048, decoder_inner = 2048;  ///< of the feed-forward networks
  Activation activation = Activation::silu;
  bool shared_embeddings = true;     ///< one table for both sides
  bool tied_output = true;           ///< the output layer is the target's embedding
  bool scale_embedding = true;       ///< by √width
  std::int64_t max_positions = 512;  ///< tokens of a text; 0: any number
  float dropout = 0.1f;              ///< of embeddings and of the output of each sub-layer
  float attention_dropout = 0.f;     ///< of attention weights
  float activation_dropout = 0.f;    ///< inside the feed-forward networks
  std::int32_t padding = 0;
  std::int32_t start = 0;  ///< the decoder's first token
  std::int32_t end = 0;
  bool pre_norm = false;              ///< normalise the input of a sub-layer instead of the sum after it
  bool final_norm = false;            ///< normalise the output of the last layer of each side; pre_norm needs it
  bool embedding_norm = false;        ///< normalise the embeddings with their positions
  bool learned_positions = false;     ///< instead of sines and cosines
  std::int64_t position_offset = 0;   ///< unused first rows of a table of learned positions
  std::int64_t relative_buckets = 0;  ///< above 0: no positions are added; a learned bias on the scores (RelativeBias)
  std::int64_t relative_distance = 128;
  std::int64_t head_dim = 0;  ///< 0: width / heads
  bool scale_scores = true;   ///< by 1 / √head_dim
  bool gated = false;         ///< feed-forward networks with a gate
  bool bias = true;           ///< in linear layers
  NormOptions norm = {};
  bool output_bias = true;     ///< of the logits
  bool scale_output = false;   ///< the decoder's states by 1 / √width before the output layer
  bool final_dropout = false;  ///< of the states of each side

  /// By the "model_type" of the configuration, see the registry.
  static TransformerOptions read(const Config& config);
  /// Writes "model_type" and all that the family's `read` needs.
  void write(Config& config) const { family->write(*this, config); }
};

/// Sequences in the middle of their generation: keys and values of the sources, and of what was generated.
struct DecodingState : GenerationState {
  KeyValueCache source, target;
  std::vector<std::int64_t> lengths;  ///< of each row, in tokens that the decoder has read

  explicit DecodingState(std::int64_t layers = 0) : source(layers), target(layers) {}
  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

struct Transformer : ModelOf<Transformer>, Seq2SeqModel {
  TransformerOptions options;
  Embedding shared_embedding;                    // of both sides, where they share one
  Embedding source_embedding, target_embedding;  // otherwise
  Tensor positions;                              // [max_positions, width] of sinusoids, which are no parameter
  Tensor source_positions, target_positions;     // learned: [position_offset + max_positions, width]
  Norm source_norm, target_norm;                 // of the embeddings, with embedding_norm
  RelativeBias source_bias, target_bias;         // with relative_buckets
  TransformerStack encoder, decoder;
  Linear output;       // [target_vocabulary, width], unless it is tied
  Tensor output_bias;  // [1, target_vocabulary], or undefined

  Transformer() = default;
  explicit Transformer(const TransformerOptions& options, Generator& generator = default_generator());

  /// The encoder's states.   ids int32 [B, S] or features [B, S, width] in place of the tokens' embeddings, with
  /// lengths int32 [B] -> [B, S, width];  a probe gets "encoder.0.self" …
  Tensor encode(const Tensor& input, const Tensor& lengths, Probe* probe = nullptr) const;

  /// Teacher forcing: logits of the token that follows each of these.   states [B, S, width] with their lengths [B],
  /// ids int32 [B, T] -> [B, T, V];  a probe gets "decoder.0.self", "decoder.0.cross" …
  Tensor decode(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe = nullptr) const;
  /// The states that the logits are computed from, for callers that want the attention only.   -> [B, T, width]
  Tensor decode_states(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe = nullptr) const;

  Seq2SeqSpec spec() const override;
  Tensor logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const override;
  void record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids, Probe& probe) const override;

  // Generation, step by step, without gradients and without dropout. A row's result depends on no other row.
  std::int64_t vocabulary() const override { return options.target_vocabulary; }
  std::int64_t max_positions() const override { return options.max_positions; }
  SequenceBytes sequence_bytes() const override;
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;
  /// The same from an encoder's states, [B, S, width] with lengths [B]: a row for each, before its first token.
  DecodingState start(const Tensor& states, const Tensor& lengths) const;
  Tensor step(const Tensor& ids, DecodingState& state, Probe* probe) const;

  Config config() const override;

  void visit(auto&& v) {
    const TransformerFamily::Names& names = options.family->names;
    const auto side = [&](const char* part, std::string_view name) {
      return std::string(names.prefix) + part + "." + std::string(name);
    };
    v(std::string(names.prefix) + "shared", shared_embedding);
    v(side("encoder", "embed_tokens"), source_embedding), v(side("decoder", "embed_tokens"), target_embedding);
    if (options.shared_embeddings && !options.tied_output &&
        !options.family->tied_unless_stored)  // beside an output of its own, Hugging Face ties nothing
      v(side("encoder", "embed_tokens"), shared_embedding), v(side("decoder", "embed_tokens"), shared_embedding);
    v(side("encoder", "embed_positions.weight"), source_positions);
    v(side("decoder", "embed_positions.weight"), target_positions);
    v(side("encoder", "layernorm_embedding"), source_norm), v(side("decoder", "layernorm_embedding"), target_norm);
    v(side("encoder", names.layers), encoder.blocks), v(side("decoder", names.layers), decoder.blocks);
    const std::string relative = std::string(names.layers) + "." + std::string(names.relative_bias);
    v(side("encoder", relative), source_bias), v(side("decoder", relative), target_bias);
    v(side("encoder", names.final_norm), encoder.final_norm), v(side("decoder", names.final_norm), decoder.final_norm);
    v("lm_head", output), v("final_logits_bias", output_bias);
  }

 private:
  const Embedding& embedding_of(const Embedding& own) const {
    return options.shared_embeddings ? shared_embedding : own;
  }
  void check_length(std::int64_t tokens) const;
  /// Vectors of tokens [..., width] and of their positions, [T, width] or undefined -> what the first block reads.
  Tensor embed(const Tensor& tokens, const Tensor& places, const Norm& norm) const;
  /// The vectors of the first T positions; undefined where none are added.
  Tensor first_positions(const Tensor& learned, std::int64_t T) const;
  Tensor project(const Tensor& states) const;  // [..., width] -> logits [..., V]
};

/// The keys that Marian, BART and most other families share: sizes, activation, dropout, token ids.
void read_transformer_sizes(const Config& config, TransformerOptions& options);
void write_transformer_sizes(const TransformerOptions& options, Config& config);
/// Throws InputError unless a flag of a configuration has this value, or is missing.
void must_be(const Config& config, const char* key, bool expected);
/// A token id of a configuration. Throws InputError unless it is in the target's vocabulary.
std::int32_t read_token_id(const Config& config, const char* key, std::int64_t otherwise,
                           const TransformerOptions& options);

/// The model of a folder of this family: config.json and the weights (see Weights). Of tied tables one name is enough;
/// the output's bias is 0 and sinusoids are computed where the folder lacks them. With `mapped`, for models that are
/// only run, weights stay in the file (see borrow_parameters). Throws InputError for what is not complete.
Transformer load_transformer(const Config& config, const Weights& weights, const TransformerFamily& family,
                             bool mapped = false);
Transformer load_transformer(const std::filesystem::path& folder, bool mapped = false);

}  // namespace attend
