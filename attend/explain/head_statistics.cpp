#include "attend/explain/head_statistics.h"

#include <algorithm>
#include <cmath>

#include "attend/explain/attention_matrix.h"

namespace attend {
namespace {

/// The weight of a row at a place; 0 if there is no such place.
double at(const float* row, std::int64_t place, std::int64_t size) {
  return place < 0 || place >= size ? 0 : row[place];
}

constexpr double HeadStatistics::*kMeasures[] = {
    &HeadStatistics::entropy, &HeadStatistics::distance, &HeadStatistics::previous,  &HeadStatistics::next,
    &HeadStatistics::self,    &HeadStatistics::first,    &HeadStatistics::separator, &HeadStatistics::same_word};

/// Computes the statistics of one head after another.
class Measurer {
 public:
  explicit Measurer(const AttentionView& view)
      : view_(view), queries_(labels_of(view.queries)), keys_(labels_of(view.keys)), itself_(is_self_attention(view)) {}

  /// `weights` are [queries, keys].
  void measure(const float* weights, HeadStatistics& s) const {
    const std::int64_t Q = view_.queries.size(), K = view_.keys.size();
    const double step = itself_ ? 1 : Q > 1 ? static_cast<double>(K - 1) / static_cast<double>(Q - 1) : 0;
    std::int64_t rows = 0;
    for (std::int64_t q = 0; q < Q; ++q) {
      const float* row = weights + q * K;
      const double place = static_cast<double>(q) * step;
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double weight = row[k];
        if (weight <= 0) continue;
        sum += weight;
        s.entropy -= weight * std::log2(weight);
        s.distance += weight * std::abs(static_cast<double>(k) - place);
        const auto i = static_cast<std::size_t>(k);
        if (k > 0 && view_.keys.words[i] < 0) s.separator += weight;
        if ((!itself_ || k != q) && view_.keys.words[i] >= 0 && keys_[i] == queries_[static_cast<std::size_t>(q)])
          s.same_word += weight;
      }
      if (sum == 0) continue;
      ++rows;
      s.first += at(row, 0, K);
      if (itself_) s.previous += at(row, q - 1, K), s.next += at(row, q + 1, K), s.self += at(row, q, K);
    }
    for (const auto measure : kMeasures) s.*measure /= static_cast<double>(std::max<std::int64_t>(rows, 1));
  }

 private:
  const AttentionView& view_;
  std::vector<std::string> queries_, keys_;
  bool itself_;
};

}  // namespace

std::string name_of(const HeadStatistics& head) {
  return head.rollout ? "roll-out" : std::to_string(head.layer) + "." + std::to_string(head.head);
}

std::vector<HeadStatistics> head_statistics(const AttentionView& view) {
  const Measurer measurer(view);
  std::vector<HeadStatistics> all;
  for (std::size_t l = 0; l < view.layers.size(); ++l)
    for (std::size_t h = 0; h < view.heads.size(); ++h) {
      HeadStatistics& s = all.emplace_back();
      s.layer = view.layers[l], s.head = view.heads[h];
      measurer.measure(view.weights[l].data() + static_cast<std::int64_t>(h) * view.queries.size() * view.keys.size(),
                       s);
    }
  return all;
}

HeadStatistics rollout_statistics(const AttentionView& view) {
  HeadStatistics s;
  s.rollout = true;
  Measurer(view).measure(attention_rollout(view).data(), s);
  return s;
}

std::vector<HeadStatistics> mean_of(const std::vector<std::vector<HeadStatistics>>& texts) {
  if (texts.empty()) return {};
  std::vector<HeadStatistics> mean = texts.front();
  for (std::size_t t = 1; t < texts.size(); ++t)
    for (std::size_t i = 0; i < mean.size(); ++i)
      for (const auto measure : kMeasures) mean[i].*measure += texts[t].at(i).*measure;
  for (HeadStatistics& head : mean)
    for (const auto measure : kMeasures) head.*measure /= static_cast<double>(texts.size());
  return mean;
}

Table table_of(const std::vector<HeadStatistics>& heads, AttentionKind kind) {
  const bool one_text = within_one_text(kind);
  Table table{{"layer.head", "entropy", "distance", "first", "separator", "same word"}, {}};
  if (one_text) table.header.insert(table.header.begin() + 3, {"previous", "self", "next"});
  for (const HeadStatistics& s : heads) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {name_of(s), fixed(s.entropy, 2), fixed(s.distance, 1)};
    if (one_text) row.insert(row.end(), {fixed(s.previous, 2), fixed(s.self, 2), fixed(s.next, 2)});
    row.insert(row.end(), {fixed(s.first, 2), fixed(s.separator, 2), fixed(s.same_word, 2)});
  }
  return table;
}

}  // namespace attend
