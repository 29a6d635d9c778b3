// The encoder–decoder Transformer (Vaswani et al. 2017) and the models based on it. Each family (Marian, BART, T5, …)
// has a source file of its own. It reads and writes config.json and names the parameters (see TransformerFamily).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/pointer.h"
#include "attend/attention/positions.h"
#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/model.h"
#include "attend/models/seq2seq_model.h"
#include "attend/nn/embedding.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/pointer.h"

namespace attend {

struct TransformerOptions;

/// The folder format of a family.
struct TransformerFamily {
  std::string_view type;        ///< "model_type" in config.json
  std::string_view class_name;  ///< in transformers; empty: it has none
  /// Throws InputError, naming the key, if a value in config.json is not supported.
  void (*read)(const Config& config, TransformerOptions& options);
  void (*write)(const TransformerOptions& options, Config& config);
  struct Names {
    std::string_view prefix;      ///< of all parameters except the output layer; folders without that layer omit it
    std::string_view layers;      ///< the list of blocks, in the encoder and in the decoder
    std::string_view final_norm;  ///< in the encoder and in the decoder
    BlockNames encoder, decoder;
    std::string_view relative_bias = "";  ///< in the encoder and in the decoder, appended to `layers`
  } names;
  bool tied_unless_stored = false;  ///< ignore "tie_word_embeddings": the output layer is tied unless the weights of
                                    ///< the folder include a different lm_head
  bool whole_texts = false;         ///< see Seq2SeqSpec
  bool stores_positions = false;    ///< transformers expects sinusoidal positions in the weights
};

extern const TransformerFamily kMarian;             ///< MarianMT
extern const TransformerFamily kAttendTransformer;  ///< like MarianMT, with options that MarianMT does not have
extern const TransformerFamily kBart;
extern const TransformerFamily kMbart;  ///< mBART-50 and mBART
extern const TransformerFamily kPegasus;
extern const TransformerFamily kM2m100;  ///< M2M-100 and NLLB-200
extern const TransformerFamily kT5;
extern const TransformerFamily kGatedT5;  ///< T5 with the parameter names of gated feed-forward networks
extern const TransformerFamily kMt5;

struct TransformerOptions {
  const TransformerFamily* family = &kMarian;
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t width = 512;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::int64_t encoder_heads = 8, decoder_heads = 8;
  std::int64_t encoder_inner = 2048, decoder_inner = 2048;  ///< width inside the feed-forward networks
  Activation activation = Activation::silu;
  bool shared_embeddings = true;     ///< encoder and decoder share one embedding table
  bool tied_output = true;           ///< the output layer uses the weights of the target embedding
  bool scale_embedding = true;       ///< multiply the embeddings by √width
  std::int64_t max_positions = 512;  ///< the maximum length of a sequence in tokens; 0: no limit
  float dropout = 0.1f;              ///< on the embeddings and on the output of each sub-layer
  float attention_dropout = 0.f;     ///< on the attention weights
  float activation_dropout = 0.f;    ///< on the activations inside the feed-forward networks
  std::int32_t padding = 0;
  std::int32_t start = 0;  ///< the decoder's first token
  std::int32_t end = 0;
  bool pre_norm = false;             ///< normalise the input of each sub-layer instead of the residual sum after it
  bool final_norm = false;           ///< normalise the output of encoder and decoder; required by pre_norm
  bool embedding_norm = false;       ///< normalise the sum of token and position embeddings
  bool learned_positions = false;    ///< learned position embeddings instead of sinusoidal ones
  std::int64_t position_offset = 0;  ///< the position of the first token: it uses this row of the position table
  PositionLayout position_layout = PositionLayout::halves;  ///< of sinusoidal positions
  std::int64_t relative_buckets = 0;  ///< above 0: a learned bias on the attention scores (see RelativeBias) instead of
                                      ///< position embeddings
  std::int64_t relative_distance = 128;  ///< the largest distance that RelativeBias distinguishes
  std::int64_t head_dim = 0;             ///< 0: width / heads
  bool scale_scores = true;              ///< multiply the attention scores by 1 / √head_dim
  bool gated = false;                    ///< gated feed-forward networks (GLU)
  bool bias = true;                      ///< linear layers have a bias
  NormOptions norm = {};
  bool output_bias = true;     ///< the logits have a bias
  bool scale_output = false;   ///< multiply the decoder's states by 1 / √width before the output layer
  bool final_dropout = false;  ///< apply dropout to the output of encoder and decoder
  bool pointer = false;        ///< the decoder may copy tokens of the source (see Pointer); needs shared_embeddings
  /// Layers of a bidirectional LSTM that read the source before the encoder's blocks and add to its
  /// embeddings, in place of positions. They need less data than self-attention to learn what the order of words means.
  std::int64_t recurrent_layers = 0;
  /// The ids of the source are those of text in lower case plus source_vocabulary · LetterCase (see ids_with_case()),
  /// and each case has an embedding.
  bool source_case = false;

