// Sinusoidal positions (Vaswani et al. 2017, section 3.5): a binary counter with soft digits, in which a shift is a
// rotation.
#include <cmath>

#include "attend/attention/positions.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/ops/matmul.h"

namespace attend::cli {
namespace {

constexpr std::int64_t kPositions = 60, kWidth = 32;

Page give() {
  const Tensor table = sinusoidal_positions(kPositions, kWidth);
  Page page{"Positions: telling attention where a word stands", {}};
  page.say(
      "Attention sees a set: shuffled words give shuffled results. So each position adds a vector of its own. Columns "
      "2i "
      "and 2i + 1 hold the sine and cosine of the position times a frequency, and the frequency falls from column to "
      "column, as the digits of a counter turn ever more slowly.");
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
      "For every offset k there is one matrix R, the same at all positions, with P[t + k] = R P[t]: each pair of "
      "columns "
      "turns by k times its frequency. So a model can learn \"three words back\" as a linear map.");
  Table errors{{"offset", "largest |R P[t] - P[t + k]|", "without R: |P[t] - P[t + k]|"}, {}};
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
  const Tensor likeness = matmul(table, table, {.transpose_b = true});
  page.show(Figure{
      "P[s] · P[t] depends on the distance s - t alone, and falls with it.",
      {HeatMap{"how alike two positions are", "position", "position", kPositions, kPositions, likeness.to_vector()}}});
  return page;
}

const Enlist kEnlisted({"positions", "sinusoidal encodings as lines and as a map; a shift is a rotation", give});

}  // namespace
}  // namespace attend::cli
