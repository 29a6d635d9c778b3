#include "attend/models/text_classifier.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/ops/activation.h"
#include "attend/ops/concat.h"
#include "attend/ops/cosine_similarity.h"
#include "attend/ops/matmul.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

using Part = std::span<const std::int32_t>;

/// The parts of each text.
std::vector<std::vector<Part>> parts_of(const char* op, const ClassifierInput& input) {
  const std::int64_t B = input.ids.dim(0), T = input.ids.dim(1);
  std::vector<std::vector<Part>> texts(static_cast<std::size_t>(B));
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int32_t* ids = input.ids.data<std::int32_t>() + b * T;
    const std::int32_t* parts = input.parts.defined() ? input.parts.data<std::int32_t>() + b * T : nullptr;
    const std::int64_t length = input.lengths.data<std::int32_t>()[b];
    std::vector<Part>& text = texts[static_cast<std::size_t>(b)];
    for (std::int64_t begin = 0, end = 0; begin < length; begin = end) {
      while (end < length && (!parts || parts[end] == parts[begin])) ++end;
      if (parts && parts[begin] != std::ssize(text))
        fail(op, "the parts of text ", b, " are not numbered in order: got ", parts[begin], ", expected ", text.size());
      text.emplace_back(ids + begin, static_cast<std::size_t>(end - begin));
    }
    if (text.empty()) fail(op, "text ", b, " has no tokens");
  }
  return texts;
}

PartBatch padded(const std::vector<Part>& parts) {
  TokenBatch batch = pad(parts, 0);
  return {std::move(batch.ids), std::move(batch.lengths)};
}

/// m_i of MatchCounts, and zeros for padding.   -> [N, W, 3]
Tensor matches(const PartBatch& text, const PartBatch& other, const Embedding& words) {
  const NoGrad no_grad;
  const std::int64_t N = text.ids.dim(0), W = text.ids.dim(1), V = other.ids.dim(1);
  const Tensor cosines = cosine_similarity(words(text.ids), words(other.ids));  // [N, W, V]
  Tensor all = Tensor::zeros({N, W, 3});
  for (std::int64_t n = 0; n < N; ++n) {
    const Part others(other.ids.data<std::int32_t>() + n * V,
                      static_cast<std::size_t>(other.lengths.data<std::int32_t>()[n]));
    for (std::int64_t w = n * W; w < n * W + text.lengths.data<std::int32_t>()[n]; ++w) {
      const float* row = cosines.data() + w * V;
      float* to = all.data() + 3 * w;
      to[0] = 1.f;
      to[1] = std::ranges::count(others, text.ids.data<std::int32_t>()[w]) > 0 ? 0.f : 1.f;
      to[2] = 1.f - *std::max_element(row, row + others.size());
    }
  }
  return all;
}

/// The most tokens of a group, padding included: what a network computes for a group takes some kB for each of them.
constexpr std::size_t kGroupTokens = 65536;
/// The longest sentence that shares a group with sentences of this length.
std::size_t longest_beside(std::size_t length) { return length + length / 2 + 2; }

}  // namespace

void check_labels(const std::vector<std::string>& labels) {
  if (labels.size() < 2) fail<InputError>("classifier", "expected at least 2 labels: got ", labels.size());
}

PairBatch pairs_of(const char* op, const ClassifierInput& input) {
  std::vector<Part> first, second;
  for (const std::vector<Part>& text : parts_of(op, input)) {
    if (text.size() != 2) fail(op, "expected pairs of texts: got a text of ", text.size(), " parts");
    first.push_back(text[0]), second.push_back(text[1]);
  }
  return {padded(first), padded(second)};
}

Tensor MatchCounts::append(const Tensor& features, const PairBatch& pair, const Embedding& words) const {
  if (!gate.defined()) return features;
  const auto counts = [&](const PartBatch& text, const PartBatch& other) {
    const Tensor sums = matmul(sigmoid(gate(words(text.ids))), matches(text, other, words), {.transpose_a = true});
    return sums.reshape({sums.dim(0), 3 * gate.out()});
  };
  return concat({features, counts(pair.first, pair.second), counts(pair.second, pair.first)}, -1);
}

SentenceBatch sentences_of(const char* op, const ClassifierInput& input, bool grouped) {
  std::vector<Part> all;
  std::vector<std::int32_t> counts;
  for (const std::vector<Part>& text : parts_of(op, input)) {
    all.insert(all.end(), text.begin(), text.end());
    counts.push_back(static_cast<std::int32_t>(text.size()));
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  if (grouped) std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i].size(); });

  SentenceBatch batch;
  std::vector<std::int32_t> row_of(all.size());
  std::vector<Part> group;
  for (std::size_t row = 0; row < order.size(); ++row) {
    const Part& part = all[order[row]];
    if (grouped && !group.empty() &&
        (part.size() > longest_beside(group.front().size()) || (group.size() + 1) * part.size() > kGroupTokens)) {
      batch.groups.push_back(padded(group));
      group.clear();
    }
    group.push_back(part);
    row_of[order[row]] = static_cast<std::int32_t>(row);
  }
  batch.groups.push_back(padded(group));

  const std::int32_t S = std::ranges::max(counts);
  const std::int64_t B = std::ssize(counts);
  batch.rows = Tensor::zeros({B, S}, DType::i32);
  batch.counts = Tensor::ids(counts, {B});
  std::size_t next = 0;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int32_t s = 0; s < counts[static_cast<std::size_t>(b)]; ++s)
      batch.rows.data<std::int32_t>()[b * S + s] = row_of[next++];
  return batch;
}

}  // namespace attend
