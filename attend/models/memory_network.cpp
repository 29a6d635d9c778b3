#include "attend/models/memory_network.h"

#include <algorithm>
#include <map>

#include "attend/attention/pooling.h"
#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding.h"
#include "attend/ops/matmul.h"
#include "attend/ops/tape.h"

namespace attend {

const std::vector<std::pair<std::string, MemoryTying>> kMemoryTyingNames = {{"adjacent", MemoryTying::adjacent},
                                                                            {"layer-wise", MemoryTying::layer_wise}};
const std::vector<std::pair<std::string, SentenceEncoding>> kSentenceEncodingNames = {
    {"bag", SentenceEncoding::bag}, {"position", SentenceEncoding::position}};

namespace {

constexpr std::int64_t kMostHops = 100;

/// Position encoding for sentences of these words: a row for each position of each length that occurs.
BagWeights position_encoding(const Tensor& ids, std::int64_t width) {
  const std::int64_t sentences = ids.dim(0), J = ids.dim(1);
  std::map<std::int64_t, std::int64_t> first_row;  // by length
  std::vector<std::int64_t> lengths;
  std::int64_t rows = 1;  // row 0 is for places without a word
  for (std::int64_t n = 0; n < sentences; ++n) {
    const std::int32_t* words = ids.data<std::int32_t>() + n * J;
    lengths.push_back(std::find(words, words + J, kNoWord) - words);
    if (first_row.emplace(lengths.back(), rows).second) rows += lengths.back();
  }
  BagWeights weights{Tensor::zeros({rows, width}), Tensor::zeros(ids.shape(), DType::i32)};
  for (const auto& [length, first] : first_row)
    for (std::int64_t j = 0; j < length; ++j)
      for (std::int64_t k = 0; k < width; ++k) {
        const float place = static_cast<float>(j + 1) / static_cast<float>(length);
        const float dimension = static_cast<float>(k + 1) / static_cast<float>(width);
        weights.rows.data()[(first + j) * width + k] = (1 - place) - dimension * (1 - 2 * place);
      }
  for (std::int64_t n = 0; n < sentences; ++n)
    for (std::int64_t j = 0; j < lengths[static_cast<std::size_t>(n)]; ++j)
      weights.positions.data<std::int32_t>()[n * J + j] =
          static_cast<std::int32_t>(first_row[lengths[static_cast<std::size_t>(n)]] + j);
  return weights;
}

/// 1 for each sentence of a story, 0 for padding.   -> [B, 1, S]
Tensor presence(const StoryBatch& batch) {
  const std::int64_t B = batch.stories.dim(0), S = batch.stories.dim(1);
  Tensor present = Tensor::zeros({B, 1, S});
  for (std::int64_t b = 0; b < B; ++b) std::fill_n(present.data() + b * S, batch.lengths.data<std::int32_t>()[b], 1.f);
  return present;
}

/// Each memory as a bag of two rows, its sentence's and its time's, which is behind those of all sentences. So a memory
/// is one sum, and padding costs nothing.   -> int32 [B, S, 2], or [B, S, 1] without temporal encoding
Tensor memory_rows(const StoryBatch& batch, bool temporal) {
  const std::int64_t B = batch.stories.dim(0), S = batch.stories.dim(1), parts = temporal ? 2 : 1;
  const auto sentences = static_cast<std::int32_t>(batch.sentences.dim(0));
  std::vector<std::int32_t> rows(static_cast<std::size_t>(B * S * parts), kNoWord);
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t s = b * S; s < b * S + batch.lengths.data<std::int32_t>()[b]; ++s) {
      rows[static_cast<std::size_t>(s * parts)] = batch.stories.data<std::int32_t>()[s];
      if (temporal) rows[static_cast<std::size_t>(s * parts) + 1] = sentences + batch.times.data<std::int32_t>()[s];
    }
  return Tensor::ids(rows, {B, S, parts});
}

/// ReLU on the second half of the units, as in the paper's language model (section 5).   [B, width] -> [B, width]
Tensor half_relu(const Tensor& u) {
  const std::int64_t half = u.dim(1) / 2;
  return concat({slice(u, 1, 0, half), relu(slice(u, 1, half, u.dim(1)))}, 1);
}

Tensor normal_table(std::int64_t rows, std::int64_t width, float deviation, Generator& generator) {
  Tensor table = Tensor::empty({rows, width});
  init::normal(table, deviation, generator);
  return table;
}

}  // namespace

std::int64_t MemoryNetworkOptions::rows() const {
  std::int64_t most = vocabulary;
  for (const std::int64_t row : answer_rows) most = std::max(most, row + 1);
  return most;
}

MemoryNetworkOptions MemoryNetworkOptions::read(const Config& config) {
  MemoryNetworkOptions o;
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.answers = config.texts("answers");
  o.answer_rows = config.integers("answer_rows");
  if (o.answers.empty() || o.answer_rows.size() != o.answers.size())
    fail<InputError>("config", config.name(), ": \"answer_rows\" has ", o.answer_rows.size(),
                     " elements, expected one for each of the ", o.answers.size(), " \"answers\", and at least one");
  for (const std::int64_t row : o.answer_rows)
    if (row < 0 || row >= o.vocabulary + std::ssize(o.answers))
      fail<InputError>("config", config.name(), ": \"answer_rows\" has the row ", row, ", expected 0 to ",
                       o.vocabulary + std::ssize(o.answers) - 1);
  o.width = config.integer_in("width", 1, bounds::kWidth);
  o.hops = config.integer_in("hops", 1, kMostHops);
  o.memory = config.integer_in("memory", 1, bounds::kPositions);
  o.tying = config.choice("tying", kMemoryTyingNames);
  o.encoding = config.choice("encoding", kSentenceEncodingNames);
  o.temporal = config.flag("temporal");
  o.nonlinear = config.flag("nonlinear", false);
  o.hop_matrix = config.flag("hop_matrix", false);
  if (config.flag("linear", false))
    fail<InputError>("config", config.name(),
                     ": \"linear\" is true: this network was saved during linear start, so its "
                     "hops have no softmax; train it for more epochs");
  o.dropout = config.probability("dropout", 0.0);
  return o;
}

