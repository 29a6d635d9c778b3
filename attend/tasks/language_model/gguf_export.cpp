#include "attend/tasks/language_model/gguf_export.h"

#include <algorithm>
#include <set>
#include <utility>

#include "attend/core/error.h"
#include "attend/text/byte_level.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {
namespace {

// What a token is, by llama.cpp's numbers.
enum TokenKind : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct TokenTable {
  std::string model = "gpt2", words = "gpt-2";  // llama.cpp's names
  std::vector<std::string> tokens, merges;
  std::vector<float> scores;
  std::vector<std::int32_t> kinds;
  bool space_first = false;
};

constexpr std::string_view kLlama3Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// llama.cpp's name of the words of a byte-level BPE; "": it does not have these.
std::string_view byte_level_words(const Tokenizer::Parts& parts) {
  const std::size_t steps = parts.pre_tokenizer.size();
  if (steps == 0 || steps > 2 || !parts.normalizer.empty()) return "";
  const auto* bytes = std::get_if<pre_tokenizer::ByteLevel>(&parts.pre_tokenizer.back());
  if (!bytes || bytes->add_prefix_space) return "";
  if (steps == 1) return bytes->use_regex ? "gpt-2" : "";
  const auto* digits = std::get_if<pre_tokenizer::Digits>(&parts.pre_tokenizer.front());
  if (digits && digits->individual_digits && bytes->use_regex) return "smollm";
  const auto* split = std::get_if<pre_tokenizer::Split>(&parts.pre_tokenizer.front());
  const bool llama3 = split && split->pattern.is_regex() && split->pattern.text() == kLlama3Words;
  return llama3 && !bytes->use_regex ? "llama-bpe" : "";
}

/// Whether spaces become "▁" and unknown characters bytes, as in SentencePiece's BPE. `space_first`: a space is put
/// before a text.
bool is_sentencepiece(const Tokenizer::Parts& parts, const Bpe& bpe, bool& space_first) {
  if (!bpe.options().byte_fallback) return false;
  const auto replaces = [](const normalizer::Step& step) {
    const auto* replace = std::get_if<normalizer::Replace>(&step);
    return replace && !replace->pattern.is_regex() && replace->pattern.text() == " " && replace->content == "▁";
  };
  if (parts.pre_tokenizer.empty() && !parts.normalizer.empty() && replaces(parts.normalizer.back())) {
    const auto* prepend = std::get_if<normalizer::Prepend>(&parts.normalizer.front());
    space_first = prepend && prepend->prepend == "▁";
    return parts.normalizer.size() == (space_first ? 2 : 1);
  }
  if (!parts.normalizer.empty() || parts.pre_tokenizer.size() != 1) return false;
  const auto* metaspace = std::get_if<pre_tokenizer::Metaspace>(&parts.pre_tokenizer.front());
  if (!metaspace || metaspace->split) return false;
  space_first = metaspace->prepend_scheme != pre_tokenizer::Metaspace::Prepend::never;
  return true;
}

/// llama.cpp merges in the order of the scores of the results.
void score_tokens(const Bpe& bpe, TokenTable& table) {
  table.scores.assign(table.tokens.size(), 0.f);
  float score = 0;
  for (const auto& [left, right] : bpe.merges()) {
    const auto whole =
        bpe.vocabulary().id(std::string(bpe.vocabulary().token(left)) + std::string(bpe.vocabulary().token(right)));
    --score;
    if (!whole || *whole >= std::ssize(table.scores)) continue;
    float& own = table.scores[static_cast<std::size_t>(*whole)];
    if (own == 0) own = score;
  }
}

/// The merges that make a character of several bytes out of them, one byte at a time.
void merge_bytes(std::string_view character, std::set<std::string>& seen, std::vector<std::string>& merges) {
  for (std::size_t size = 1; size < character.size(); ++size) {
    std::string merge = to_byte_letters(character.substr(0, size)) + " " + to_byte_letters(character.substr(size, 1));
    if (seen.insert(merge).second) merges.push_back(std::move(merge));
  }
}

TokenTable table_of(const Tokenizer& tokenizer, std::int64_t vocabulary) {
  const Tokenizer::Parts& parts = tokenizer.parts();
  const Bpe* bpe = std::get_if<Bpe>(&parts.model);
  TokenTable table;
  const bool characters = bpe && bpe->merges().empty() && parts.pre_tokenizer.empty() && parts.normalizer.empty();
  const bool sentencepiece = bpe && is_sentencepiece(parts, *bpe, table.space_first);
  const std::string_view words = byte_level_words(parts);
  if (!bpe || (!characters && !sentencepiece && words.empty()))
    fail<InputError>("gguf", "llama.cpp has no tokenizer like this model's, only byte-level BPE with the words of ",
                     "GPT-2, Llama 3 or SmolLM, SentencePiece's BPE with bytes, and what becomes one: characters");
  if (sentencepiece)
    table.model = "llama", table.words = "default";
  else if (!characters)
    table.words = words;
  std::set<std::string> seen;
  const auto unknown = tokenizer.special().unknown;
  for (std::int32_t id = 0; id < vocabulary; ++id) {
    const std::string_view token = bpe->vocabulary().token(id);
    table.tokens.push_back(characters ? to_byte_letters(token) : std::string(token));
    table.kinds.push_back(sentencepiece && token.size() == 6 && token.starts_with("<0x") ? kByte : kNormal);
    if (characters) merge_bytes(token, seen, table.merges);
    if (token.empty()) table.tokens.back() = "[unused" + std::to_string(id) + "]", table.kinds.back() = kUnused;
  }
  for (const AddedToken& added : parts.added_tokens) {
    if (added.id >= vocabulary) continue;
    const auto at = static_cast<std::size_t>(added.id);
    table.tokens[at] = added.content, table.kinds[at] = added.special ? kControl : kUserDefined;
  }
  if (unknown && *unknown < vocabulary && (characters || sentencepiece))
    table.kinds[static_cast<std::size_t>(*unknown)] = kUnknown;
  if (sentencepiece) {
    score_tokens(*bpe, table);
    return table;
  }
  for (const auto& [left, right] : bpe->merges())
    table.merges.push_back(tokenizer.token(left) + " " + tokenizer.token(right));
  return table;
}

void check_gpt2(const CausalLm& model) {
  const CausalLmOptions& o = model.options;
  if (o.activation != Activation::gelu_tanh)
    fail<InputError>("gguf", "llama.cpp's GPT-2 has the activation gelu_new, this model another one");
  if (!o.scale_attention || o.scale_by_inverse_layer)
    fail<InputError>("gguf", "llama.cpp's GPT-2 scales its scores by 1 / √(width / heads), this model does not");
}

void check_llama(const CausalLm& model) {
  const CausalLmOptions& o = model.options;
  if (o.activation != Activation::silu)
    fail<InputError>("gguf", "llama.cpp's Llama has the activation silu, this model another one");
  if (std::ranges::any_of(o.windows, [](std::int64_t window) { return window >= 0; }))
    fail<InputError>("gguf", "llama.cpp's Llama has no sliding window, this model has one");
  if (model.angles.short_length() > 0 || o.rotary->magnitude() != 1)
    fail<InputError>("gguf", "the rotary scaling of this model cannot be exported: got yarn or longrope");
}

/// The rows of each head in pairs (i, i + half) become pairs (2i, 2i + 1), which llama.cpp rotates.
Tensor paired_rows(const Tensor& weight, std::int64_t heads) {
  const std::int64_t half = weight.dim(0) / heads / 2, inner = weight.numel() / weight.dim(0);
  const Tensor paired = Tensor::like(weight);
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t i = 0; i < 2 * half; ++i)
      std::copy_n(weight.data() + (2 * head * half + i) * inner, inner,
                  paired.data() + (2 * head * half + i % half * 2 + i / half) * inner);
  return paired;
}

