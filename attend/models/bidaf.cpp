#include "attend/models/bidaf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/models/recurrent_common.h"
#include "attend/models/text_classifier.h"
#include "attend/ops/activation.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/concat.h"
#include "attend/ops/dropout.h"
#include "attend/ops/embedding_bag.h"
#include "attend/ops/gather.h"
#include "attend/ops/matmul.h"
#include "attend/ops/reduce.h"
#include "attend/ops/softmax.h"
#include "attend/ops/where.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::int64_t kBytes = 257;  // the border of a word, and the 256 bytes
constexpr std::int64_t kMostWordBytes = 1024;
// Words with the same beginning often have the same stem.
constexpr std::size_t kBeginningBytes = 5;  // of match_version 1
constexpr std::size_t kBeginning = 4;       // in letters, of match_version 2
constexpr std::array kReach = {3.f, 12.f};  // after how many words closeness has fallen to 1/e
constexpr float kCarry = -1.f;              // the initial bias of a highway's gate

/// The different words of a batch. What depends on the word alone is computed once for each of them.
struct DistinctWords {
  std::vector<std::int32_t> ids;       // [N]
  std::vector<std::string> spellings;  // [N], empty if the spelling is not read
  Tensor indices;                      // int32 [B, T]: the word of each token
};

DistinctWords distinct_words(const SpanInput& input, std::int64_t width) {
  DistinctWords words;
  words.indices = Tensor::zeros(input.ids.shape(), DType::i32);
  const std::int64_t T = input.ids.dim(1);
  std::unordered_map<std::string, std::int32_t> known;
  for (std::int64_t i = 0; i < input.ids.numel(); ++i) {
    if (i % T >= input.lengths.data<std::int32_t>()[i / T]) continue;
    const std::int32_t id = input.ids.data<std::int32_t>()[i];
    std::string spelling;
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int32_t byte = input.bytes.data<std::int32_t>()[i * width + j];
      if (byte < 0 || byte >= kBytes)
        fail("bidaf", "wrong byte in the spelling of token ", i, ": got ", byte, ", expected 0 to ", kBytes - 1);
      if (byte == 0) break;
      spelling += static_cast<char>(byte - 1);
    }
    const auto [found, added] =
        known.emplace(std::to_string(id) + ' ' + spelling, static_cast<std::int32_t>(words.ids.size()));
    if (added) words.ids.push_back(id), words.spellings.push_back(std::move(spelling));
    words.indices.data<std::int32_t>()[i] = found->second;
  }
  return words;
}

/// The windows of a convolution over the spelling of each word, with a border on each side: in each place k of a
/// window, byte · K + k, or kNoWord after a short word.
struct Windows {
  Tensor ids;     // int32 [N, windows, K]
  Tensor counts;  // int32 [N], each at least 1
};

Windows windows_of(const std::vector<std::string>& spellings, std::int64_t K) {
  const auto N = std::ssize(spellings);
  std::vector<std::int32_t> counts;
  counts.reserve(spellings.size());
  for (const std::string& word : spellings)
    counts.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(std::ssize(word) + 2 - K + 1, 1)));
  const std::int64_t most = std::ranges::max(counts);
  Windows windows{Tensor::empty({N, most, K}, DType::i32), Tensor::ids(counts, {N})};
  std::int32_t* to = windows.ids.data<std::int32_t>();
  for (const std::string& word : spellings)
    for (std::int64_t t = 0; t < most; ++t)
      for (std::int64_t k = 0; k < K; ++k) {
        const std::int64_t place = t + k - 1, size = std::ssize(word);
        const std::int64_t byte =
            place < 0 || place >= size ? 0 : static_cast<unsigned char>(word[static_cast<std::size_t>(place)]) + 1;
        *to++ = place > size ? kNoWord : static_cast<std::int32_t>(byte * K + k);
      }
  return windows;
}

/// Whether two words match, by each feature: the same word, the same in lower case, the same beginning.
class Matcher {
 public:
  Matcher(const DistinctWords& words, const BidafOptions& options)
      : words_(words), spelled_(options.word_bytes > 0), version_(options.match_version) {
    for (const std::string& spelling : words.spellings) {
      std::u32string& letters = letters_.emplace_back();
      for (std::size_t at = 0; at < spelling.size();) {
        const CodePoint c =
            version_ == 1 ? CodePoint{static_cast<unsigned char>(spelling[at]), 1, true} : decode_utf8(spelling, at);
        letters += version_ == 1 && c.value > 0x7F ? c.value : lower_case(c.value).first;
        at += static_cast<std::size_t>(c.size);
      }
    }
  }

