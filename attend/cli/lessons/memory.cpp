// Attention as a memory (Graves et al. 2014): reading one of many items by its content and by its location.
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

/// A copy of one slot plus noise.
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
      "The cue is a copy of slot 5 plus noise. The attention weights are a softmax over β cos(cue, slot). With a small "
      "β, the memory returns a mixture of all slots; with a large β, a single slot. The result is a weighted sum, so "
      "every slot gets a gradient.");
  HeatMap map{"weights as β grows", "slot", "β", 0, kSlots, {}};
  const Tensor cue = cue_for(memory, 5, 0.5f, generator);
  for (const float sharpness : {1.f, 2.f, 4.f, 8.f, 16.f, 32.f}) {
    const Tensor weights = address(memory, cue, sharpness);
    map.values.insert(map.values.end(), weights.data(), weights.data() + kSlots);
    map.row_labels.push_back(fixed(sharpness, 0));
    ++map.rows;
  }
  LinePlot recall{"the slot with the greatest weight", "std of the noise", "fraction of 200 reads", {}};
  Series right{"it is the right slot", {}, {}};
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
      "A Neural Turing Machine can also move from the slot that it has read to the next. Its weights are convolved "
      "with a distribution over shifts: here 0.8 for one slot to the right, and 0.1 each for none and for two slots. "
      "Without sharpening, the weights blur from step to step. Sharpening raises them to the power γ and normalises "
      "them again.");
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
  const auto most = [](const HeatMap& map) {  // in the last step
    return fixed(*std::max_element(map.values.end() - kSlots, map.values.end()), 2);
  };
  Figure figure{"One row for each step, one column for each slot. In the last step, the greatest weight is " +
                    most(blurred) + " without and " + most(sharpened) + " with sharpening. Both maps have one scale.",
                {std::move(blurred), std::move(sharpened)}};
  share_scale(figure);
  page.show(std::move(figure));
}

Page give() {
  const NoGrad no_grad;
  Generator generator(2014);
  Tensor memory = Tensor::empty({1, kSlots, kWidth});
  fill_normal(memory, 0, 1, generator);
  Page page{"Memory: attention as a differentiable memory", {}};
  page.say("The memory has 16 slots. Each slot is a random vector of 24 numbers.");
  by_content(page, memory, generator);
  by_location(page, memory, generator);
  return page;
}

const Enlist kEnlisted({"memory", "read one item among many, by content and by location", give});

}  // namespace
}  // namespace attend::cli