/// Writes the keys and tensors of one file.
class Exporter {
 public:
  Exporter(const CausalLm& model, GgufType type, const char* architecture)
      : model_(model), type_(type), prefix_(std::string(architecture) + ".") {
    if (model.quantised())
      fail<InputError>("gguf", "the model's weights are of int8; export the folder that they were made from");
    writer_.set("general.architecture", std::string(architecture));
  }

  void set(const std::string& key, std::int64_t value) { writer_.set(key, static_cast<std::uint32_t>(value)); }
  void write_keys(const std::string& name) {
    const CausalLmOptions& o = model_.options;
    writer_.set("general.name", name);
    set("general.file_type", type_ == GgufType::q8_0   ? 7
                             : type_ == GgufType::bf16 ? 32
                             : type_ == GgufType::f16  ? 1
                                                       : 0);
    set(prefix_ + "context_length", o.positions);
    set(prefix_ + "embedding_length", o.width);
    set(prefix_ + "feed_forward_length", o.inner_width());
    set(prefix_ + "block_count", o.layers);
    set(prefix_ + "attention.head_count", o.heads);
    if (!o.rotary) return writer_.set(prefix_ + "attention.layer_norm_epsilon", o.norm.eps);
    writer_.set(prefix_ + "attention.layer_norm_rms_epsilon", o.norm.eps);
    set(prefix_ + "attention.head_count_kv", o.key_heads());
    set(prefix_ + "attention.key_length", o.head_width()), set(prefix_ + "attention.value_length", o.head_width());
    set(prefix_ + "rope.dimension_count", o.rotary->rotary_dim(o.head_width()));
    set(prefix_ + "vocab_size", o.vocabulary);
    writer_.set(prefix_ + "rope.freq_base", static_cast<float>(o.rotary->theta));
  }

