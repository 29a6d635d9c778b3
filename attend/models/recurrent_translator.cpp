#include "attend/models/recurrent_translator.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/models/bounds.h"
#include "attend/models/recurrent_common.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/gather.h"
#include "attend/ops/matmul.h"
#include "attend/ops/tape.h"

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

/// Reverses each sequence along the last dimension; padding stays at the end.   x [B, …, S], lengths int32 [B]
template <typename T>
Tensor reversed(const Tensor& x, const Tensor& lengths) {
  Tensor reversed_rows = x.copy();
  const std::int64_t S = x.dim(-1), rows = x.rows(), rows_each = rows / std::max<std::int64_t>(lengths.numel(), 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    T* row = reversed_rows.data<T>() + r * S;
    std::reverse(row, row + lengths.data<std::int32_t>()[r / rows_each]);
  }
  return reversed_rows;
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
  o.dropout = config.probability("dropout", 0.0);
  o.deep_output = config.flag("deep_output");
  o.tied_output = config.flag("tied_output");
  return o;
}

void RecurrentTranslatorOptions::write(Config& config) const {
  config.set("model_type", "attend-recurrent-translator");
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

/// The embeddings, and a square matrix of each layer.
double RecurrentTranslatorOptions::least_parameters() const {
  return static_cast<double>(source_vocabulary + target_vocabulary) * static_cast<double>(embedding) +
         static_cast<double>(encoder_layers + decoder_layers) * static_cast<double>(hidden * hidden);
}

RecurrentTranslator::RecurrentTranslator(const RecurrentTranslatorOptions& o, Generator& generator) : options(o) {
  if (o.tied_output && !o.deep_output)
    fail<InputError>("translator", "tied_output needs deep_output, which has the width of the embeddings");
  if (o.attention == DecoderAttention::dot && source_width() != o.hidden)
    fail<InputError>("translator", "dot attention needs encoder and decoder states of the same width: got ",
                     source_width(), " and ", o.hidden, "; use general attention or a unidirectional encoder");
  const std::int64_t width = source_width();
  const bool attends = o.attention != DecoderAttention::none;
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
                      {.input = o.embedding + (attends ? width : 0),
                       .hidden = o.hidden,
                       .layers = o.decoder_layers,
                       .dropout = o.dropout},
                      generator);
  const int states = o.decoder_layers * (o.cell == kernels::Cell::lstm ? 2 : 1);
  for (int i = 0; i < states; ++i) bridge.emplace_back(width, o.hidden, true, generator);
  score = make_score(o, width, generator);
  std::int64_t output_width = o.hidden;
  if (o.deep_output) {
    readout = Linear(o.hidden + (attends ? width : 0) + o.embedding, o.embedding, true, generator);
    output_width = o.embedding;
  }
  output = Linear(output_width, o.target_vocabulary, true, generator);
  if (o.tied_output) output.weight = {};
}

