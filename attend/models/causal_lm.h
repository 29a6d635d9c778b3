// Decoder-only Transformers that predict the next token: GPT-2 (Radford et al. 2019), Llama and the models after it. A
// family is a value in a source file of its own, which reads and writes config.json and names the parameters (see
// CausalLmFamily). Reads and writes the folders of Hugging Face's …ForCausalLM and …ForSequenceClassification.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/formats/config.h"
#include "attend/models/block.h"
#include "attend/models/generative_model.h"
#include "attend/models/model.h"
#include "attend/models/rotary_scaling.h"
#include "attend/nn/embedding.h"

namespace attend {

struct CausalLmOptions;

/// How a folder stores the matrices of the blocks.
enum class StoredMatrices : std::uint8_t {
  plain,           ///< [out, in]
  transposed,      ///< [in, out], as Hugging Face's Conv1D in GPT-2
  joined_by_head,  ///< queries, keys and values in one matrix: first those of head 0, then of head 1, … (GPT-NeoX)
};

/// One "model_type".
struct CausalLmFamily {
  std::string_view type;        ///< "model_type" in config.json
  std::string_view class_name;  ///< prefix of the class names in `transformers`: "Llama"
  std::string_view lm_class = "ForCausalLM";
  /// Throws InputError, naming the key, if a value in config.json is not supported.
  void (*read)(const Config& config, CausalLmOptions& options);
  void (*write)(const CausalLmOptions& options, Config& config);
  struct Names {
    const char* prefix = "model.";  ///< of all parameters except the heads; folders without a head may omit it
    const char *embedding = "embed_tokens", *positions = "", *layers = "layers", *final_norm = "norm";
    const char* output = "lm_head";
    BlockNames block;
    /// The endings of such names of tensors that hold several parameters. What follows, "query" or "gate", names a
    /// part.
    std::span<const std::string_view> joined = {};
    const char* layers_key = "num_hidden_layers";
  } names;
  StoredMatrices matrices = StoredMatrices::plain;
  bool stores_biases = false;  ///< folders always have biases: a model without them is stored with biases of 0
};

/// The names of Llama's blocks, which most families have.
inline constexpr BlockNames kLlamaBlock = {
    .self = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "input_layernorm"},
    .up = "mlp.up_proj",
    .gate = "mlp.gate_proj",
    .down = "mlp.down_proj",
    .feed_forward_norm = "post_attention_layernorm"};

extern const CausalLmFamily kGpt2, kGptNeox, kLlama, kMistral, kQwen2, kQwen3, kSmolLm3, kGemma2, kPhi3;

struct CausalLmOptions {
  const CausalLmFamily* family = &kGpt2;
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;  ///< the maximum length of a text in tokens
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t kv_heads = 0;  ///< key and value heads; 0: the same as `heads`
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t inner = 0;     ///< width inside the feed-forward networks; 0: 4 · width
  Activation activation = Activation::gelu_tanh;
  bool gated = false;  ///< gated feed-forward networks (GLU)
  NormOptions norm = {};
  bool head_norm = false;    ///< RMS norms of the queries and keys of each head
  bool output_norm = false;  ///< also norms of the output of each sub-layer
  bool parallel = false;     ///< attention and feed-forward network of a block read the same input
  bool attention_bias = true, attention_output_bias = true, feed_forward_bias = true;
  std::optional<RotaryParameters> rotary = {};  ///< rotary positions; empty: learned positions
  std::vector<bool> rotates = {};               ///< of each layer: whether it has rotary positions; empty: all have
  std::vector<std::int64_t> windows = {};   ///< of each layer: the largest distance of attention, -1: no limit; empty:
                                            ///< no limits
  float score_cap = 0.f;                    ///< above 0: an attention score s becomes score_cap · tanh(s / score_cap)
  float logit_cap = 0.f;                    ///< the same for the logits
  bool scale_attention = true;              ///< multiply the attention scores by 1 / √head_dim
  std::optional<double> score_scalar = {};  ///< by 1 / √score_scalar instead
  bool scale_by_inverse_layer = false;      ///< also multiply those of layer i, counted from 0, by 1 / (i + 1)
  bool scale_embedding = false;             ///< multiply the embeddings by √width
  float deviation = 0.02f;                  ///< the standard deviation of the initial weights
  bool scaled_residuals = true;    ///< smaller initial weights for layers whose output is added to the residual
  float dropout = 0.1f;            ///< on the output of each sub-layer
  float embedding_dropout = 0.1f;  ///< on the embeddings
  float attention_dropout = 0.1f;  ///< on the attention weights
  bool tied_output = true;         ///< the output layer uses the weights of the embedding
  std::int32_t start = 50256;      ///< the prompt of a text that begins with nothing
  std::vector<std::int32_t> ends = {50256};  ///< the tokens that end a text, at least one
  std::vector<std::string> labels = {};      ///< the classes of a …ForSequenceClassification; empty: a language model
  bool several_labels = false;               ///< multi-label classification: each label is independent of the others