void MemoryNetworkOptions::write(Config& config) const {
  config.set("model_type", "attend-memory-network");
  config.set("vocab_size", vocabulary);
  config.set("answers", answers);
  config.set("answer_rows", answer_rows);
  config.set("width", width);
  config.set("hops", hops);
  config.set("memory", memory);
  config.set("tying", name_of(tying, kMemoryTyingNames));
  config.set("encoding", name_of(encoding, kSentenceEncodingNames));
  config.set("temporal", temporal);
  config.set("nonlinear", nonlinear);
  config.set("hop_matrix", hop_matrix);
  config.set("dropout", dropout);
}

double MemoryNetworkOptions::least_parameters() const {
  const std::int64_t tables = tying == MemoryTying::adjacent ? hops + 1 : 2;
  return static_cast<double>(tables) * static_cast<double>(rows() + (temporal ? memory : 0)) *
         static_cast<double>(width);
}

MemoryNetwork::MemoryNetwork(const MemoryNetworkOptions& o, Generator& generator) : options(o) {
  if (o.answers.empty() || o.answer_rows.size() != o.answers.size())
    fail<InputError>("memory_network", "expected at least one answer, each with a row: got ", o.answers.size(),
                     " answers and ", o.answer_rows.size(), " rows");
  if (o.hops < 1) fail<InputError>("memory_network", "expected at least 1 hop: got ", o.hops);
  const auto table = [&](std::int64_t rows) { return normal_table(rows, o.width, o.deviation, generator); };
  const bool adjacent = o.tying == MemoryTying::adjacent;
  for (std::int64_t i = 0; i < (adjacent ? o.hops + 1 : 2); ++i)
    embeddings.push_back({table(o.rows()), o.temporal ? Tensor::zeros({o.memory, o.width}) : Tensor()});
  if (has_hop_matrix()) {
    next = Linear(Tensor::zeros({o.width, o.width}));  // the identity: at first, each hop adds to the question
    for (std::int64_t i = 0; i < o.width; ++i) next.weight.data()[i * o.width + i] = 1.f;
  }
  if (adjacent) return;
  question = table(o.rows());
  output = table(std::ssize(o.answers));
}

Tensor MemoryNetwork::memories(const MemoryEmbedding& embedding, const StoryBatch& batch, const BagWeights& weights,
                               const Tensor& rows) const {
  const Tensor sentences = embedding_bag(embedding.words, batch.sentences, weights);  // [N, width]
  const Tensor table = options.temporal ? concat({sentences, embedding.times}, 0) : sentences;
  return dropout(embedding_bag(table, rows), options.dropout);  // [B, S, width]
}

Tensor MemoryNetwork::operator()(const StoryBatch& batch, Probe* probe) const {
  const bool adjacent = options.tying == MemoryTying::adjacent,
             encoded = options.encoding == SentenceEncoding::position;
  const auto weights_of = [&](const Tensor& ids) {
    return encoded ? position_encoding(ids, options.width) : BagWeights();
  };
  const std::int64_t B = batch.questions.dim(0);
  const Mask mask = Mask::keys(batch.lengths);
  const Tensor present = options.linear ? presence(batch) : Tensor();
  const BagWeights weights = weights_of(batch.sentences);
  const Tensor rows = memory_rows(batch, options.temporal);

  Tensor u = dropout(
      embedding_bag(adjacent ? embeddings.front().words : question, batch.questions, weights_of(batch.questions)),
      options.dropout);                                         // [B, width]
  Tensor m = memories(embeddings[0], batch, weights, rows), c;  // [B, S, width]
  if (!adjacent) c = memories(embeddings[1], batch, weights, rows);
  for (std::int64_t hop = 0; hop < options.hops; ++hop) {
    if (adjacent) c = memories(embeddings[static_cast<std::size_t>(hop) + 1], batch, weights, rows);
    const Tensor query = u.reshape({B, 1, options.width});
    Tensor o;
    if (probe) probe->enter("hop." + std::to_string(hop));
    if (options.linear) {
      const Tensor p = Dot()(query, m) * present;
      if (probe) probe->record(p.detach());
      o = matmul(p, c);
    } else {
      o = pool(Dot(), query, m, c, {.mask = mask, .probe = probe});
    }
    u = (has_hop_matrix() ? next(u) : u) + o.reshape({B, options.width});
    if (options.nonlinear && !options.linear && hop + 1 < options.hops) u = half_relu(u);
    if (adjacent) m = c;
  }
  if (!adjacent) return linear(u, output);
  const std::vector<std::int32_t> chosen(options.answer_rows.begin(), options.answer_rows.end());
  const Tensor answers = attend::embedding(embeddings.back().words, Tensor::ids(chosen, {std::ssize(chosen)}));
  return linear(u, answers);
}

Config MemoryNetwork::config() const {
  Config config;
  options.write(config);
  return config;
}

}  // namespace attend
