#include "attend/tasks/language_model/gguf_export.h"

#include <set>
#include <utility>

#include "attend/core/error.h"
#include "attend/text/byte_level.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {
namespace {

// What a token is, by llama.cpp's numbers.
enum TokenKind : std::int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5 };

struct TokenTable {
  std::vector<std::string> tokens, merges;
  std::vector<std::int32_t> kinds;
};

/// Whether words are GPT-2's, and bytes are letters: llama.cpp's "gpt-2".
bool is_byte_level(const Tokenizer::Parts& parts) {
  if (parts.pre_tokenizer.size() != 1 || !parts.normalizer.empty()) return false;
  const auto* step = std::get_if<pre_tokenizer::ByteLevel>(&parts.pre_tokenizer.front());
  return step && step->use_regex && !step->add_prefix_space;
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
  const bool characters = bpe && bpe->merges().empty() && parts.pre_tokenizer.empty() && parts.normalizer.empty();
  if (!bpe || (!characters && !is_byte_level(parts)))
    fail<InputError>("gguf", "llama.cpp has no tokenizer like this model's, only byte-level BPE with GPT-2's words, ",
                     "and what becomes one: characters");
  TokenTable table;
  std::set<std::string> seen;
  for (std::int32_t id = 0; id < vocabulary; ++id) {
    const std::string_view token = bpe->vocabulary().token(id);
    table.tokens.push_back(characters ? to_byte_letters(token) : std::string(token));
    table.kinds.push_back(kNormal);
    if (characters) merge_bytes(token, seen, table.merges);
    if (token.empty()) table.tokens.back() = "[unused" + std::to_string(id) + "]", table.kinds.back() = kUnused;
  }
  for (const AddedToken& added : parts.added_tokens) {
    if (added.id >= vocabulary) continue;
    const auto at = static_cast<std::size_t>(added.id);
    table.tokens[at] = added.content, table.kinds[at] = added.special ? kControl : kUserDefined;
  }
  if (const auto unknown = tokenizer.special().unknown; unknown && *unknown < vocabulary && characters)
    table.kinds[static_cast<std::size_t>(*unknown)] = kUnknown;
  for (const auto& [left, right] : bpe->merges())
    table.merges.push_back(tokenizer.token(left) + " " + tokenizer.token(right));
  return table;
}

void check(const CausalLm& model) {
  const auto& o = model.options;
  if (o.activation != Activation::gelu_tanh)
    fail<InputError>("gguf", "llama.cpp's GPT-2 has the activation gelu_new, this model another one");
  if (!o.scale_attention || o.scale_by_inverse_layer)
    fail<InputError>("gguf", "llama.cpp's GPT-2 scales its scores by 1 / √(width / heads), this model does not");
  if (model.quantised())
    fail<InputError>("gguf", "the model's weights are of int8; export the folder that they were made from");
}

}  // namespace

void save_gguf(const CausalLm& model, const Tokenizer& tokenizer, const std::filesystem::path& path, GgufType type,
               const std::string& name) {
  check(model);
  const CausalLmOptions& o = model.options;
  GgufWriter writer;
  const auto number = [&](const char* key, std::int64_t value) { writer.set(key, static_cast<std::uint32_t>(value)); };
  writer.set("general.architecture", std::string("gpt2"));
  writer.set("general.name", name);
  number("general.file_type", type == GgufType::q8_0 ? 7 : type == GgufType::f16 ? 1 : 0);
  number("gpt2.context_length", o.positions);
  number("gpt2.embedding_length", o.width);
  number("gpt2.feed_forward_length", o.inner_width());
  number("gpt2.block_count", o.layers);
  number("gpt2.attention.head_count", o.heads);
  writer.set("gpt2.attention.layer_norm_epsilon", o.norm.eps);

  TokenTable table = table_of(tokenizer, o.vocabulary);
  writer.set("tokenizer.ggml.model", std::string("gpt2"));
  writer.set("tokenizer.ggml.pre", std::string("gpt-2"));
  writer.set("tokenizer.ggml.tokens", std::move(table.tokens));
  writer.set("tokenizer.ggml.token_type", std::move(table.kinds));
  writer.set("tokenizer.ggml.merges", std::move(table.merges));
  number("tokenizer.ggml.bos_token_id", o.start);
  number("tokenizer.ggml.eos_token_id", o.end());
  writer.set("tokenizer.ggml.add_bos_token", false);

  const auto norm = [&](const std::string& to, const Norm& from) {
    writer.add(to + ".weight", from.gain, GgufType::f32);
    writer.add(to + ".bias", from.bias, GgufType::f32);
  };
  const auto linear = [&](const std::string& to, const Linear& from) {
    writer.add(to + ".weight", from.weight, type);
    writer.add(to + ".bias", from.bias.defined() ? from.bias : Tensor::zeros({from.weight.dim(0)}), GgufType::f32);
  };
  writer.add("token_embd.weight", model.tokens.weight, type);
  writer.add("position_embd.weight", model.positions, GgufType::f32);
  for (std::size_t i = 0; i < model.decoder.blocks.size(); ++i) {
    const TransformerBlock& layer = model.decoder.blocks[i];
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm", layer.self_norm);
    linear(block + "attn_qkv", joined_projections(layer.self_attention));
    linear(block + "attn_output", layer.self_attention.output);
    norm(block + "ffn_norm", layer.feed_forward_norm);
    linear(block + "ffn_up", layer.feed_forward.up);
    linear(block + "ffn_down", layer.feed_forward.down);
  }
  norm("output_norm", model.decoder.final_norm);
  if (!o.tied_output) writer.add("output.weight", model.output.weight, type);
  writer.save(path);
}

}  // namespace attend
