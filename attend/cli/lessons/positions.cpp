// Sinusoidal position encodings (Vaswani et al. 2017, section 3.5): a shift by k positions is a rotation.
#include <cmath>

#include "attend/attention/positions.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/ops/matmul.h"

namespace attend::cli::positions_lesson {
namespace {

constexpr std::int64_t kPositions = 60, kWidth = 32;

Page give() {
  const Tensor table = sinusoidal_positions(kPositions, kWidth);
  Page page{"Positions: telling attention the order of the tokens", {}};
  page.say(
      "Attention does not know the order of its tokens: if the tokens are shuffled, the results are shuffled in the "
      "same way. So a vector is added to each token that encodes its position. Columns 2i and 2i + 1 of this vector "
      "are the sine and cosine of the position times a frequency. The first columns have the highest frequency, the "
      "last ones the lowest.");
  LinePlot lines{"four columns", "position", "", {}};
  for (const std::int64_t column : {6, 7, 8, 9}) {
    Series series{"column " + std::to_string(column), {}, {}};
    for (std::int64_t t = 0; t < kPositions; ++t) {
      series.x.push_back(static_cast<float>(t));
      series.y.push_back(table.data()[t * kWidth + column]);
    }
    lines.series.push_back(std::move(series));
  }
  page.show(Figure{
      "", {std::move(lines), HeatMap{"all columns", "column", "position", kPositions, kWidth, table.to_vector()}}});

  page.heading("A shift is a rotation");
  page.say(
      "For every offset k there is one matrix R, the same for all positions, with P[t + k] = R P[t]: each pair of "
      "columns is rotated by k times its frequency. So a model can learn \"three tokens back\" as a linear map. The "
      "table checks this with the largest error over all positions and columns.");
  Table errors{{"offset k", "largest |R P[t] - P[t + k]|", "without R: largest |P[t] - P[t + k]|"}, {}};
  for (const std::int64_t offset : {1, 3, 10, 25}) {
    const Tensor shifted = sinusoidal_positions(kPositions, kWidth, offset);
    const Tensor turned = matmul(table, position_rotation(offset, kWidth), {.transpose_b = true});
    float with = 0, without = 0;
    for (std::int64_t i = 0; i < table.numel(); ++i) {
      with = std::max(with, std::abs(turned.data()[i] - shifted.data()[i]));
      without = std::max(without, std::abs(table.data()[i] - shifted.data()[i]));
    }
    errors.rows.push_back({std::to_string(offset), fixed(with, 7), fixed(without, 3)});
  }
  page.show(errors);
  page.heading("Similarity of positions");
  const Tensor similarity = matmul(table, table, {.transpose_b = true});
  // The dot product depends on the distance alone: the first row has all of them.
  Series by_distance{"P[0] · P[t]", {}, {}};
  for (std::int64_t t = 0; t < kPositions; ++t) {
    by_distance.x.push_back(static_cast<float>(t));
    by_distance.y.push_back(similarity.data()[t]);
  }
  const std::vector<float>& values = by_distance.y;
  std::size_t first = 1;  // where the first fall ends
  while (first + 1 < values.size() && values[first + 1] < values[first]) ++first;
  std::size_t low = first, high = first;  // the greatest rise after it
  for (std::size_t i = first; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j)
      if (values[j] - values[i] > values[high] - values[low]) low = i, high = j;
  const auto at = [&](std::size_t i) { return fixed(values[i], 1) + " at distance " + std::to_string(i); };
  page.say("The dot product P[s] · P[t] depends only on the distance |s - t|. It falls quickly from " + at(0) + " to " +
           at(first) + ". After that it falls and rises: it is " + at(low) + " and again " + at(high) +
           ". So near positions have similar vectors, but the similarity of distant positions says little about their "
           "distance.");
  page.show(
      Figure{"",
             {LinePlot{"similarity by distance", "distance |s - t|", "dot product", {std::move(by_distance)}},
              HeatMap{"P[s] · P[t]", "position t", "position s", kPositions, kPositions, similarity.to_vector()}}});
  return page;
}

const Enlist kEnlisted({"positions", "sinusoidal position encodings; a shift is a rotation", give});

}  // namespace
}  // namespace attend::cli::positions_lesson