  bool operator()(std::int64_t feature, std::int32_t word, std::int32_t other) const {
    if (word == other) return true;
    const auto a = static_cast<std::size_t>(word), b = static_cast<std::size_t>(other);
    if (feature == 0) return spelled_ && words_.spellings[a] == words_.spellings[b];
    return feature == 1 ? letters_[a] == letters_[b] : same_beginning(letters_[a], letters_[b]);
  }

 private:
  bool same_beginning(std::u32string_view a, std::u32string_view b) const {
    if (version_ == 1) return a.substr(0, kBeginningBytes) == b.substr(0, kBeginningBytes);
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    return a == b || (common >= kBeginning && 2 * common >= std::max(a.size(), b.size()));
  }

  const DistinctWords& words_;
  bool spelled_;
  std::int64_t version_;
  std::vector<std::u32string> letters_;  // of each word, in lower case
};

/// The words of sequence b.
std::span<const std::int32_t> words_in(const PartBatch& part, std::int64_t b) {
  return {part.ids.data<std::int32_t>() + b * part.ids.dim(1),
          static_cast<std::size_t>(part.lengths.data<std::int32_t>()[b])};
}

/// Whether each word of a text matches each word of the question.   -> [B, T · J, F]
Tensor matches(const PartBatch& text, const PartBatch& question, const Matcher& match, std::int64_t F) {
  const std::int64_t B = text.ids.dim(0), T = text.ids.dim(1), J = question.ids.dim(1);
  Tensor found = Tensor::zeros({B, T * J, F});
  for (std::int64_t b = 0; b < B; ++b) {
    float* row = found.data() + b * T * J * F;
    for (const std::int32_t word : words_in(text, b)) {
      float* to = row;
      for (const std::int32_t other : words_in(question, b))
        for (std::int64_t f = 0; f < F; ++f) *to++ = match(f, word, other) ? 1.f : 0.f;
      row += J * F;
    }
  }
  return found;
}

/// How close each word of a text is to the nearest word that matches a word of the question by the last feature:
/// exp(-distance / reach) for each reach, or 0 if no word matches.   found [B, T · J, F] -> [B, T · reaches, J]
Tensor closeness_of(const Tensor& found, std::int64_t T, std::int64_t J) {
  const std::int64_t B = found.dim(0), F = found.dim(2), K = std::ssize(kReach);
  Tensor close = Tensor::zeros({B, T * K, J});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t k = 0; k < K; ++k)
      for (std::int64_t j = 0; j < J; ++j) {
        const float decay = std::exp(-1.f / kReach[static_cast<std::size_t>(k)]);
        float value = 0.f;
        const auto visit = [&](std::int64_t t) {
          float& to = close.data()[((b * T + t) * K + k) * J + j];
          value = found.data()[((b * T + t) * J + j) * F + F - 1] > 0 ? 1.f : value * decay;
          to = value = std::max(to, value);
        };
        for (std::int64_t t = 0; t < T; ++t) visit(t);
        for (std::int64_t t = T - 1; t >= 0; --t) visit(t);
      }
  return close;
}

/// 1 in the padding, otherwise 0.   -> int8 [B, 1, T]
Tensor padding_of(const PartBatch& part) {
  const std::int64_t B = part.ids.dim(0), T = part.ids.dim(1);
  Tensor padding = Tensor::zeros({B, 1, T}, DType::i8);
  for (std::int64_t b = 0; b < B; ++b)
    std::fill(padding.data<std::int8_t>() + b * T + part.lengths.data<std::int32_t>()[b],
              padding.data<std::int8_t>() + (b + 1) * T, std::int8_t{1});
  return padding;
}

/// Where the logits of the words of the texts belong in the sequences of questions and texts.
struct Places {
  Tensor from;  // int32 [B, T]: 0 for "no answer", 1 + the word of the text
  Tensor none;  // int8 [B, T]: 1 where no answer can be
};

Places places_of(const SpanInput& input, const PairBatch& pair) {
  const std::int64_t B = input.ids.dim(0), T = input.ids.dim(1);
  Places places{Tensor::zeros({B, T}, DType::i32), Tensor::zeros({B, T}, DType::i8)};
  std::fill_n(places.none.data<std::int8_t>(), B * T, std::int8_t{1});
  for (std::int64_t b = 0; b < B; ++b) {
    std::int32_t* from = places.from.data<std::int32_t>() + b * T;
    std::int8_t* none = places.none.data<std::int8_t>() + b * T;
    const std::int32_t question = pair.first.lengths.data<std::int32_t>()[b];
    const std::int32_t text = pair.second.lengths.data<std::int32_t>()[b];
    std::iota(from + question, from + question + text, 1);
    std::fill_n(none + question, text, std::int8_t{0});
    none[0] = 0;
  }
  return places;
}