  std::int64_t inner_width() const { return inner > 0 ? inner : 4 * width; }
  std::int64_t head_width() const { return head_dim > 0 ? head_dim : width / heads; }
  std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  std::int32_t end() const { return ends.front(); }
  /// Sets the biases of all layers and norms.
  void set_biases(bool on) { attention_bias = attention_output_bias = feed_forward_bias = norm.bias = on; }
  /// The options of a new model of a family, as far as the family decides them.
  static CausalLmOptions of(const CausalLmFamily& family);
  /// Throws InputError, naming the key, if a value in config.json is not supported.
  static CausalLmOptions read(const Config& config, const CausalLmFamily& family);
  static CausalLmOptions read(const Config& config);  ///< of any family that the registry knows
  void write(Config& config) const;
};

/// The state of a batch of sequences during generation.
struct CausalLmState : GenerationState {
  KeyValueCache cache;
  std::vector<std::int64_t> lengths;  ///< of each sequence, in tokens
  /// The tokens of each sequence, if long texts have other rotary frequencies (see RotaryAngles::short_length).
  std::vector<std::vector<std::int32_t>> texts;

  explicit CausalLmState(std::int64_t layers = 0) : cache(layers) {}
  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

struct CausalLm : ModelOf<CausalLm>, GenerativeModel {
  CausalLmOptions options;
  Embedding tokens;     // [vocabulary, width]
  Tensor positions;     // [positions, width]; undefined with rotary positions
  RotaryAngles angles;  // with rotary positions
  TransformerStack decoder;
  Linear output;  // [vocabulary, width]; undefined if it is tied
  Linear labels;  // [labels, width]; undefined in a language model

  CausalLm() = default;
  explicit CausalLm(const CausalLmOptions& options, Generator& generator = default_generator());

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
  Tensor read(Texts texts, CausalLmState* state = nullptr, Probe* probe = nullptr) const;
  /// Reads N texts, none of them empty.   -> logits [N, V] for the token that follows each text
  Tensor start(Texts texts, CausalLmState& state) const;
  /// Classifies N texts, none of them empty, from the state of their last token.   -> logits [N, labels]
  Tensor label(Texts texts, Probe* probe = nullptr) const;
  /// Reads one more token of each sequence.   ids int32 [N] -> logits [N, V] for the next token
  Tensor step(const Tensor& ids, CausalLmState& state, Probe* probe) const;

  std::int64_t row_groups() const override {
    return options.family->matrices == StoredMatrices::joined_by_head ? options.heads : 1;
  }
  std::int64_t vocabulary() const override { return options.vocabulary; }
  std::int64_t max_positions() const override { return options.positions; }
  SequenceBytes sequence_bytes() const override {
    return {.token = options.layers * 2 * options.key_heads() * options.head_width() * std::int64_t{sizeof(float)}};
  }
  std::int64_t unread(const GenerationInput& input) const override;
  /// If all prompts are long, with more than kernels::kFewRows tokens, the logits of a prompt have the same bits
  /// whatever the other prompts are and however many of its tokens come from GenerationInput::prefixes.
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;

