// Attention as a soft memory (Graves et al. 2014): read one item among many, by what it is and by where it is.
#include <algorithm>
#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/ops/circular_convolution.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"

namespace attend::cli {
namespace {

constexpr std::int64_t kSlots = 16, kWidth = 24;

/// A noisy copy of one slot.
Tensor cue_for(const Tensor& memory, std::int64_t slot, float noise, Generator& generator) {
  Tensor cue = Tensor::empty({1, 1, kWidth});
  fill_normal(cue, 0, noise, generator);
  for (std::int64_t i = 0; i < kWidth; ++i) cue.data()[i] += memory.data()[slot * kWidth + i];
  return cue;
}

/// The weights of one content-based read.   -> [1, 1, kSlots]
Tensor address(const Tensor& memory, const Tensor& cue, float sharpness) {
  Content score;
  score.sharpness = Tensor::scalar(sharpness);
  return softmax(score(cue, score.keys(memory)));
}

void by_content(Page& page, const Tensor& memory, Generator& generator) {
  page.heading("By content");
  page.say(
      "The cue is slot 5 with noise. Each slot's weight is a softmax over β cos(cue, slot): a small β reads a blur of "
      "everything, a large one a single slot. The read is a weighted sum, so its gradient reaches every slot.");
  HeatMap map{"weights as β grows", "slot", "β", 0, kSlots, {}};
  const Tensor cue = cue_for(memory, 5, 0.5f, generator);
  for (const float sharpness : {1.f, 2.f, 4.f, 8.f, 16.f, 32.f}) {
    const Tensor weights = address(memory, cue, sharpness);
    map.values.insert(map.values.end(), weights.data(), weights.data() + kSlots);
    map.row_labels.push_back(fixed(sharpness, 0));
    ++map.rows;
  }
  LinePlot recall{"is the strongest slot the right one?", "noise", "share of 200 reads", {}};
  Series right{"right slot", {}, {}};
  for (float noise = 0; noise <= 3.01f; noise += 0.25f) {
    int hits = 0;
    for (int i = 0; i < 200; ++i) {
      const std::int64_t slot = i % kSlots;
      const Tensor weights = address(memory, cue_for(memory, slot, noise, generator), 16);
      hits += std::ranges::max_element(weights.span()) - weights.span().begin() == slot;
    }
    right.x.push_back(noise), right.y.push_back(static_cast<float>(hits) / 200);
  }
  recall.series.push_back(std::move(right));
  page.show(Figure{"", {std::move(map), std::move(recall)}});
}

void by_location(Page& page, const Tensor& memory, Generator& generator) {
  page.heading("By location");
  page.say(
      "From where it read, the reader can move: the weights are convolved with a small kernel of shifts, here one slot "
      "to the right with a little doubt, and sharpened, or the doubt would blur them. So a Neural Turing Machine walks "
      "through a list that it found by content.");
  constexpr std::int64_t kSteps = 10;
  HeatMap blurred{"shifted only", "slot", "step", kSteps, kSlots, {}}, sharpened = blurred;
  sharpened.title = "shifted and sharpened, γ = 2";
  const Tensor shift = Tensor::from({0, 0, 0.1f, 0.8f, 0.1f}, {1, 5});  // by -2 … 2 slots
  const Tensor start = address(memory, cue_for(memory, 2, 0.2f, generator), 32).reshape({1, kSlots});
  for (HeatMap* map : {&blurred, &sharpened}) {
    Tensor weights = start.copy();
    for (std::int64_t step = 0; step < kSteps; ++step) {
      map->values.insert(map->values.end(), weights.data(), weights.data() + kSlots);
      weights = circular_convolution(weights, shift);
      if (map == &blurred) continue;
      float total = 0;
      for (float& w : weights.span()) w *= w, total += w;
      for (float& w : weights.span()) w /= total;
    }
  }
  page.show(Figure{"", {std::move(blurred), std::move(sharpened)}});
}

Page give() {
  const NoGrad no_grad;
  Generator generator(2014);
  Tensor memory = Tensor::empty({1, kSlots, kWidth});
  fill_normal(memory, 0, 1, generator);
  Page page{"Memory: attention as a read that has a gradient", {}};
  page.say("A memory of 16 slots, each a random vector of 24 numbers.");
  by_content(page, memory, generator);
  by_location(page, memory, generator);
  return page;
}

const Enlist kEnlisted({"memory", "read one item among many, by content and by location", give});

}  // namespace
}  // namespace attend::cli
