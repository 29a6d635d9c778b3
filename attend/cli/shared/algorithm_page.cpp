#include "attend/cli/shared/algorithm_page.h"

#include <algorithm>
#include <cmath>

#include "attend/core/wording.h"

namespace attend::cli {
namespace {

/// A map of `rows` numbers in each step, from values [steps, rows].
HeatMap map_of(const std::string& title, const std::string& y_label, std::int64_t steps, std::int64_t rows,
               std::int64_t first, std::int64_t stride, const std::vector<float>& values) {
  HeatMap map{title, "step", y_label, rows, steps, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t t = 0; t < steps; ++t)
      map.values.push_back(values[static_cast<std::size_t>(t * stride + first + row)]);
    map.row_labels.push_back(std::to_string(first + row));
  }
  return map;
}

}  // namespace

Figure bits_figure(const AlgorithmRun& run) {
  const AlgorithmSequence& s = run.sequence;
  std::vector<float> target, wrong;
  std::vector<float> output = run.output;
  for (std::size_t i = 0; i < s.target.size(); ++i) {
    const bool scored = s.target[i] != AlgorithmSequence::kNoTarget;
    target.push_back(scored ? static_cast<float>(s.target[i]) : 0.f);
    wrong.push_back(scored && (output[i] > 0.5f) != (s.target[i] == 1) ? 1.f : 0.f);
    if (!scored) output[i] = 0;  // the network may say anything there
  }
  Figure figure{
      "One column for each step. The output is the probability of a one; it counts only where there is a target.",
      {map_of("input", "number", s.steps, s.inputs, 0, s.inputs, s.input),
       map_of("target", "bit", s.steps, s.outputs, 0, s.outputs, target),
       map_of("output", "bit", s.steps, s.outputs, 0, s.outputs, output),
       map_of("wrong bits", "bit", s.steps, s.outputs, 0, s.outputs, wrong)}};
  for (auto& panel : figure.panels) std::get<HeatMap>(panel).full = 1;
  return figure;
}

Figure heads_figure(const AlgorithmRun& run) {
  constexpr float kUsed = 0.5f;
  std::int64_t first = run.heads.empty() ? 0 : run.heads[0].slots, last = -1;
  for (const HeadWeights& head : run.heads)
    for (std::size_t i = 0; i < head.weights.size(); ++i)
      if (head.weights[i] >= kUsed) {
        const auto slot = static_cast<std::int64_t>(i) % head.slots;
        first = std::min(first, slot), last = std::max(last, slot);
      }
  Figure figure{
      "Where the heads wrote and read. One column for each step, one row for each slot of the memory that a head "
      "used.",
      {}};
  for (const HeadWeights& head : run.heads) {
    const std::int64_t from = last < first ? 0 : first, rows = last < first ? head.slots : last - first + 1;
    HeatMap map = map_of(head.name, "slot", head.steps, rows, from, head.slots, head.weights);
    map.full = 1;
    figure.panels.emplace_back(std::move(map));
  }
  return figure;
}

Page algorithm_page(const AlgorithmRun& run, const std::string& title) {
  Page page{title, {}};
  const std::string loss = fixed(run.bits, 2) + " bits";
  page.say(
      grouped(run.wrong) + " of " + counted(run.targets, "bit") + " wrong, loss " + loss +
      (run.sequence.optimal_bits > 0 ? " (optimal estimator: " + fixed(run.sequence.optimal_bits, 2) + " bits)" : "") +
      ", " + counted(run.sequence.steps, "step") + ".");
  page.show(bits_figure(run));
  if (!run.heads.empty()) page.show(heads_figure(run));
  return page;
}

}  // namespace attend::cli
