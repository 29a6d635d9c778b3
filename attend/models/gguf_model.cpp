#include "attend/models/gguf_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <optional>
#include <set>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/formats/stored_tensor.h"
#include "attend/models/bounds.h"
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

using Layout = std::function<Tensor(const Tensor&)>;

// ---- layouts that differ from those of Hugging Face ----

/// Row i of the result is row source(i) of x.   x [R, ...], of any dtype
template <typename Source>
Tensor rows_from(const Tensor& x, Source source) {
  Tensor y = Tensor::like(x);
  const std::int64_t rows = x.dim(0);
  const std::size_t bytes = rows > 0 ? x.bytes() / static_cast<std::size_t>(rows) : 0;
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(y.raw() + static_cast<std::size_t>(i) * bytes, x.raw() + static_cast<std::size_t>(source(i)) * bytes,
                bytes);
  return y;
}

void check_rows(const Tensor& x, std::int64_t parts) {
  if (x.rank() == 0 || x.dim(0) % parts != 0)
    fail<InputError>("load", "a projection of shape ", x.shape(), " of the GGUF file cannot be divided into ", parts,
                     " parts of equal size");
}

/// Llama's queries and keys: llama.cpp rotates features 2j and 2j + 1 of a head together, Hugging Face j and j + half.
Layout rotary_halves(std::int64_t heads) {
  return [heads](const Tensor& x) {
    check_rows(x, 2 * heads);
    const std::int64_t size = x.dim(0) / heads, half = size / 2;
    return rows_from(x, [=](std::int64_t i) { return i / size * size + i % half * 2 + i % size / half; });
  };
}

/// GPT-NeoX: llama.cpp has all queries, then all keys, then all values; Hugging Face those of each head together.
Layout joined_by_head(std::int64_t heads) {
  return [heads](const Tensor& x) {
    check_rows(x, 3 * heads);
    const std::int64_t width = x.dim(0) / 3, size = width / heads;
    return rows_from(x, [=](std::int64_t i) { return i / size % 3 * width + i / (3 * size) * size + i % size; });
  };
}

/// GPT-2's matrices are [in, out] in Hugging Face's folders.
Tensor transposed_matrix(const Tensor& x) { return x.rank() == 2 ? transposed(convert(x, DType::f32)) : x; }

/// Gemma's gains are 1 + w; llama.cpp stores the sum.
Tensor without_one(const Tensor& stored) {
  const Tensor x = convert(stored, DType::f32);
  Tensor y = Tensor::like(x);
  std::ranges::transform(x.span(), y.data(), [](float value) { return value - 1.f; });
  return y;
}

// ---- the architectures ----

struct Name {
  std::string_view gguf, folder;
};

/// A conversion of config.json's keys, which all have the architecture as a prefix in the metadata.
class ConfigWriter {
 public:
  ConfigWriter(const GgufFile& file, Config& config)
      : file_(file), config_(config), prefix_(file.metadata().text("general.architecture") + ".") {}

  const GgufFile& file() const { return file_; }
  Config& config() { return config_; }
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.metadata().has(key(name)); }
  std::int64_t integer(std::string_view name, std::optional<std::int64_t> fallback = {}) const {
    return file_.metadata().integer(key(name), fallback);
  }
  double number(std::string_view name, std::optional<double> fallback = {}) const {
    return file_.metadata().number(key(name), fallback);
  }
  bool flag(std::string_view name, bool fallback) const { return file_.metadata().flag(key(name), fallback); }

  void integer_key(const char* to, std::string_view from) {
    if (has(from)) config_.set(to, integer(from));
  }
  void number_key(const char* to, std::string_view from) {
    if (has(from)) config_.set(to, static_cast<float>(number(from)));
  }
  /// 0 means that there is no window.
  void window_key() {
    if (integer("attention.sliding_window", 0) > 0) integer_key("sliding_window", "attention.sliding_window");
  }
  std::int64_t heads() const { return positive("attention.head_count"); }
  /// The number of features of a head.
  std::int64_t head_dim() const {
    return has("attention.key_length") ? positive("attention.key_length") : positive("embedding_length") / heads();
  }
  std::int64_t positive(std::string_view name) const {
    const std::int64_t value = integer(name);
    if (value < 1 || value > bounds::kWidth)
      fail<InputError>("load", file_.metadata().file(), ": the key \"", key(name), "\" is out of range: got ", value);
    return value;
  }

 private:
  const GgufFile& file_;
  Config& config_;
  std::string prefix_;
};