  bool quantised() const { return tokens.scales.defined(); }  ///< whether the weight matrices are int8

  Config config() const override;
  /// With Hugging Face's names and shapes. A model without biases is stored with biases of 0; loading the folder drops
  /// them again.
  std::vector<NamedTensor> stored_parameters() override;
  std::string stored_name(std::string name) const;

  void visit(auto&& v) {
    const CausalLmFamily::Names& names = options.family->names;
    const std::string prefix = names.prefix;
    v(prefix + names.embedding, tokens), v(prefix + names.positions + ".weight", positions);
    v(prefix + names.layers, decoder.blocks), v(prefix + names.final_norm, decoder.final_norm);
    v(names.output, output), v("score", labels);
  }

 private:
  Tensor embed(const Tensor& ids, const Tensor& places) const;
  Tensor run(const Tensor& ids, std::span<const std::int32_t> places, std::span<const std::int64_t> lengths_of_texts,
             BlockPass pass) const;
  Tensor advance(const Tensor& ids, CausalLmState& state, Probe* probe) const;
  Tensor advance_over(std::int64_t most, const Tensor& ids, CausalLmState& state, Probe* probe) const;
  StartedGeneration start_long(std::span<const GenerationInput> inputs) const;
  std::int64_t kind_of(std::size_t length) const;
  void check_length(std::span<const std::int32_t> text) const;
  Tensor read_last(Texts texts, CausalLmState& state, Probe* probe) const;  // [N, width]
};

/// Loads a model from config.json and the weights of a folder (see Weights). The names of the weights may have the
/// family's prefix or not. With `mapped` the weights stay in the mapped file, in float32, float16 or bfloat16 (see
/// borrow_parameters), except for matrices that are stored in another order; such a model can be run but not trained.
/// Throws InputError if a parameter is missing or has another shape.
CausalLm load_causal_lm(const Config& config, const Weights& weights, const CausalLmFamily& family,
                        bool mapped = false);
CausalLm load_causal_lm(const std::filesystem::path& folder, bool mapped = false);

/// [m, n] -> [n, m]
Tensor transposed(const Tensor& matrix);
/// One layer with the weights of the query, key and value projections, as Hugging Face's c_attn.
Linear joined_projections(const MultiHeadAttention& attention);

// ---- What the readers and writers of families share ----

/// Read and write the keys that most families share. The current values of the options are the defaults.
void read_causal_lm_keys(const Config& config, CausalLmOptions& options);
void write_causal_lm_keys(const CausalLmOptions& options, Config& config);
/// Reads the rotary positions: "rope_parameters", or the keys that older folders have.
RotaryParameters read_rotary(const Config& config, std::int64_t positions, const RotaryParameters& defaults);
void write_rotary(const CausalLmOptions& options, Config& config);
/// Reads "bos_token_id" and "eos_token_id" (a number or a list). Without them, or if the default is not in the
/// vocabulary, it is the last token.
void read_text_ends(const Config& config, CausalLmOptions& options);
void write_text_ends(const CausalLmOptions& options, Config& config);
/// Reads the windows of all layers. "layer_types", or else sliding(config, i), says whether layer i has the window of
/// "sliding_window", which counts the query's own token. `otherwise` is the default of the latter; 0: no window.
void read_windows(const Config& config, CausalLmOptions& options, std::int64_t otherwise,
                  bool (*sliding)(const Config& config, std::int64_t i));
/// Writes them; with `by_layer` also "layer_types".
void write_windows(const CausalLmOptions& options, Config& config, bool by_layer);
bool is_qwen_window(const Config& config, std::int64_t layer);  ///< `sliding` of Qwen2 and Qwen3
/// Throws InputError unless a flag of config.json has the expected value.
void require_flag(const Config& config, const char* key, bool expected);

}  // namespace attend