  void write_tokens(const Tokenizer& tokenizer) {
    const CausalLmOptions& o = model_.options;
    TokenTable table = table_of(tokenizer, o.vocabulary);
    const bool sentencepiece = table.model == "llama";
    writer_.set("tokenizer.ggml.model", table.model);
    writer_.set("tokenizer.ggml.pre", table.words);
    writer_.set("tokenizer.ggml.tokens", std::move(table.tokens));
    if (sentencepiece) writer_.set("tokenizer.ggml.scores", std::move(table.scores));
    writer_.set("tokenizer.ggml.token_type", std::move(table.kinds));
    if (!sentencepiece) writer_.set("tokenizer.ggml.merges", std::move(table.merges));
    set("tokenizer.ggml.bos_token_id", o.start);
    set("tokenizer.ggml.eos_token_id", o.end());
    if (const auto unknown = tokenizer.special().unknown; unknown && sentencepiece)
      set("tokenizer.ggml.unknown_token_id", *unknown);
    const std::vector<std::int32_t> ids = tokenizer.encode("a").ids;
    writer_.set("tokenizer.ggml.add_bos_token", !ids.empty() && ids.front() == tokenizer.special().bos);
    if (sentencepiece) writer_.set("tokenizer.ggml.add_space_prefix", table.space_first);
  }

  void write_template(const ChatTemplate& chat) {
    writer_.set(kGgufChatTemplate, chat.source());
    if (chat.source(true) == chat.source()) return;
    writer_.set("tokenizer.chat_templates", std::vector<std::string>{"tool_use"});
    writer_.set(kGgufToolTemplate, chat.source(true));
  }

  void norm(const std::string& to, const Norm& from) {
    writer_.add(to + ".weight", from.gain, GgufType::f32);
    if (from.bias.defined()) writer_.add(to + ".bias", from.bias, GgufType::f32);
  }
  void linear(const std::string& to, const Tensor& weight, const Tensor& bias) {
    writer_.add(to + ".weight", weight, type_);
    if (bias.defined()) writer_.add(to + ".bias", bias, GgufType::f32);
  }
  void linear(const std::string& to, const Linear& from) { linear(to, from.weight, from.bias); }
  void rotated(const std::string& to, const Linear& from, std::int64_t heads) {
    linear(to, paired_rows(from.weight, heads), from.bias.defined() ? paired_rows(from.bias, heads) : Tensor());
  }
  void matrix(const std::string& name, const Tensor& weight) { writer_.add(name, weight, type_); }
  void vector(const std::string& name, const Tensor& numbers) { writer_.add(name, numbers, GgufType::f32); }
  void save(const std::filesystem::path& path) const { writer_.save(path); }