  /// Reads config.json of any family that the registry knows.
  static TransformerOptions read(const Config& config);
  /// Writes "model_type" and all keys that the family's `read` needs.
  void write(Config& config) const { family->write(*this, config); }
};

/// The state of a batch during generation: the keys and values of cross-attention and of self-attention.
struct DecodingState : GenerationState {
  KeyValueCache source, target;       ///< with a pointer, its keys and values are the last layer of `source`
  PointerSources copied;              ///< with a pointer: the source of each sequence
  std::vector<std::int64_t> lengths;  ///< of each sequence, in tokens that the decoder has read

  explicit DecodingState(std::int64_t layers = 0, bool pointer = false)
      : source(layers + (pointer ? 1 : 0)), target(layers) {}
  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

/// The results of teacher forcing.
struct Predictions {
  Tensor logits;   ///< [B, T, V]
  Tensor copying;  ///< the pointer's weights [B, T, S]; undefined without a pointer
};

struct Transformer : ModelOf<Transformer>, Seq2SeqModel {
  TransformerOptions options;
  Embedding shared_embedding;                    // with shared_embeddings
  Embedding source_embedding, target_embedding;  // without shared_embeddings
  Embedding case_embedding;                      // [kLetterCases, width], with source_case
  Tensor positions;  // [max_positions, width], sinusoidal, from position_offset; not a parameter
  Tensor source_positions, target_positions;  // [position_offset + max_positions, width], with learned_positions
  Norm source_norm, target_norm;              // with embedding_norm
  RelativeBias source_bias, target_bias;      // with relative_buckets
  Recurrent recurrent;                        // with recurrent_layers
  TransformerStack encoder, decoder;
  Linear output;       // [target_vocabulary, width]; undefined if it is tied
  Tensor output_bias;  // [1, target_vocabulary], or undefined
  Pointer pointer;     // with options.pointer

  Transformer() = default;
  explicit Transformer(const TransformerOptions& options, Generator& generator = default_generator());

  /// Runs the encoder on ids int32 [B, S], or on features [B, S, width] that replace the token embeddings.
  /// lengths int32 [B] -> states [B, S, width].  A probe records the layers "encoder.0.self", …
  Tensor encode(const Tensor& input, const Tensor& lengths, Probe* probe = nullptr) const;

  /// Teacher forcing: the logits of the token that follows each id.
  /// states [B, S, width], lengths int32 [B], ids int32 [B, T] -> [B, T, V].  A probe records "decoder.0.self",
  /// "decoder.0.cross", …  With a pointer, use predict().
  Tensor decode(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe = nullptr) const;
  /// The same without the output layer: the decoder's states [B, T, width].
  Tensor decode_states(const Tensor& states, const Tensor& lengths, const Tensor& ids, Probe* probe = nullptr) const;
  /// Encodes and decodes. With a pointer, the logits are log-probabilities, and the probe records the weights of the
  /// pointer as one more layer of cross-attention, of which all heads are the same.
  Predictions predict(const Tensor& sources, const Tensor& lengths, const Tensor& ids, Probe* probe = nullptr) const;

  Seq2SeqSpec spec() const override;
  Tensor logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const override;
  void record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids, Probe& probe) const override;

  // Generation step by step: see GenerativeModel.
  std::int64_t vocabulary() const override { return options.target_vocabulary; }
  std::int64_t max_positions() const override { return options.max_positions; }
  SequenceBytes sequence_bytes() const override;
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;
  /// Starts from encoder states [B, S, width] with lengths int32 [B]. No token has been read yet. A pointer needs the
  /// ids of the sources, int32 [B, S].
  DecodingState start(const Tensor& states, const Tensor& lengths, const Tensor& sources = {}) const;
  Tensor step(const Tensor& ids, DecodingState& state, Probe* probe) const;

  Config config() const override;
  std::vector<NamedTensor> stored_parameters() override;

