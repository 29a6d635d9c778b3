#include "attend/models/transformer.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/models/activation_names.h"
#include "attend/models/bounds.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/check.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

/// As Xavier, with biases at 0.
FeedForward feed_forward_of(std::int64_t width, std::int64_t inner, const TransformerOptions& o, Generator& generator) {
  FeedForward layer(width, inner, o.activation, o.activation_dropout, generator);
  for (Linear* part : {&layer.up, &layer.down}) {
    init::xavier_uniform(part->weight, 1.f, generator);
    part->bias.fill(0.f);
  }
  return layer;
}

MultiHeadAttention attention_of(std::int64_t heads, const TransformerOptions& o, Generator& generator) {
  return MultiHeadAttention({.width = o.width, .heads = heads, .dropout = o.attention_dropout}, generator);
}

Residual residual_of(const TransformerOptions& o) { return {LayerNorm(o.width), o.pre_norm, o.dropout}; }

void must(const Config& config, const char* key, bool expected) {
  if (config.flag(key, expected) != expected)
    fail<InputError>("transformer", "config.json: \"", key, "\" is ", expected ? "false" : "true",
                     ", which is not supported for model_type \"", kMarianType, "\"");
}

}  // namespace

TransformerOptions TransformerOptions::read(const Config& config) {
  TransformerOptions o;
  const bool marian = config.text("model_type", std::string(kMarianType)) == kMarianType;
  o.source_vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.target_vocabulary = config.integer_in("decoder_vocab_size", 1, bounds::kVocabulary, o.source_vocabulary);
  o.width = config.integer_in("d_model", 1, bounds::kWidth);
  o.encoder_layers = config.integer_in("encoder_layers", 0, bounds::kLayers);
  o.decoder_layers = config.integer_in("decoder_layers", 1, bounds::kLayers);
  o.encoder_heads = config.integer_in("encoder_attention_heads", 1, o.width);
  o.decoder_heads = config.integer_in("decoder_attention_heads", 1, o.width);
  o.encoder_inner = config.integer_in("encoder_ffn_dim", 1, bounds::kInner);
  o.decoder_inner = config.integer_in("decoder_ffn_dim", 1, bounds::kInner);
  o.activation = config.choice("activation_function", kActivationNames, {Activation::gelu});
  o.shared_embeddings = config.flag("share_encoder_decoder_embeddings", true);
  o.tied_output = config.flag("tie_word_embeddings", true);
  o.scale_embedding = config.flag("scale_embedding", false);
  const std::int64_t most_positions = std::min(bounds::kPositions, bounds::kPositionNumbers / o.width);
  o.max_positions = config.integer_in("max_position_embeddings", 1, most_positions, 1024);
  o.dropout = static_cast<float>(config.number("dropout", 0.1));
  o.attention_dropout = static_cast<float>(config.number("attention_dropout", 0.0));
  o.activation_dropout = static_cast<float>(config.number("activation_dropout", 0.0));
  const auto id = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = config.integer(key, otherwise);
    if (value < 0 || value >= o.target_vocabulary)
      fail<InputError>("transformer", "config.json: \"", key, "\" is ", value, ", expected one of ",
                       o.target_vocabulary, " words");
    return static_cast<std::int32_t>(value);
  };
  o.padding = id("pad_token_id", o.source_vocabulary - 1);
  o.start = id("decoder_start_token_id", o.padding);
  o.end = id("eos_token_id", 0);
  must(config, "is_encoder_decoder", true), must(config, "is_decoder", false);
  if (config.has("quantization_config"))
    fail<InputError>("transformer",
                     "config.json: \"quantization_config\" is there, but quantised weights are not supported");
  if (marian) {  // Hugging Face's Marian does not look at these keys, which older folders have
    must(config, "normalize_before", false), must(config, "add_final_layer_norm", false);
    must(config, "normalize_embedding", false), must(config, "static_position_embeddings", true);
  } else {
    o.pre_norm = config.flag("normalize_before", false);
    o.final_norm = config.flag("add_final_layer_norm", false);
    o.learned_positions = !config.flag("static_position_embeddings", true);
  }
  return o;
}

void TransformerOptions::write(Config& config) const {
  if (type() == kMarianType) config.set("architectures", std::vector<std::string>{"MarianMTModel"});
  config.set("vocab_size", source_vocabulary), config.set("decoder_vocab_size", target_vocabulary);
  config.set("d_model", width);
  config.set("encoder_layers", encoder_layers), config.set("decoder_layers", decoder_layers);
  config.set("encoder_attention_heads", encoder_heads), config.set("decoder_attention_heads", decoder_heads);
  config.set("encoder_ffn_dim", encoder_inner), config.set("decoder_ffn_dim", decoder_inner);
  config.set("activation_function", name_of(activation, kActivationNames));
  config.set("share_encoder_decoder_embeddings", shared_embeddings);
  config.set("tie_word_embeddings", tied_output);
  config.set("scale_embedding", scale_embedding);
  config.set("max_position_embeddings", max_positions);
  config.set("dropout", dropout), config.set("attention_dropout", attention_dropout);
  config.set("activation_dropout", activation_dropout);
  config.set("pad_token_id", padding), config.set("decoder_start_token_id", start);
  config.set("eos_token_id", end), config.set("forced_eos_token_id", end);
  config.set("is_encoder_decoder", true);
  config.set("normalize_before", pre_norm), config.set("add_final_layer_norm", final_norm);
  config.set("static_position_embeddings", !learned_positions);
}