void check(const SpanInput& input, std::int64_t width) {
  const bool ids = input.ids.rank() == 2 && input.ids.dim(0) > 0 && input.lengths.shape() == Shape{input.ids.dim(0)};
  if (!ids || input.types.shape() != input.ids.shape())
    fail("bidaf", "the input does not fit together: got ids ", input.ids.shape(), ", lengths ", input.lengths.shape(),
         " and types ", input.types.shape(), ", expected [B, T], [B] and [B, T]");
  const Shape bytes{input.ids.dim(0), input.ids.dim(1), width};
  if (width > 0 && (!input.bytes.defined() || input.bytes.shape() != bytes))
    fail("bidaf", "wrong shape of the spelling: got ", input.bytes.shape(), ", expected ", bytes);
}

}  // namespace

BidafOptions BidafOptions::read(const Config& config) {
  BidafOptions o;
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.embedding = config.integer_in("embedding", 1, bounds::kWidth);
  o.hidden = config.integer_in("hidden", 1, bounds::kWidth);
  o.word_bytes = config.integer_in("word_bytes", 0, kMostWordBytes);
  if (o.word_bytes > 0) {
    o.byte_embedding = config.integer_in("byte_embedding", 1, bounds::kWidth);
    o.filters = config.integer_in("filters", 1, bounds::kWidth);
    o.filter_width = config.integer_in("filter_width", 1, kMostWordBytes);
  }
  o.match = config.flag("match");
  o.match_version = config.integer_in("match_version", 1, 2, 1);
  o.summary = config.flag("summary", false);
  o.dropout = config.probability("dropout", 0.0);
  return o;
}

void BidafOptions::write(Config& config) const {
  config.set("model_type", "attend-bidaf");
  config.set("vocab_size", vocabulary);
  config.set("embedding", embedding);
  config.set("hidden", hidden);
  config.set("word_bytes", word_bytes);
  if (word_bytes > 0) {
    config.set("byte_embedding", byte_embedding);
    config.set("filters", filters);
    config.set("filter_width", filter_width);
  }
  config.set("match", match);
  config.set("match_version", match_version);
  config.set("summary", summary);
  config.set("dropout", dropout);
}

double BidafOptions::least_parameters() const {
  const auto width = static_cast<double>(word_width()), d = static_cast<double>(hidden);
  double least = static_cast<double>(vocabulary) * static_cast<double>(embedding) + 4. * width * width + 8. * d * width;
  if (word_bytes > 0) least += static_cast<double>(byte_embedding) * static_cast<double>(filters * filter_width);
  return least + 128. * d * d;
}

Highway::Highway(std::int64_t width, Generator& generator)
    : transform(width, width, true, generator), gate(width, width, true, generator) {
  gate.bias.fill(kCarry);
}

Tensor Highway::operator()(const Tensor& x) const {
  return x + gate(x, Activation::sigmoid) * (transform(x, Activation::relu) - x);
}

Bidaf::Bidaf(const BidafOptions& o, Generator& generator) : options(o) {
  if (o.word_bytes > 0 && o.filter_width > o.word_bytes + 2)
    fail<InputError>("bidaf", "the filters are wider than a word with its borders: got filter_width ", o.filter_width,
                     " and word_bytes ", o.word_bytes);
  const std::int64_t d = o.hidden;
  embedding = Embedding(o.vocabulary, o.embedding, generator, kEmbeddingDeviation);
  if (o.word_bytes > 0) {
    bytes = Embedding(kBytes, o.byte_embedding, generator, kEmbeddingDeviation);
    filters = Linear(o.byte_embedding, o.filter_width * o.filters, false, generator);
    filters_bias = Tensor::zeros({o.filters});
  }
  for (int layer = 0; layer < 2; ++layer) highway.emplace_back(o.word_width(), generator);
  contextual = Lstm({.input = o.word_width() + o.match_features(), .hidden = d, .bidirectional = true}, generator);
  text_similarity = Linear(2 * d, 1, false, generator), question_similarity = Linear(2 * d, 1, false, generator);
  product_similarity = Tensor::full({2 * d}, 1.f);  // at first, words in similar contexts are similar
  if (o.match) match_similarity = Tensor::full({o.match_features(), 1}, 1.f);
  const std::int64_t extra = o.closeness_features();
  if (extra > 0) importance = Linear(2 * d, 1, true, generator);
  modelling = Lstm({.input = 8 * d + extra, .hidden = d, .layers = 2, .bidirectional = true}, generator);
  end_modelling = Lstm({.input = 2 * d, .hidden = d, .bidirectional = true}, generator);
  start = Linear(10 * d + extra, 1, true, generator), end = Linear(10 * d + extra, 1, true, generator);
  if (o.summary) {
    summary = Linear(2 * d, 1, true, generator);
    question_start = Linear(2 * d, 2 * d, false, generator), question_end = Linear(2 * d, 2 * d, false, generator);
  }
  set_dropout(o.dropout);
}

