// The scoring functions of attention side by side; why dot products are divided by √d; masked softmax.
#include <cmath>

#include "attend/attention/scores.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/ops/softmax.h"

namespace attend::cli::scores_lesson {
namespace {

constexpr std::int64_t kQueries = 6, kKeys = 8, kWidth = 16;

Tensor normal(const Shape& shape, Generator& generator) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0, 1, generator);
  return x;
}

/// In bits: 0 if one key has all the weight, log2(S) if all S keys have the same weight.
double entropy_of_row(std::span<const float> weights) {
  double bits = 0;
  for (const float w : weights)
    if (w > 0) bits -= w * std::log2(w);
  return bits;
}

Figure side_by_side(const Tensor& q, const Tensor& k, Generator& generator) {
  struct Named {
    const char* name;
    Score score;
  };
  Content sharp;
  sharp.sharpness = Tensor::scalar(8.f);
  const std::vector<Named> scores = {{"dot", Dot()},
                                     {"scaled dot", ScaledDot()},
                                     {"additive", Additive(kWidth, kWidth, kWidth, generator)},
                                     {"general", General(kWidth, kWidth, generator)},
                                     {"location", Location(kWidth, kKeys, generator)},
                                     {"content, β = 8", sharp}};
  Figure figure{
      "Attention weights of the same 6 queries (rows) over the same 8 keys (columns). Query i is key i plus noise. All "
      "maps have one scale.",
      {}};
  for (const Named& named : scores) {
    const Tensor weights = softmax(named.score(q, named.score.keys(k)));
    figure.panels.emplace_back(HeatMap{named.name, "key", "query", kQueries, kKeys, weights.to_vector()});
  }
  share_scale(figure);
  return figure;
}

/// The effect of the width d on a softmax over 16 random keys.
void why_the_root(Page& page, Generator& generator) {
  constexpr std::int64_t kMany = 256, kSome = 16;
  Table table{{"d", "std of q·k", "std of q·k/√d", "entropy of softmax(q·k)", "of softmax(q·k/√d)"}, {}};
  Series plain{"dot", {}, {}}, scaled{"scaled dot", {}, {}};
  for (std::int64_t d = 4; d <= 1024; d *= 4) {
    const Tensor q = normal({1, kMany, d}, generator), k = normal({1, kSome, d}, generator);
    std::vector<std::string> row{std::to_string(d)};
    std::vector<double> entropies;
    for (const Score& score : {Score(Dot()), Score(ScaledDot())}) {
      const Tensor s = score(q, score.keys(k)), w = softmax(s);
      double square = 0, entropy = 0;
      for (const float value : s.span()) square += value * value;
      for (std::size_t i = 0; i < kMany; ++i) entropy += entropy_of_row(w.span().subspan(i * kSome, kSome));
      row.push_back(fixed(std::sqrt(square / static_cast<double>(s.numel())), 2));
      entropies.push_back(entropy / kMany);
    }
    for (const double entropy : entropies) row.push_back(fixed(entropy, 2));
    plain.x.push_back(static_cast<float>(d)), plain.y.push_back(static_cast<float>(entropies[0]));
    scaled.x.push_back(static_cast<float>(d)), scaled.y.push_back(static_cast<float>(entropies[1]));
    table.rows.push_back(std::move(row));
  }
  page.heading("Why √d");
  page.say(
      "The dot product of two random vectors of d numbers has a variance of d. So the scores grow with the width of "
      "the model, until the softmax puts nearly all weight on one key and its gradient vanishes. Divided by √d, the "
      "scores have a standard deviation of about 1 at every width, and the weights stay spread. The table has the "
      "standard deviation of the scores, and the entropy of the weights in bits: an even spread over the 16 keys has " +
      fixed(std::log2(kSome), 0) + " bits, all weight on one key has 0. At d = " + table.rows.back()[0] +
      ", the entropy is " + table.rows.back()[3] + " bits without the division and " + table.rows.back()[4] +
      " bits with it.");
  page.show(table);
  page.show(Figure{"Entropy of the weights over 16 keys.",
                   {LinePlot{"entropy of the attention weights", "d", "bits", {plain, scaled}, true, false}}});
}

Page give() {
  Generator generator(2015);
  const Tensor k = normal({1, kKeys, kWidth}, generator), noise = normal({1, kQueries, kWidth}, generator);
  Tensor q = Tensor::empty({1, kQueries, kWidth});
  for (std::int64_t i = 0; i < q.numel(); ++i) q.data()[i] = k.data()[i] + 0.5f * noise.data()[i];

  Page page{"Scores: how well a key matches a query", {}};
  page.say(
      "A scoring function computes how well a key matches a query; a softmax turns the scores into attention weights.");
  page.show(Table{{"score", "formula"},
                  {{"dot", "q·k"},
                   {"scaled dot", "q·k/√d"},
                   {"additive", "v·tanh(Wq + Uk)"},
                   {"general", "qᵀWk"},
                   {"location", "(Wq)ⱼ, without the keys"},
                   {"content", "β cos(q, k)"}}});
  page.say(
      "Dot, scaled dot and content have no weights to learn: they give the greatest weight to the key that is similar "
      "to the query. Additive, general and location start from random weights here; they must be trained first.");
  page.show(side_by_side(q, k, generator));
  why_the_root(page, generator);

  page.heading("Masked softmax");
  page.say(
      "The sequences of a batch are padded to the same length. A masked softmax gives the padding a weight of 0, and "
      "the other weights of a row add up to 1. If a sequence is empty, all its weights are 0, not NaN.");
  const std::int32_t lengths[kQueries] = {8, 6, 4, 2, 1, 0};
  const ScaledDot score;
  const Tensor scores = score(q, score.keys(k)).reshape({kQueries, kKeys});
  const Tensor masked = masked_softmax(scores, Tensor::ids(lengths, {kQueries}));
  HeatMap map{"attention weights", "key", "query", kQueries, kKeys, masked.to_vector()};
  for (const std::int32_t length : lengths) map.row_labels.push_back("length " + std::to_string(length));
  page.show(Figure{"", {std::move(map)}});
  return page;
}

const Enlist kEnlisted({"scores", "every scoring function on the same queries and keys; why √d; masked softmax", give});

}  // namespace
}  // namespace attend::cli::scores_lesson
