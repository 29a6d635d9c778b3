#include "attend/explain/head_statistics.h"

#include <cmath>

#include "attend/explain/attention_matrix.h"

namespace attend {
namespace {

/// The share of a row that goes to one place, or none where there is no such place.
double at(const float* row, std::int64_t place, std::int64_t size) {
  return place < 0 || place >= size ? 0 : row[place];
}

constexpr double HeadStatistics::*kMeasures[] = {
    &HeadStatistics::entropy, &HeadStatistics::distance, &HeadStatistics::previous,  &HeadStatistics::next,
    &HeadStatistics::self,    &HeadStatistics::first,    &HeadStatistics::separator, &HeadStatistics::same_word};

}  // namespace

std::vector<HeadStatistics> head_statistics(const AttentionView& view) {
  const bool cross = view.kind == AttentionKind::cross || view.queries.size() != view.keys.size();
  const std::int64_t Q = view.queries.size(), K = view.keys.size();
  const std::vector<std::string> queries = labels_of(view.queries), keys = labels_of(view.keys);
  const double step = cross ? (Q > 1 ? static_cast<double>(K - 1) / static_cast<double>(Q - 1) : 0) : 1;
  std::vector<HeadStatistics> all;
  for (std::size_t l = 0; l < view.layers.size(); ++l)
    for (std::size_t h = 0; h < view.heads.size(); ++h) {
      HeadStatistics& s = all.emplace_back();
      s.layer = view.layers[l], s.head = view.heads[h];
      std::int64_t rows = 0;
      for (std::int64_t q = 0; q < Q; ++q) {
        const float* row = view.weights[l].data() + (static_cast<std::int64_t>(h) * Q + q) * K;
        const double place = static_cast<double>(q) * step;
        double sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
          const double weight = row[k];
          if (weight <= 0) continue;
          sum += weight;
          s.entropy -= weight * std::log2(weight);
          s.distance += weight * std::abs(static_cast<double>(k) - place);
          const auto i = static_cast<std::size_t>(k);
          if (k > 0 && view.keys.words[i] < 0) s.separator += weight;
          if ((cross || k != q) && view.keys.words[i] >= 0 && keys[i] == queries[static_cast<std::size_t>(q)])
            s.same_word += weight;
        }
        if (sum == 0) continue;
        ++rows;
        s.first += at(row, 0, K);
        if (!cross) s.previous += at(row, q - 1, K), s.next += at(row, q + 1, K), s.self += at(row, q, K);
      }
      for (const auto measure : kMeasures) s.*measure /= static_cast<double>(std::max<std::int64_t>(rows, 1));
    }
  return all;
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
  const bool cross = kind == AttentionKind::cross;
  Table table{{"layer.head", "entropy", "distance", "first", "separator", "same word"}, {}};
  if (!cross) table.header.insert(table.header.begin() + 3, {"previous", "self", "next"});
  for (const HeadStatistics& s : heads) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {std::to_string(s.layer) + "." + std::to_string(s.head), fixed(s.entropy, 2), fixed(s.distance, 1)};
    if (!cross) row.insert(row.end(), {fixed(s.previous, 2), fixed(s.self, 2), fixed(s.next, 2)});
    row.insert(row.end(), {fixed(s.first, 2), fixed(s.separator, 2), fixed(s.same_word, 2)});
  }
  return table;
}

}  // namespace attend
