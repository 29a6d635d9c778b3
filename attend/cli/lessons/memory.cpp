// Attention as a memory: reading one of many items by its content and by its location (Graves et al. 2014), and reading
// a story several times to answer a question about it (Sukhbaatar et al. 2015).
#include <algorithm>
#include <array>
#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/cli/lessons/lesson.h"
#include "attend/core/wording.h"
#include "attend/ops/circular_convolution.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/text/training/train_words.h"
#include "attend/train/clip.h"
#include "attend/train/optimizer.h"
#include "attend/train/schedule.h"

namespace attend::cli::memory_lesson {
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

// ---- memory networks ----

const std::array<std::string, 3> kPeople = {"Mary", "John", "Sandra"};
const std::array<std::string, 4> kPlaces = {"kitchen", "garden", "hallway", "office"};
constexpr const char* kQuestion = "Where is the milk?";

/// People walk around, and one of them takes the milk. It is where this person went last.
struct MilkStory {
  std::vector<std::string> sentences;
  std::string place;

  explicit MilkStory(Generator& generator) {
    while (place.empty()) {
      const PhiloxKey key = generator.next();
      const std::uint32_t taken = philox(key, 100)[0] % 5, holder = philox(key, 100)[1] % 3;
      sentences.clear();
      for (std::uint32_t i = 0; i < 5; ++i) {
        const auto random = philox(key, i);
        const std::uint32_t person = i == taken ? holder : random[0] % 3;
        const std::string& to = kPlaces[random[1] % 4];
        if (i != taken && person == holder) place = to;
        sentences.push_back(kPeople[person] + (i == taken ? " took the milk." : " went to the " + to + "."));
      }
    }
  }
};

StorySet milk_stories(const Tokenizer& tokenizer, int count, Generator& generator) {
  StorySet set(tokenizer, {kPlaces.begin(), kPlaces.end()}, 10);
  for (int i = 0; i < count; ++i) {
    const MilkStory story(generator);
    set.add(story.sentences, kQuestion, story.place);
  }
  return set;
}

MemoryNetwork trained_network(const StorySet& stories, const Tokenizer& tokenizer, std::int64_t hops, Series& curve) {
  MemoryNetworkOptions options;
  options.vocabulary = tokenizer.size(), options.width = 32, options.hops = hops, options.memory = 10;
  for (const std::string& place : kPlaces)
    options.answers.push_back(place), options.answer_rows.push_back(*tokenizer.id(place));
  Generator generator(2015);
  MemoryNetwork network(options, generator);
  train_parameters(network);
  AdamW adam(parameters(network), {.learning_rate = 5e-3});
  constexpr std::int64_t kSteps = 1500, kLinear = 300;
  const Schedule schedule{.kind = Schedule::Kind::cosine, .total = kSteps};
  BatchSampler sampler(stories.lengths(), {.max_sequences = 32, .seed = 2015, .pool = 32});
  const Training training;
  double sum = 0;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    network.options.linear = step < kLinear;  // linear start
    const std::vector<std::int64_t> chosen = sampler.next();
    const Tensor loss = cross_entropy(network(story_batch(stories, chosen, options.memory)), stories.answers(chosen));
    backward(loss);
    adam.step({.rate_factor = schedule(step), .gradient_scale = clip_scale(grad_norm(adam.parameters()), 1)});
    adam.zero_grad();
    sum += loss.item();
    if (step % 50 == 49)
      curve.x.push_back(static_cast<float>(step + 1)),
          curve.y.push_back(static_cast<float>(std::exchange(sum, 0) / 50));
  }
  return network;
}

/// The fraction of questions that a network answers wrongly.
double error_of(const MemoryNetwork& network, const StorySet& stories) {
  const NoGrad no_grad;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < stories.size(); ++i) all.push_back(i);
  const Tensor best = argmax(network(story_batch(stories, all, network.options.memory)), -1);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < stories.size(); ++i) wrong += best.data<std::int32_t>()[i] != stories[i].answer;
  return static_cast<double>(wrong) / static_cast<double>(stories.size());
}

/// The hops of a network over the sentences of a story.
HeatMap hops_over(const MemoryNetwork& network, const Tokenizer& tokenizer, const MilkStory& story) {
  const NoGrad no_grad;
  StorySet one(tokenizer, network.options.answers, network.options.memory);
  one.add(story.sentences, kQuestion);
  Probe probe;
  const std::int64_t first = 0;
  network(story_batch(one, std::span(&first, 1), network.options.memory), &probe);
  HeatMap map{std::string(kQuestion) + " " + story.place,
              "hop",
              "sentence",
              std::ssize(story.sentences),
              network.options.hops,
              {},
              story.sentences};
  for (std::int64_t hop = 0; hop < map.columns; ++hop) map.column_labels.push_back(std::to_string(hop + 1));
  for (std::int64_t s = 0; s < map.rows; ++s)
    for (const Probe::Record& record : probe.records()) map.values.push_back(record.weights.data()[s]);
  return map;
}

void by_hops(Page& page) {
  page.heading("In several hops");
  page.say(
      "A memory network answers a question about a story. Each sentence is a slot: its key and its value are sums of "
      "word embeddings. The question is the first query. What a hop reads is added to the query of the next hop. In "
      "these stories, people walk around, and one of them takes the milk. Where is the milk? The answer needs two "
      "facts: who took the milk, and where this person went last. One hop cannot join them; the second hop can ask "
      "for what the first one has found.");
  Generator generator(2015);
  bool made = false;
  const Tokenizer tokenizer = train_words(
      [&](std::string& line) {
        line = "Mary John Sandra went to the kitchen garden hallway office took milk where is";
        return !std::exchange(made, true);
      },
      {.lowercase = true, .append_eos = false});
  const StorySet stories = milk_stories(tokenizer, 2000, generator), held_out = milk_stories(tokenizer, 500, generator);
  Table errors{{"hops", "error on 500 other stories"}, {}};
  LinePlot curves{"training loss", "update", "", {}};
  HeatMap map;
  const MilkStory shown(generator);
  for (const std::int64_t hops : {1, 2, 3}) {
    Series curve{counted(hops, "hop"), {}, {}};
    const MemoryNetwork network = trained_network(stories, tokenizer, hops, curve);
    errors.rows.push_back({std::to_string(hops), fixed(100 * error_of(network, held_out), 1) + " %"});
    curves.series.push_back(std::move(curve));
    map = hops_over(network, tokenizer, shown);
  }
  page.show(std::move(errors));
  page.show(
      Figure{"Left: the first 300 updates have no softmax (linear start). Right: what the three hops of the last "
             "network attend to in a story that it has not seen.",
             {std::move(curves), std::move(map)}});
}

Page give() {
  Generator generator(2014);
  Tensor memory = Tensor::empty({1, kSlots, kWidth});
  fill_normal(memory, 0, 1, generator);
  Page page{"Memory: attention as a differentiable memory", {}};
  page.say("The memory has 16 slots. Each slot is a random vector of 24 numbers.");
  {
    const NoGrad no_grad;
    by_content(page, memory, generator);
    by_location(page, memory, generator);
  }
  by_hops(page);
  return page;
}

const Enlist kEnlisted({"memory", "read one item among many, by content, by location and in several hops", give});

}  // namespace
}  // namespace attend::cli::memory_lesson