 private:
  const CausalLm& model_;
  GgufType type_;
  std::string prefix_;
  GgufWriter writer_;
};

void write_gpt2_layer(Exporter& to, const std::string& block, const TransformerBlock& layer) {
  // llama.cpp's GPT-2 always has biases.
  const auto biased_norm = [](Norm from) {
    if (!from.bias.defined()) from.bias = Tensor::zeros(from.gain.shape());
    return from;
  };
  const auto biased = [](Linear from) {
    if (!from.bias.defined()) from.bias = Tensor::zeros({from.out()});
    return from;
  };
  to.norm(block + "attn_norm", biased_norm(layer.self_norm));
  to.linear(block + "attn_qkv", biased(joined_projections(layer.self_attention)));
  to.linear(block + "attn_output", biased(layer.self_attention.output));
  to.norm(block + "ffn_norm", biased_norm(layer.feed_forward_norm));
  to.linear(block + "ffn_up", biased(layer.feed_forward.up));
  to.linear(block + "ffn_down", biased(layer.feed_forward.down));
}

void write_llama_layer(Exporter& to, const std::string& block, const TransformerBlock& layer) {
  const MultiHeadAttention& attention = layer.self_attention;
  to.norm(block + "attn_norm", layer.self_norm);
  to.rotated(block + "attn_q", attention.query, attention.heads);
  to.rotated(block + "attn_k", attention.key, attention.kv_heads);
  to.linear(block + "attn_v", attention.value);
  to.linear(block + "attn_output", attention.output);
  to.norm(block + "ffn_norm", layer.feed_forward_norm);
  to.linear(block + "ffn_gate", layer.feed_forward.gate);
  to.linear(block + "ffn_up", layer.feed_forward.up);
  to.linear(block + "ffn_down", layer.feed_forward.down);
}

/// By how much each rotary frequency is divided.
Tensor frequency_divisors(const CausalLmOptions& o) {
  const std::vector<double> all = o.rotary->frequencies(o.head_width());
  const std::vector<double> plain = rotary_frequencies(o.rotary->rotary_dim(o.head_width()), o.rotary->theta);
  Tensor divisors = Tensor::empty({std::ssize(all)});
  for (std::size_t i = 0; i < all.size(); ++i) divisors.data()[i] = static_cast<float>(plain[i] / all[i]);
  return divisors;
}

}  // namespace

void save_gguf(const CausalLm& model, const Tokenizer& tokenizer, const std::filesystem::path& path, GgufType type,
               const std::string& name, const std::optional<ChatTemplate>& chat) {
  const CausalLmOptions& o = model.options;
  const bool gpt2 = o.family == &kGpt2;
  if (!gpt2 && o.family != &kLlama && o.family != &kMistral)
    fail<InputError>("gguf", "only GPT-2, Llama and Mistral can be exported, not ", o.family->type);
  gpt2 ? check_gpt2(model) : check_llama(model);
  Exporter to(model, type, gpt2 ? "gpt2" : "llama");
  to.write_keys(name);
  to.write_tokens(tokenizer);
  if (chat) to.write_template(*chat);
  to.matrix("token_embd.weight", model.tokens.weight);
  if (gpt2) to.vector("position_embd.weight", model.positions);
  if (!gpt2 && o.rotary->scaling != RotaryScaling::none) to.vector("rope_freqs.weight", frequency_divisors(o));
  for (std::size_t i = 0; i < model.decoder.blocks.size(); ++i)
    (gpt2 ? write_gpt2_layer : write_llama_layer)(to, "blk." + std::to_string(i) + ".", model.decoder.blocks[i]);
  Norm last = model.decoder.final_norm;
  if (gpt2 && !last.bias.defined()) last.bias = Tensor::zeros(last.gain.shape());
  to.norm("output_norm", last);
  if (!o.tied_output) to.matrix("output.weight", model.output.weight);
  to.save(path);
}

}  // namespace attend