void Bidaf::set_dropout(float dropout) { options.dropout = modelling.options.dropout = dropout; }

SpanLogits Bidaf::find_spans(const SpanInput& input, Probe* probe) const {
  check(input, options.word_bytes);
  const auto drop = [&](const Tensor& x) { return dropout(x, options.dropout); };
  const DistinctWords words = distinct_words(input, options.word_bytes);
  const PairBatch pair = pairs_of("bidaf", {words.indices, input.lengths, input.types});
  const PartBatch &question = pair.first, &text = pair.second;
  const std::int64_t B = text.ids.dim(0), T = text.ids.dim(1), J = question.ids.dim(1), N = std::ssize(words.ids);

  // Layers 1 and 2, for each different word: its vector, and the convolution over its spelling. A byte's vector times
  // the filters is the same in every window, so the convolution is a sum of rows of that product.
  Tensor vectors = embedding(Tensor::ids(words.ids, {N}));
  if (options.word_bytes > 0) {
    std::vector<std::int32_t> all(kBytes);
    std::iota(all.begin(), all.end(), 0);
    const Tensor products =
        filters(drop(bytes(Tensor::ids(all, {kBytes})))).reshape({kBytes * options.filter_width, options.filters});
    const Windows windows = windows_of(words.spellings, options.filter_width);
    const Tensor spelling = relu(max(embedding_bag(products, windows.ids), windows.counts) + filters_bias);
    vectors = concat({vectors, spelling}, -1);
  }
  for (const Highway& layer : highway) vectors = layer(vectors);

  // Layer 3: the words in their contexts.
  const std::int64_t F = options.match_features();
  const Tensor match = F > 0 ? matches(text, question, Matcher(words, options), F) : Tensor();
  const auto read = [&](const PartBatch& part, int other) {
    const Tensor x = drop(attend::embedding(vectors, part.ids));
    return contextual(F > 0 ? concat({x, max(match.reshape({B, T, J, F}), other)}, -1) : x, {}, part.lengths).y;
  };
  const Tensor h = read(text, 2), u = read(question, 1);  // [B, T, 2d] and [B, J, 2d]

  // Layer 4: attention flow. The similarity α is computed in parts, so that [h; u; h ∘ u] is never stored.
  Tensor similarity = matmul(h * product_similarity, u, {.transpose_b = true}) + text_similarity(h) +
                      question_similarity(u).reshape({B, 1, J});  // [B, T, J]
  if (F > 0) similarity = similarity + matmul(match, match_similarity).reshape({B, T, J});
  similarity = masked_fill(similarity, padding_of(question), kNoSpan);
  const Tensor to_question = softmax(similarity);
  const Tensor to_text = masked_softmax(max(similarity, 2), text.lengths).reshape({B, 1, T});
  if (probe) probe->enter("context_to_question"), probe->record(to_question.detach());
  if (probe) probe->enter("question_to_context"), probe->record(to_text.detach());
  const Tensor attended = matmul(to_question, u);
  Tensor g = drop(concat({h, attended, h * attended, h * matmul(to_text, h)}, -1));  // [B, T, 8d]
  if (const std::int64_t K = options.closeness_features(); K > 0) {
    const Tensor weights = masked_softmax(importance(u).reshape({B, J}), question.lengths).reshape({B, J, 1});
    g = concat({g, matmul(closeness_of(match, T, J), weights).reshape({B, T, K})}, -1);
  }

  // Layers 5 and 6.
  const Tensor m = modelling(g, {}, text.lengths).y;
  const Tensor m_end = end_modelling(drop(m), {}, text.lengths).y;
  const Places places = places_of(input, pair);
  Tensor asked;  // [B, 1, 2d]
  if (options.summary)
    asked = drop(matmul(masked_softmax(summary(u).reshape({B, J}), question.lengths).reshape({B, 1, J}), u));
  const auto logits = [&](const Linear& output, const Linear& question_output, const Tensor& states,
                          std::int64_t side) {
    const Tensor dropped = drop(states);
    Tensor of_words = output(concat({g, dropped}, -1)).reshape({B, T});
    if (options.summary)
      of_words = of_words + matmul(dropped, question_output(asked), {.transpose_b = true}).reshape({B, T});
    const Tensor none = Tensor::zeros({B, 1}) + slice(no_answer, 0, side, side + 1);
    return masked_fill(gather(concat({none, of_words}, 1), places.from), places.none, kNoSpan);
  };
  return {logits(start, question_start, m, 0), logits(end, question_end, m_end, 1)};
}

Config Bidaf::config() const {
  Config config;
  options.write(config);
  return config;
}

}  // namespace attend