EncoderLayer::EncoderLayer(const TransformerOptions& o, Generator& generator)
    : self_attention(attention_of(o.encoder_heads, o, generator)),
      feed_forward(feed_forward_of(o.width, o.encoder_inner, o, generator)),
      around_attention(residual_of(o)),
      around_feed_forward(residual_of(o)) {}

Tensor EncoderLayer::operator()(const Tensor& x, const Mask& mask, Probe* probe) const {
  const Tensor h = around_attention(x, [&](const Tensor& y) { return self_attention(y, y, y, mask, probe); });
  return around_feed_forward(h, feed_forward);
}

DecoderLayer::DecoderLayer(const TransformerOptions& o, Generator& generator)
    : self_attention(attention_of(o.decoder_heads, o, generator)),
      cross_attention(attention_of(o.decoder_heads, o, generator)),
      feed_forward(feed_forward_of(o.width, o.decoder_inner, o, generator)),
      around_self(residual_of(o)),
      around_cross(residual_of(o)),
      around_feed_forward(residual_of(o)) {}

Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& states, const Mask& states_mask, Probe* probe) const {
  const std::string layer = probe ? probe->layer() : "";
  if (probe) probe->enter(layer + ".self");
  Tensor h = around_self(x, [&](const Tensor& y) { return self_attention(y, y, y, Mask::causal(), probe); });
  if (probe) probe->enter(layer + ".cross");
  h = around_cross(h, [&](const Tensor& y) { return cross_attention(y, states, states, states_mask, probe); });
  return around_feed_forward(h, feed_forward);
}

Tensor DecoderLayer::step(const Tensor& x, DecodingState& state, std::size_t index, Probe* probe) const {
  const std::string layer = probe ? probe->layer() : "";
  if (probe) probe->enter(layer + ".self");
  Tensor h = around_self(x, [&](const Tensor& y) {
    state.target.append(index, self_attention.keys_values(y));
    return self_attention.over(state.target, index, y, probe);
  });
  if (probe) probe->enter(layer + ".cross");
  h = around_cross(h, [&](const Tensor& y) { return cross_attention.over(state.source, index, y, probe); });
  return around_feed_forward(h, feed_forward);
}

Transformer::Transformer(const TransformerOptions& o, Generator& generator) : options(o) {
  if (o.source_vocabulary < 1 || o.target_vocabulary < 1 || o.encoder_layers < 0 || o.decoder_layers < 1)
    fail<InputError>("transformer", "there must be words on both sides and a layer that writes: got vocabularies of ",
                     o.source_vocabulary, " and ", o.target_vocabulary, ", ", o.encoder_layers, " + ", o.decoder_layers,
                     " layers");
  if (o.shared_embeddings && o.source_vocabulary != o.target_vocabulary)
    fail<InputError>("transformer", "one embedding for both sides needs one vocabulary: got ", o.source_vocabulary,
                     " and ", o.target_vocabulary, " words");
  if (o.pre_norm && !o.final_norm)
    fail<InputError>("transformer", "norms before the sub-layers (pre_norm, \"normalize_before\") need one at the end ",
                     "(final_norm, \"add_final_layer_norm\"): nothing else normalises what the last layer adds");
  const float scale = o.scale_embedding ? std::sqrt(static_cast<float>(o.width)) : 1.f;
  const auto words = [&](std::int64_t count) {
    Embedding table(count, o.width, generator, 1.f / std::sqrt(static_cast<float>(o.width)));
    table.scale = scale;
    return table;
  };
  if (o.shared_embeddings) {
    shared_embedding = words(o.source_vocabulary);
  } else {
    source_embedding = words(o.source_vocabulary);
    target_embedding = words(o.target_vocabulary);
  }
  if (o.learned_positions) {
    for (Tensor* table : {&source_positions, &target_positions}) {
      *table = Tensor::empty({o.max_positions, o.width});
      init::normal(*table, 0.02f, generator);
    }
  } else {
    positions = sinusoidal_positions(o.max_positions, o.width, 0, PositionLayout::halves);
  }
  for (std::int64_t i = 0; i < o.encoder_layers; ++i) encoder.emplace_back(o, generator);
  for (std::int64_t i = 0; i < o.decoder_layers; ++i) decoder.emplace_back(o, generator);
  if (o.final_norm) encoder_norm = LayerNorm(o.width), decoder_norm = LayerNorm(o.width);
  if (!o.tied_output) {
    output = Tensor::empty({o.target_vocabulary, o.width});
    init::xavier_uniform(output, 1.f, generator);
  }
  output_bias = Tensor::zeros({1, o.target_vocabulary});
}