  void visit(auto&& v) {
    const TransformerFamily::Names& names = options.family->names;
    const auto side = [&](const char* part, std::string_view name) {
      return std::string(names.prefix) + part + "." + std::string(name);
    };
    v(std::string(names.prefix) + "shared", shared_embedding);
    v(side("encoder", "embed_tokens"), source_embedding), v(side("decoder", "embed_tokens"), target_embedding);
    if (options.shared_embeddings && !options.tied_output &&
        !options.family->tied_unless_stored)  // with an untied output, Hugging Face stores the embedding three times
      v(side("encoder", "embed_tokens"), shared_embedding), v(side("decoder", "embed_tokens"), shared_embedding);
    v(side("encoder", "embed_case"), case_embedding);
    v(side("encoder", "embed_positions.weight"), source_positions);
    v(side("decoder", "embed_positions.weight"), target_positions);
    v(side("encoder", "layernorm_embedding"), source_norm), v(side("decoder", "layernorm_embedding"), target_norm);
    v(side("encoder", "recurrent"), recurrent);
    v(side("encoder", names.layers), encoder.blocks), v(side("decoder", names.layers), decoder.blocks);
    const std::string relative = std::string(names.layers) + "." + std::string(names.relative_bias);
    v(side("encoder", relative), source_bias), v(side("decoder", relative), target_bias);
    v(side("encoder", names.final_norm), encoder.final_norm), v(side("decoder", names.final_norm), decoder.final_norm);
    v("lm_head", output), v("final_logits_bias", output_bias), v("pointer", pointer);
  }

 private:
  const Embedding& embedding_of(const Embedding& own) const {
    return options.shared_embeddings ? shared_embedding : own;
  }
  void check_length(std::int64_t tokens) const;
  /// What the pointer can copy from sources int32 [B, S]: their tokens without letter case.
  PointerSources copied_from(const Tensor& sources, const Tensor& lengths) const;
  /// Adds token embeddings [..., width] and position embeddings [T, width] (or undefined), applies norm and dropout.
  Tensor embed(const Tensor& tokens, const Tensor& places, const Norm& norm) const;
  /// The embeddings of the first T positions, [T, width]; undefined with relative positions.
  Tensor first_positions(const Tensor& learned, std::int64_t T) const;
  /// Records the weights [B, T, S] of the pointer, once for each head.
  void record_pointer(const Tensor& weights, Probe* probe) const;
  Tensor project(const Tensor& states) const;  // [..., width] -> logits [..., V]
};

/// What the configuration class of a family in transformers assumes for keys that config.json does not have.
struct TransformerDefaults {
  Activation activation = Activation::gelu;
  bool scale_embedding = false;
  double attention_dropout = 0;
  std::optional<std::int64_t> padding = {};  ///< empty: the last token
  std::optional<std::int64_t> start = {};    ///< empty: padding
  std::int64_t end = 0;
};
/// Read and write the keys that all families but T5's share: sizes, activation, dropout, token ids.
void read_transformer_sizes(const Config& config, TransformerOptions& options,
                            const TransformerDefaults& defaults = {});
void write_transformer_sizes(const TransformerOptions& options, Config& config);
/// Older folders have keys for what the family determines, such as "normalize_before". transformers ignores these keys.
/// Throws InputError if one of them has another value than that of the options.
void check_architecture(const Config& config, const TransformerOptions& options);
/// Throws InputError if a boolean key of config.json is present and has another value.
void must_be(const Config& config, const char* key, bool expected);
/// Writes "model_type" and "architectures".
void write_family(const TransformerFamily& family, Config& config);
/// Reads a token id; `otherwise` is its default. Throws InputError if the id is not in the target vocabulary.
std::int32_t read_token_id(const Config& config, const char* key, std::int64_t otherwise,
                           const TransformerOptions& options);

/// Loads a model from config.json and the weights of a folder (see Weights). A tied table may be stored under any of
/// its names. If the folder has no output bias, it is 0; if it has no sinusoidal positions, they are computed. With
/// `mapped` the weights stay in the mapped file (see borrow_parameters); such a model can be run but not trained.
/// Throws InputError if a parameter is missing or has another shape.
Transformer load_transformer(const Config& config, const Weights& weights, const TransformerFamily& family,
                             bool mapped = false);
Transformer load_transformer(const std::filesystem::path& folder, bool mapped = false);

}  // namespace attend