struct Architecture {
  std::string_view name, type, class_name;
  std::string_view prefix = "model.", layers = "layers";
  std::span<const Name> outside, inside;  ///< of tensors outside and inside of the blocks
  void (*config)(ConfigWriter& writer);
  /// The layout of a tensor, by its name in a block, or outside of the blocks; null: Hugging Face's.
  Layout (*layout)(const GgufFile& file, std::string_view name) = [](const GgufFile&, std::string_view) {
    return Layout();
  };
};

constexpr Name kOutside[] = {{"token_embd", "embed_tokens"}, {"output_norm", "norm"}, {"output", "lm_head"}};
constexpr Name kInside[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                            {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                            {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
                            {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
                            {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                            {"ffn_down", "mlp.down_proj"}};
constexpr Name kGemmaInside[] = {{"attn_norm", "input_layernorm"},
                                 {"attn_q", "self_attn.q_proj"},
                                 {"attn_k", "self_attn.k_proj"},
                                 {"attn_v", "self_attn.v_proj"},
                                 {"attn_output", "self_attn.o_proj"},
                                 {"post_attention_norm", "post_attention_layernorm"},
                                 {"ffn_norm", "pre_feedforward_layernorm"},
                                 {"post_ffw_norm", "post_feedforward_layernorm"},
                                 {"ffn_gate", "mlp.gate_proj"},
                                 {"ffn_up", "mlp.up_proj"},
                                 {"ffn_down", "mlp.down_proj"}};
constexpr Name kPhiInside[] = {{"attn_norm", "input_layernorm"},    {"attn_qkv", "self_attn.qkv_proj"},
                               {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                               {"ffn_up", "mlp.gate_up_proj"},      {"ffn_down", "mlp.down_proj"}};
constexpr Name kNeoxOutside[] = {
    {"token_embd", "embed_in"}, {"output_norm", "final_layer_norm"}, {"output", "embed_out"}};
constexpr Name kNeoxInside[] = {{"attn_norm", "input_layernorm"},   {"attn_qkv", "attention.query_key_value"},
                                {"attn_output", "attention.dense"}, {"ffn_norm", "post_attention_layernorm"},
                                {"ffn_up", "mlp.dense_h_to_4h"},    {"ffn_down", "mlp.dense_4h_to_h"}};
constexpr Name kGpt2Outside[] = {
    {"token_embd", "wte"}, {"position_embd", "wpe"}, {"output_norm", "ln_f"}, {"output", "lm_head"}};
constexpr Name kGpt2Inside[] = {{"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
                                {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"}};
/// Tensors that become part of config.json.
constexpr std::string_view kRotaryFactors = "rope_freqs.weight", kShortFactors = "rope_factors_short.weight",
                           kLongFactors = "rope_factors_long.weight";

std::string json_list(const Tensor& values) {
  std::string list = "[";
  char number[32];
  for (const float value : convert(values, DType::f32).span()) {
    std::snprintf(number, sizeof number, "%s%.9g", list.size() > 1 ? ", " : "", static_cast<double>(value));
    list += number;
  }
  return list + "]";
}

/// The factors of Llama 3.1's rotary scaling, as llama.cpp computes them; empty if these are others.
std::optional<Config> llama3_scaling(const Tensor& factors, double theta, std::int64_t rotated) {
  constexpr double kOriginal = 8192, kLow = 1, kHigh = 4;
  const Tensor values = convert(factors, DType::f32);
  const double most = *std::ranges::max_element(values.span());
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double turns = kOriginal / (2 * std::numbers::pi *
                                      std::pow(theta, 2. * static_cast<double>(i) / static_cast<double>(rotated)));
    const double smooth = std::clamp((turns - kLow) / (kHigh - kLow), 0., 1.);
    if (std::abs(values.data()[i] * ((1 - smooth) / most + smooth) - 1) > 1e-3) return {};
  }
  Config scaling;
  scaling.set("rope_type", "llama3"), scaling.set("factor", static_cast<float>(most));
  scaling.set("low_freq_factor", kLow), scaling.set("high_freq_factor", kHigh);
  scaling.set("original_max_position_embeddings", static_cast<std::int64_t>(kOriginal));
  return scaling;
}

/// Long-context factors of each frequency, for texts up to the original length and for longer ones.
Config longrope(const Tensor& small, const Tensor& large, std::int64_t original, std::optional<double> magnitude) {
  std::string json = "{\"rope_type\": \"longrope\", \"short_factor\": " + json_list(small) +
                     ", \"long_factor\": " + json_list(large) +
                     ", \"original_max_position_embeddings\": " + std::to_string(original);
  if (magnitude) json += ", \"attention_factor\": " + std::to_string(*magnitude);
  return Config::parse(json + "}", "rope_scaling");
}

void write_rotary_scaling(ConfigWriter& w) {
  const GgufFile& file = w.file();
  const std::int64_t original = w.integer("rope.scaling.original_context_length", w.integer("context_length"));
  if (file.contains(kRotaryFactors)) {
    const Tensor factors = file.get(kRotaryFactors);
    const auto known = factors.numel() > 0 ? llama3_scaling(factors, w.number("rope.freq_base", 10000.),
                                                            w.integer("rope.dimension_count", w.head_dim()))
                                           : std::nullopt;
    w.config().set("rope_scaling", known ? *known : longrope(factors, factors, original, 1.));
    return;
  }
  if (file.contains(kShortFactors) && file.contains(kLongFactors)) {
    std::optional<double> magnitude;
    if (w.has("rope.scaling.attn_factor")) magnitude = w.number("rope.scaling.attn_factor");
    w.config().set("original_max_position_embeddings", original);
    w.config().set("rope_scaling", longrope(file.get(kShortFactors), file.get(kLongFactors), original, magnitude));
    return;
  }
  const std::string type = file.metadata().text(w.key("rope.scaling.type"), "none");
  if (type == "none") return;
  if (type != "linear" && type != "yarn")
    fail<InputError>("load", file.metadata().file(), ": the key \"", w.key("rope.scaling.type"), "\" is \"", type,
                     "\", expected none, linear or yarn");
  Config scaling;
  scaling.set("rope_type", type), scaling.set("factor", w.number("rope.scaling.factor"));
  if (type == "yarn") scaling.set("original_max_position_embeddings", original);
  w.config().set("rope_scaling", scaling);
}

void write_llama(ConfigWriter& w) {
  w.integer_key("hidden_size", "embedding_length");
  w.integer_key("intermediate_size", "feed_forward_length");
  w.integer_key("num_hidden_layers", "block_count");
  w.config().set("num_attention_heads", w.heads());
  w.config().set("num_key_value_heads", w.integer("attention.head_count_kv", w.heads()));
  w.integer_key("max_position_embeddings", "context_length");
  w.number_key("rms_norm_eps", "attention.layer_norm_rms_epsilon");
  w.config().set("rope_theta", w.number("rope.freq_base", 10000.));
  w.config().set("head_dim", w.head_dim());
  w.config().set("tie_word_embeddings", !w.file().contains("output.weight"));
  w.config().set("attention_bias", w.file().contains("blk.0.attn_q.bias"));
  w.config().set("mlp_bias", w.file().contains("blk.0.ffn_up.bias"));
  w.config().set("hidden_act", "silu");
  write_rotary_scaling(w);
}

void write_qwen(ConfigWriter& w) {
  write_llama(w);
  if (w.integer("attention.sliding_window", 0) > 0)
    fail<InputError>("load", w.file().metadata().file(), ": the key \"", w.key("attention.sliding_window"),
                     "\" is not supported for this architecture");
}

void write_smollm3(ConfigWriter& w) {
  write_llama(w);
  std::vector<std::int64_t> rotated;  // every fourth layer has no rotary positions
  for (std::int64_t i = 0; i < w.positive("block_count"); ++i) rotated.push_back((i + 1) % 4 != 0);
  w.config().set("no_rope_layers", rotated);
}

void write_gemma2(ConfigWriter& w) {
  constexpr std::int64_t kLayersOf27B = 46;  // its scores are scaled by the width, those of others by the head
  write_llama(w);
  w.config().set("hidden_activation", "gelu_pytorch_tanh");
  w.number_key("attn_logit_softcapping", "attn_logit_softcapping");
  w.number_key("final_logit_softcapping", "final_logit_softcapping");
  w.window_key();
  w.config().set("query_pre_attn_scalar",
                 w.integer("block_count") == kLayersOf27B ? w.positive("embedding_length") / w.heads() : w.head_dim());
}

void write_phi3(ConfigWriter& w) {
  write_llama(w);
  w.config().set("partial_rotary_factor", static_cast<double>(w.integer("rope.dimension_count", w.head_dim())) /
                                              static_cast<double>(w.head_dim()));
  w.window_key();
}

void write_gpt_neox(ConfigWriter& w) {
  w.integer_key("hidden_size", "embedding_length");
  w.integer_key("intermediate_size", "feed_forward_length");
  w.integer_key("num_hidden_layers", "block_count");
  w.config().set("num_attention_heads", w.heads());
  w.integer_key("max_position_embeddings", "context_length");
  w.number_key("layer_norm_eps", "attention.layer_norm_epsilon");
  w.config().set("rotary_emb_base", w.number("rope.freq_base", 10000.));
  w.config().set("rotary_pct", static_cast<double>(w.integer("rope.dimension_count", w.head_dim())) /
                                   static_cast<double>(w.head_dim()));
  w.config().set("use_parallel_residual", w.flag("use_parallel_residual", true));
  w.config().set("tie_word_embeddings", !w.file().contains("output.weight"));
  w.config().set("hidden_act", "gelu");
  write_rotary_scaling(w);
}

void write_gpt2(ConfigWriter& w) {
  w.integer_key("n_embd", "embedding_length");
  w.integer_key("n_inner", "feed_forward_length");
  w.integer_key("n_layer", "block_count");
  w.config().set("n_head", w.heads());
  w.integer_key("n_positions", "context_length");
  w.number_key("layer_norm_epsilon", "attention.layer_norm_epsilon");
  w.config().set("tie_word_embeddings", !w.file().contains("output.weight"));
  w.config().set("activation_function", "gelu_new");
}

std::int64_t integer_of(const GgufFile& file, const char* architecture, const char* key) {
  return file.metadata().integer(std::string(architecture) + "." + key);
}

template <const char* architecture>
Layout llama_layout(const GgufFile& file, std::string_view name) {
  const std::int64_t heads = integer_of(file, architecture, "attention.head_count");
  if (name == "attn_q") return rotary_halves(std::max<std::int64_t>(heads, 1));
  const std::string key = std::string(architecture) + ".attention.head_count_kv";
  if (name == "attn_k") return rotary_halves(std::max<std::int64_t>(file.metadata().integer(key, heads), 1));
  return {};
}
constexpr char kLlamaName[] = "llama", kSmolLm3Name[] = "smollm3", kNeoxName[] = "gptneox";

const Architecture kArchitectures[] = {
    {.name = kLlamaName,
     .type = "llama",
     .class_name = "LlamaForCausalLM",
     .outside = kOutside,
     .inside = kInside,
     .config = write_llama,
     .layout = llama_layout<kLlamaName>},
    {.name = "qwen2",
     .type = "qwen2",
     .class_name = "Qwen2ForCausalLM",
     .outside = kOutside,
     .inside = kInside,
     .config = write_qwen},
    {.name = "qwen3",
     .type = "qwen3",
     .class_name = "Qwen3ForCausalLM",
     .outside = kOutside,
     .inside = kInside,
     .config = write_qwen},
    {.name = kSmolLm3Name,
     .type = "smollm3",
     .class_name = "SmolLM3ForCausalLM",
     .outside = kOutside,
     .inside = kInside,
     .config = write_smollm3,
     .layout = llama_layout<kSmolLm3Name>},
    {.name = "gemma2",
     .type = "gemma2",
     .class_name = "Gemma2ForCausalLM",
     .outside = kOutside,
     .inside = kGemmaInside,
     .config = write_gemma2,
     .layout = [](const GgufFile&,
                  std::string_view name) { return name.ends_with("norm") ? Layout(without_one) : Layout(); }},
    {.name = "phi3",
     .type = "phi3",
     .class_name = "Phi3ForCausalLM",
     .outside = kOutside,
     .inside = kPhiInside,
     .config = write_phi3},
    {.name = kNeoxName,
     .type = "gpt_neox",
     .class_name = "GPTNeoXForCausalLM",
     .prefix = "gpt_neox.",
     .outside = kNeoxOutside,
     .inside = kNeoxInside,
     .config = write_gpt_neox,
     .layout =
         [](const GgufFile& file, std::string_view name) {
           return name == "attn_qkv"
                      ? joined_by_head(std::max<std::int64_t>(integer_of(file, kNeoxName, "attention.head_count"), 1))
                      : Layout();
         }},
    {.name = "gpt2",
     .type = "gpt2",
     .class_name = "GPT2LMHeadModel",
     .prefix = "transformer.",
     .layers = "h",
     .outside = kGpt2Outside,
     .inside = kGpt2Inside,
     .config = write_gpt2,
     .layout =
         [](const GgufFile&, std::string_view name) {
           return name == "attn_qkv" || name == "attn_output" || name == "ffn_up" || name == "ffn_down"
                      ? Layout(transposed_matrix)
                      : Layout();
         }},
};

const Architecture& architecture_of(const GgufFile& file) {
  const std::string name = file.metadata().text("general.architecture");
  const auto found = std::ranges::find(kArchitectures, name, &Architecture::name);
  if (found != std::end(kArchitectures)) return *found;
  std::string all;
  for (const Architecture& one : kArchitectures) all += (all.empty() ? "" : ", ") + std::string(one.name);
  fail<InputError>("load", file.metadata().file(), ": has the architecture ", in_quotes(name), ", expected one of ",
                   all);
}

/// The ids of tokens that end a text: those that the file names, and those of chat templates that it has.
std::vector<std::int64_t> end_ids(const GgufMetadata& metadata) {
  constexpr std::string_view kEnds[] = {"<|eot_id|>",    "<|im_end|>",    "<|end|>",
                                        "<end_of_turn>", "<|endoftext|>", "<|eom_id|>"};
  std::vector<std::int64_t> ids;
  const auto add = [&](std::int64_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
    if (metadata.has(key)) add(metadata.integer(key));
  const std::vector<std::string>& tokens = metadata.texts("tokenizer.ggml.tokens");
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (std::ranges::find(kEnds, tokens[id]) != std::end(kEnds)) add(static_cast<std::int64_t>(id));
  return ids;
}

/// "blk.3.attn_q.weight" -> its layer, "attn_q" and "weight". Outside of the blocks, the layer is -1.
struct GgufName {
  std::int64_t layer = -1;
  std::string_view part, ending;
};
std::optional<GgufName> parse(std::string_view name) {
  GgufName parsed;
  if (name.starts_with("blk.")) {
    name.remove_prefix(4);
    parsed.layer = 0;
    const std::size_t dot = name.find('.');
    if (dot == 0 || dot > 6) return {};
    for (const char c : name.substr(0, dot)) {
      if (c < '0' || c > '9') return {};
      parsed.layer = 10 * parsed.layer + (c - '0');
    }
    name.remove_prefix(dot + 1);
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  parsed.part = name.substr(0, dot), parsed.ending = name.substr(dot + 1);
  return parsed;
}

}  // namespace

bool is_gguf(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  char start[4] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return GgufFile::recognises(std::as_bytes(std::span(start)));
}

Config gguf_config(const GgufFile& file) {
  const Architecture& architecture = architecture_of(file);
  Config config = Config::parse("{}", file.metadata().file());
  config.set("model_type", std::string(architecture.type));
  config.set("architectures", std::vector{std::string(architecture.class_name)});
  const std::span<const std::int64_t> embedding = file.shape("token_embd.weight");
  config.set("vocab_size", embedding.empty() ? 0 : embedding[0]);
  ConfigWriter writer(file, config);
  architecture.config(writer);
  if (file.metadata().has("tokenizer.ggml.bos_token_id"))
    config.set("bos_token_id", file.metadata().integer("tokenizer.ggml.bos_token_id"));
  if (const std::vector<std::int64_t> ends = end_ids(file.metadata()); !ends.empty()) config.set("eos_token_id", ends);
  return config;
}

Weights gguf_weights(const GgufFile& file) {
  const Architecture& architecture = architecture_of(file);
  std::vector<Weights::View> views;
  for (const std::string& name : file.names()) {
    if (name == kRotaryFactors || name == kShortFactors || name == kLongFactors) continue;
    const auto parsed = parse(name);
    const std::span<const Name> names = parsed && parsed->layer >= 0 ? architecture.inside : architecture.outside;
    const auto known = parsed ? std::ranges::find(names, parsed->part, &Name::gguf) : names.end();
    if (known == names.end())
      fail<InputError>("load", file.metadata().file(), ": has a tensor ", in_quotes(name),
                       ", which the architecture \"", architecture.name, "\" does not have");
    const bool head = known->gguf == "output";
    std::string there = head ? "" : std::string(architecture.prefix);
    if (parsed->layer >= 0) there += std::string(architecture.layers) + "." + std::to_string(parsed->layer) + ".";
    there += std::string(known->folder) + "." + std::string(parsed->ending);
    views.push_back({std::move(there), name, architecture.layout(file, parsed->part)});
  }
  return {file.metadata().file(), file, std::move(views)};
}

}  // namespace attend