Tensor Transformer::embed(const Embedding& words, const Tensor& learned, const Tensor& ids, std::int64_t first) const {
  const std::int64_t T = ids.dim(-1);
  if (first + T > options.max_positions)
    fail<InputError>("transformer", "the text is too long: got ", first + T, " tokens, the model has positions for ",
                     options.max_positions);
  const Tensor places = learned.defined() ? slice(learned, 0, first, first + T) : positions.view_rows(first, first + T);
  return dropout(words(ids) + places, options.dropout);
}

Tensor Transformer::say(const Tensor& x) const {
  const Tensor& weight = options.tied_output ? embedding_of(target_embedding).weight : output;
  return linear(x, weight, output_bias.reshape({options.target_vocabulary}));
}

Tensor Transformer::encode(const Tensor& ids, const Tensor& lengths, Probe* probe) const {
  check_lengths("transformer", lengths, ids.dim(0), ids.dim(1));
  const Mask mask = Mask::keys(lengths);
  Tensor x = embed(embedding_of(source_embedding), source_positions, ids, 0);
  for (std::size_t i = 0; i < encoder.size(); ++i) {
    if (probe) probe->enter("encoder." + std::to_string(i) + ".self");
    x = encoder[i](x, mask, probe);
  }
  return options.final_norm ? encoder_norm(x) : x;
}

Tensor Transformer::decode(const Tensor& states, const Tensor& lengths, const Tensor& words, Probe* probe) const {
  return say(decode_states(states, lengths, words, probe));
}

Tensor Transformer::decode_states(const Tensor& states, const Tensor& lengths, const Tensor& words,
                                  Probe* probe) const {
  check_lengths("transformer", lengths, states.dim(0), states.dim(1));
  const Mask mask = Mask::keys(lengths);
  Tensor x = embed(embedding_of(target_embedding), target_positions, words, 0);
  for (std::size_t i = 0; i < decoder.size(); ++i) {
    if (probe) probe->enter("decoder." + std::to_string(i));
    x = decoder[i](x, states, mask, probe);
  }
  return options.final_norm ? decoder_norm(x) : x;
}

DecodingState Transformer::start(const Tensor& states, const Tensor& lengths) const {
  const NoGrad no_grad;
  const Training no_training(false);
  DecodingState state{KeyValueCache(options.decoder_layers), KeyValueCache(options.decoder_layers)};
  for (std::size_t i = 0; i < decoder.size(); ++i)
    state.source.append(i, decoder[i].cross_attention.keys_values(states), lengths);
  return state;
}

Tensor Transformer::step(const Tensor& words, DecodingState& state, Probe* probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  const std::int64_t N = words.dim(0);
  if (words.rank() != 1 || N != state.source.rows())
    fail("transformer", "the words do not fit the state: got ", words.shape(), ", expected [", state.source.rows(),
         "]");
  Tensor x = embed(embedding_of(target_embedding), target_positions, words.reshape({N, 1}), state.target.positions())
                 .reshape({N, options.width});
  for (std::size_t i = 0; i < decoder.size(); ++i) {
    if (probe) probe->enter("decoder." + std::to_string(i));
    x = decoder[i].step(x, state, i, probe);
  }
  return say(options.final_norm ? decoder_norm(x) : x);
}

Transformer load_transformer(const std::filesystem::path& folder, bool mapped) {
  const Config config(folder / "config.json");
  if (const std::string type = config.text("model_type", ""); type != kMarianType && type != kTransformerType)
    fail<InputError>("transformer", folder.string(), ": holds a model of type \"", type, "\", expected ", kMarianType,
                     " or ", kTransformerType);
  const init::Skipped skipped;
  Transformer model(TransformerOptions::read(config));
  const TransformerOptions& o = model.options;
  std::vector<NamedTensor> all = parameters(model);
  LoadOptions options{.optional = {"final_logits_bias"}};
  // The other names under which a folder may have the same.
  const Tensor& source = (o.shared_embeddings ? model.shared_embedding : model.source_embedding).weight;
  const Tensor& target = (o.shared_embeddings ? model.shared_embedding : model.target_embedding).weight;
  all.push_back({"model.encoder.embed_tokens.weight", source});
  all.push_back({"model.decoder.embed_tokens.weight", target});
  if (o.tied_output) all.push_back({"lm_head.weight", target});
  if (!o.learned_positions)
    for (const char* name : {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}) {
      all.push_back({name, model.positions});
      options.optional.emplace_back(name);
    }

  const Weights weights(folder);
  mapped ? borrow_parameters(all, weights, options) : load_parameters(all, weights, options);
  release_cached_memory();  // where a file is misaligned, tied tables were copied once for each name
  auto next = all.begin();
  for_each_parameter(model, [&](const std::string&, Tensor& tensor) { tensor = (next++)->tensor; });
  if (!o.learned_positions) model.positions = all.back().tensor;
  if (!mapped) {  // as in a model that was made here: it may be trained
    for (EncoderLayer& layer : model.encoder) place_neighbours(layer.self_attention);
    for (DecoderLayer& layer : model.decoder)
      place_neighbours(layer.self_attention), place_neighbours(layer.cross_attention);
  }
  return model;
}

}  // namespace attend
