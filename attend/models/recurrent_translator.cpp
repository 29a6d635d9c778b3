#include "attend/models/recurrent_translator.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/matmul.h"

namespace attend {
namespace {

Score make_score(const RecurrentTranslatorOptions& o, std::int64_t source_width, Generator& generator) {
  switch (o.attention) {
    case DecoderAttention::none:
      return Uniform();
    case DecoderAttention::additive:
      return Additive(o.hidden, source_width, o.hidden, generator);
    case DecoderAttention::dot:
      return Dot();
    case DecoderAttention::general:
      return General(o.hidden, source_width, generator);
    case DecoderAttention::location:
      return Location(o.hidden, o.max_positions, generator);
  }
  return Uniform();
}

/// Each sentence's elements in the opposite order; its padding stays behind it.   x [B, …, S], lengths [B]
template <typename T>
Tensor reversed(const Tensor& x, const Tensor& lengths) {
  Tensor turned = x.copy();
  const std::int64_t S = x.dim(-1), rows = x.rows(), rows_each = rows / std::max<std::int64_t>(lengths.numel(), 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    T* row = turned.data<T>() + r * S;
    std::reverse(row, row + lengths.data<std::int32_t>()[r / rows_each]);
  }
  return turned;
}

}  // namespace

const std::vector<std::pair<std::string, DecoderAttention>> kDecoderAttentionNames = {
    {"none", DecoderAttention::none},
    {"additive", DecoderAttention::additive},
    {"dot", DecoderAttention::dot},
    {"general", DecoderAttention::general},
    {"location", DecoderAttention::location}};

RecurrentTranslatorOptions RecurrentTranslatorOptions::read(const Config& config) {
  RecurrentTranslatorOptions o;
  o.source_vocabulary = config.integer_in("source_vocab_size", 1, bounds::kVocabulary);
  o.target_vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.embedding = config.integer_in("embedding", 1, bounds::kWidth);
  o.hidden = config.integer_in("hidden", 1, bounds::kWidth);
  o.encoder_layers = static_cast<int>(config.integer_in("encoder_layers", 1, bounds::kLayers));
  o.decoder_layers = static_cast<int>(config.integer_in("decoder_layers", 1, bounds::kLayers));
  o.cell = config.choice("cell", kCellNames);
  o.bidirectional = config.flag("bidirectional");
  o.attention = config.choice("attention", kDecoderAttentionNames);
  o.reverse_source = config.flag("reverse_source", false);
  o.max_positions = config.integer_in("max_positions", 1, bounds::kPositions, 128);
  o.dropout = static_cast<float>(config.number("dropout", 0.0));
  o.deep_output = config.flag("deep_output");
  o.tied_output = config.flag("tied_output");
  return o;
}

void RecurrentTranslatorOptions::write(Config& config) const {
  config.set("source_vocab_size", source_vocabulary);
  config.set("vocab_size", target_vocabulary);
  config.set("embedding", embedding);
  config.set("hidden", hidden);
  config.set("encoder_layers", encoder_layers);
  config.set("decoder_layers", decoder_layers);
  config.set("cell", name_of(cell, kCellNames));
  config.set("bidirectional", bidirectional);
  config.set("attention", name_of(attention, kDecoderAttentionNames));
  config.set("reverse_source", reverse_source);
  config.set("max_positions", max_positions);
  config.set("dropout", dropout);
  config.set("deep_output", deep_output);
  config.set("tied_output", tied_output);
}

RecurrentTranslator::RecurrentTranslator(const RecurrentTranslatorOptions& o, Generator& generator) : options(o) {
  if (o.tied_output && !o.deep_output)
    fail<InputError>("translator", "a tied output needs the deep output, whose width is the embeddings'");
  if (o.attention == DecoderAttention::dot && source_width() != o.hidden)
    fail<InputError>("translator", "dot attention needs states of one width on both sides: got ", source_width(),
                     " and ", o.hidden, "; use general attention, or an encoder in one direction");
  const std::int64_t width = source_width();
  const bool looks = o.attention != DecoderAttention::none;
  source_embedding = Embedding(o.source_vocabulary, o.embedding, generator, kEmbeddingDeviation);
  target_embedding = Embedding(o.target_vocabulary, o.embedding, generator, kEmbeddingDeviation);
  encoder = Recurrent(o.cell,
                      {.input = o.embedding,
                       .hidden = o.hidden,
                       .layers = o.encoder_layers,
                       .bidirectional = o.bidirectional,
                       .dropout = o.dropout},
                      generator);
  decoder = Recurrent(o.cell,
                      {.input = o.embedding + (looks ? width : 0),
                       .hidden = o.hidden,
                       .layers = o.decoder_layers,
                       .dropout = o.dropout},
                      generator);
  const int states = o.decoder_layers * (o.cell == kernels::Cell::lstm ? 2 : 1);
  for (int i = 0; i < states; ++i) bridge.emplace_back(width, o.hidden, true, generator);
  score = make_score(o, width, generator);
  std::int64_t said = o.hidden;
  if (o.deep_output) {
    readout = Linear(o.hidden + (looks ? width : 0) + o.embedding, o.embedding, true, generator);
    said = o.embedding;
  }
  output = Linear(said, o.target_vocabulary, true, generator);
  if (o.tied_output) output.weight = {};
}

EncodedSource RecurrentTranslator::encode(const Tensor& ids, const Tensor& lengths) const {
  const Tensor words = source_embedding(options.reverse_source ? reversed<std::int32_t>(ids, lengths) : ids);
  const RecurrentOutput read = encoder(dropout(words, options.dropout), {}, lengths);
  EncodedSource source{.states = read.y, .keys = {}, .lengths = lengths, .start = {}};
  if (options.attention != DecoderAttention::none) source.keys = score.keys(read.y);
  // Layer i of the decoder begins where layer i of the encoder ended; layers that have no counterpart, with its top.
  const std::size_t directions = options.bidirectional ? 2 : 1;
  const auto last = [&](const std::vector<Tensor>& states, int layer) {
    const auto first = static_cast<std::size_t>(std::min(layer, options.encoder_layers - 1)) * directions;
    return directions == 1 ? states[first] : concat({states[first], states[first + 1]}, -1);
  };
  for (int layer = 0; layer < options.decoder_layers; ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    source.start.h.push_back(bridge[i](last(read.state.h, layer), Activation::tanh));
    if (options.cell == kernels::Cell::lstm)
      source.start.c.push_back(bridge[i + static_cast<std::size_t>(options.decoder_layers)](last(read.state.c, layer)));
  }
  return source;
}

Tensor RecurrentTranslator::look(const EncodedSource& source, const Tensor& query, Probe* probe) const {
  Probe own;
  Tensor context = pool_prepared(score, query, source.keys, source.states,
                                 {.mask = Mask::keys(source.lengths), .probe = probe ? &own : nullptr});
  if (probe) {
    const Tensor& weights = own.records().front().weights;
    probe->record(options.reverse_source ? reversed<float>(weights, source.lengths) : weights);
  }
  return context;
}

Tensor RecurrentTranslator::say(const Tensor& state, const Tensor& context, const Tensor& word) const {
  if (!options.deep_output) return output(dropout(state, options.dropout));
  const Tensor parts = context.defined() ? concat({state, context, word}, -1) : concat({state, word}, -1);
  return linear(dropout(readout(parts, Activation::tanh), options.dropout),
                options.tied_output ? target_embedding.weight : output.weight, output.bias);
}

Tensor RecurrentTranslator::decode(const EncodedSource& source, const Tensor& words, Probe* probe) const {
  const Tensor embedded = dropout(target_embedding(words), options.dropout);
  if (options.attention == DecoderAttention::none) return say(decoder(embedded, source.start).y, {}, embedded);

  // The words are known beforehand: their part of the input goes through its columns of the weight for all steps at
  // once, and only the context follows step by step.
  const std::int64_t B = words.dim(0), T = words.dim(1);
  Recurrent cell = decoder;
  const auto columns = split(decoder.weights[0].weight_ih, {options.embedding, source_width()}, 1);
  cell.weights[0].weight_ih = columns[1];
  RecurrentState state = source.start;
  std::vector<Tensor> states, contexts, weights;
  for (const Tensor& word : split(linear(embedded, columns[0]), static_cast<int>(T), 1)) {
    Probe step_probe;
    contexts.push_back(look(source, state.h.back().reshape({B, 1, options.hidden}), probe ? &step_probe : nullptr));
    if (probe) weights.push_back(step_probe.records().front().weights);
    RecurrentOutput next = cell(contexts.back(), state, {}, word);
    states.push_back(next.y);
    state = std::move(next.state);
  }
  if (probe) probe->enter("cross"), probe->record(concat(weights, 2));
  return say(concat(states, 1), concat(contexts, 1), embedded);
}

Tensor RecurrentTranslator::step(const EncodedSource& source, const Tensor& words, RecurrentState& state,
                                 Probe* probe) const {
  const std::int64_t B = words.dim(0);
  const Tensor word = target_embedding(words).reshape({B, 1, options.embedding});
  Tensor context;
  if (options.attention != DecoderAttention::none) {
    if (probe) probe->enter("cross");
    context = look(source, state.h.back().reshape({B, 1, options.hidden}), probe);
  }
  RecurrentOutput next = decoder(context.defined() ? concat({word, context}, -1) : word, state);
  state = std::move(next.state);
  return say(next.y, context, word).reshape({B, options.target_vocabulary});
}

}  // namespace attend