EncodedSource RecurrentTranslator::encode(const Tensor& ids, const Tensor& lengths) const {
  const bool features = ids.dtype() == DType::f32;
  if (features && options.reverse_source)
    fail("translator", "reverse_source works with ids only: got features; reverse them before the call");
  const Tensor embedded =
      features ? ids : source_embedding(options.reverse_source ? reversed<std::int32_t>(ids, lengths) : ids);
  const RecurrentOutput read = encoder(dropout(embedded, options.dropout), {}, lengths);
  EncodedSource source{.states = read.y, .keys = {}, .lengths = lengths, .start = {}};
  if (options.attention != DecoderAttention::none) source.keys = score.keys(read.y);
  // Layer i of the decoder starts from the last state of layer i of the encoder, or of its top layer if i is too large.
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

Tensor RecurrentTranslator::context_of(const EncodedSource& source, const Tensor& query, Probe* probe) const {
  Probe own;
  Tensor context = pool_prepared(score, query, source.keys, source.states,
                                 {.mask = Mask::keys(source.lengths), .probe = probe ? &own : nullptr});
  if (probe) {
    const Tensor& weights = own.records().front().weights;
    probe->record(options.reverse_source ? reversed<float>(weights, source.lengths) : weights);
  }
  return context;
}

Tensor RecurrentTranslator::project(const Tensor& state, const Tensor& context, const Tensor& embedded) const {
  if (!options.deep_output) return output(dropout(state, options.dropout));
  const Tensor parts = context.defined() ? concat({state, context, embedded}, -1) : concat({state, embedded}, -1);
  const Tensor x = dropout(readout(parts, Activation::tanh), options.dropout);
  return options.tied_output ? target_embedding.project(x, output.bias) : output(x);
}

Tensor RecurrentTranslator::decode(const EncodedSource& source, const Tensor& ids, Probe* probe) const {
  const Tensor embedded = dropout(target_embedding(ids), options.dropout);
  if (options.attention == DecoderAttention::none) return project(decoder(embedded, source.start).y, {}, embedded);

  // The input of the cell is [embedding, context]. The embeddings of all steps are known, so they are multiplied by
  // their columns of the weight at once; only the context is computed step by step.
  const std::int64_t B = ids.dim(0), T = ids.dim(1);
  Recurrent cell = decoder;
  const auto columns = split(decoder.weights[0].weight_ih, {options.embedding, source_width()}, 1);
  cell.weights[0].weight_ih = columns[1];
  RecurrentState state = source.start;
  std::vector<Tensor> states, contexts, weights;
  for (const Tensor& token : split(linear(embedded, columns[0]), static_cast<int>(T), 1)) {
    Probe step_probe;
    contexts.push_back(
        context_of(source, state.h.back().reshape({B, 1, options.hidden}), probe ? &step_probe : nullptr));
    if (probe) weights.push_back(step_probe.records().front().weights);
    RecurrentOutput next = cell(contexts.back(), state, {}, token);
    states.push_back(next.y);
    state = std::move(next.state);
  }
  if (probe) probe->enter("cross"), probe->record(concat(weights, 2));
  return project(concat(states, 1), concat(contexts, 1), embedded);
}

Tensor RecurrentTranslator::step(const EncodedSource& source, const Tensor& ids, RecurrentState& state,
                                 Probe* probe) const {
  const std::int64_t B = ids.dim(0);
  const Tensor embedded = target_embedding(ids).reshape({B, 1, options.embedding});
  Tensor context;
  if (options.attention != DecoderAttention::none) {
    if (probe) probe->enter("cross");
    context = context_of(source, state.h.back().reshape({B, 1, options.hidden}), probe);
  }
  RecurrentOutput next = decoder(context.defined() ? concat({embedded, context}, -1) : embedded, state);
  state = std::move(next.state);
  return project(next.y, context, embedded).reshape({B, options.target_vocabulary});
}

// ---- generation ----

namespace {

Tensor ids_of(std::span<const std::int64_t> rows) {
  return Tensor::ids(std::vector<std::int32_t>(rows.begin(), rows.end()), {std::ssize(rows)});
}

/// Pads x [B, S, E] with zeros at the end to [B, length, E].
Tensor lengthened(const Tensor& x, std::int64_t length) {
  if (x.dim(1) == length) return x;
  return concat({x, Tensor::zeros({x.dim(0), length - x.dim(1), x.dim(2)})}, 1);
}

}  // namespace

void RecurrentDecodingState::select(std::span<const std::int64_t> rows) {
  const Tensor ids = ids_of(rows);
  for (std::vector<Tensor>* states : {&state.h, &state.c})
    for (Tensor& one : *states) one = index_select(one, ids, 0);
  std::vector<std::int64_t> chosen, origin;
  std::vector<std::int32_t> source_lengths;
  for (const std::int64_t row : rows) {
    chosen.push_back(length(row)), origin.push_back(origins[static_cast<std::size_t>(row)]);
    source_lengths.push_back(source.lengths.data<std::int32_t>()[row]);
  }
  lengths = std::move(chosen);
  // The encoder's states are large. They need not be copied if every row keeps its source.
  if (origin == origins) return;
  origins = std::move(origin);
  source.lengths = Tensor::ids(source_lengths, {std::ssize(source_lengths)});
  if (!source.keys.defined()) return;
  const bool keys_are_states = source.keys.shares_memory_with(source.states);
  source.states = index_select(source.states, ids, 0);
  source.keys = keys_are_states ? source.states : index_select(source.keys, ids, 0);
}

void RecurrentDecodingState::join(GenerationState&& other) {
  auto& more = static_cast<RecurrentDecodingState&>(other);
  if (rows() == 0) {
    *this = std::move(more);
    return;
  }
  for (std::size_t i = 0; i < state.h.size(); ++i) state.h[i] = concat({state.h[i], more.state.h[i]}, 0);
  for (std::size_t i = 0; i < state.c.size(); ++i) state.c[i] = concat({state.c[i], more.state.c[i]}, 0);
  source.lengths = concat({source.lengths, more.source.lengths}, 0);
  if (source.keys.defined()) {
    const bool keys_are_states = source.keys.shares_memory_with(source.states);
    const std::int64_t S = std::max(source.states.dim(1), more.source.states.dim(1));
    source.states = concat({lengthened(source.states, S), lengthened(more.source.states, S)}, 0);
    source.keys =
        keys_are_states ? source.states : concat({lengthened(source.keys, S), lengthened(more.source.keys, S)}, 0);
  }
  const std::int64_t first = 1 + *std::ranges::max_element(origins);
  for (const std::int64_t origin : more.origins) origins.push_back(first + origin);
  lengths.insert(lengths.end(), more.lengths.begin(), more.lengths.end());
}

StartedGeneration RecurrentTranslator::start(std::span<const GenerationInput> inputs) const {
  const NoGrad no_grad;
  const Training no_training(false);
  std::vector<std::int32_t> first;
  auto state = std::make_unique<RecurrentDecodingState>();
  for (const GenerationInput& input : inputs) {
    if (input.prompt.size() != 1)
      fail("translator", "the prompt must be the start token alone: got ", input.prompt.size(), " tokens");
    state->origins.push_back(std::ssize(first)), state->lengths.push_back(0);
    first.push_back(input.prompt.front());
  }
  const TokenBatch batch = pad_sources(inputs, 0);  // the model ignores padding, so any id will do
  state->source = encode(batch.ids, batch.lengths);
  state->state = state->source.start;
  Tensor next = step(Tensor::ids(first, {std::ssize(first)}), *state);
  return {std::move(state), std::move(next)};
}

Tensor RecurrentTranslator::step(const Tensor& ids, GenerationState& state) const {
  const NoGrad no_grad;
  const Training no_training(false);
  auto& own = static_cast<RecurrentDecodingState&>(state);
  for (std::int64_t& length : own.lengths) ++length;
  return step(own.source, ids, own.state);
}

Seq2SeqSpec RecurrentTranslator::spec() const {
  Seq2SeqSpec spec;
  if (options.attention != DecoderAttention::none) spec.cross = {1, 1};
  if (options.attention == DecoderAttention::location) spec.max_source = options.max_positions;
  return spec;
}

Tensor RecurrentTranslator::logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const {
  return decode(encode(sources, lengths), ids);
}

void RecurrentTranslator::record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids,
                                           Probe& probe) const {
  const NoGrad no_grad;
  const Training no_training(false);
  decode(encode(sources, lengths), ids, &probe);
}

Config RecurrentTranslator::config() const {
  Config config;
  options.write(config);
  return config;
}

}  // namespace attend
