// Contextual word vectors (Devlin et al. 2019): "bank" of a river and "bank" for money, before and after the layers of
// an encoder that was trained to predict masked words.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "attend/cli/lessons/lesson.h"
#include "attend/models/bert.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/tasks/masked_lm/masking.h"
#include "attend/train/optimizer.h"

namespace attend::cli::bank_lesson {
namespace {

constexpr std::int64_t kWidth = 48, kLayers = 2, kSteps = 1000, kBatch = 32;
constexpr std::int32_t kPadding = 0, kClassify = 1, kSeparator = 2, kMask = 3, kFirstWord = 4;

enum Sense : std::uint8_t { river, money };

/// Sentences with several words to choose from at some places. The two senses have similar sentences as far as English
/// allows, so that only the other words tell them apart.
const std::array<std::vector<std::string>, 2> kFrames = {
    {{"the boat|fisherman|duck|otter|canoe rested|waited|slept on the bank|shore of the river|stream|canal|lake",
      "we walked|sat|camped on the bank|shore and watched the water|fish|reeds|ducks",
      "the bank|shore was muddy|steep|green|flooded after the rain|flood|storm|thaw",
      "a tree|willow|heron stood on the bank|shore near the water|river|stream"},
     {"the clerk|customer|manager|lawyer|cashier worked|waited|argued at the bank|branch about the "
      "loan|account|cheque|debt",
      "we went|wrote|drove to the bank|branch and asked for a loan|card|receipt|statement",
      "the bank|branch was closed|robbed|sold|bankrupt after the crisis|crash|strike|audit",
      "a thief|banker|broker stood in the bank|branch near the safe|money|counter"}}};

struct Text {
  std::vector<std::string> words;
  Sense sense = river;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// All sentences that can be made from the frames.
std::vector<Text> all_texts() {
  std::vector<Text> texts;
  for (const Sense sense : {river, money})
    for (const std::string& frame : kFrames[sense]) {
      std::vector<Text> grown{{{}, sense}};
      for (const std::string& slot : split(frame, ' ')) {
        std::vector<Text> longer;
        for (const Text& text : grown)
          for (const std::string& word : split(slot, '|')) {
            longer.push_back(text);
            longer.back().words.push_back(word);
          }
        grown = std::move(longer);
      }
      texts.insert(texts.end(), grown.begin(), grown.end());
    }
  return texts;
}

class Vocabulary {
 public:
  explicit Vocabulary(const std::vector<Text>& texts) {
    for (const Text& text : texts)
      for (const std::string& word : text.words)
        if (ids_.try_emplace(word, kFirstWord + static_cast<std::int32_t>(words_.size())).second)
          words_.push_back(word);
  }
  std::int32_t size() const { return kFirstWord + static_cast<std::int32_t>(words_.size()); }
  std::int32_t id(const std::string& word) const { return word == "…" ? kMask : ids_.at(word); }
  const std::string& word(std::int32_t id) const { return words_.at(static_cast<std::size_t>(id - kFirstWord)); }

  /// [CLS] words [SEP]
  std::vector<std::int32_t> encode(const std::vector<std::string>& text) const {
    std::vector<std::int32_t> ids{kClassify};
    for (const std::string& word : text) ids.push_back(id(word));
    ids.push_back(kSeparator);
    return ids;
  }

 private:
  std::map<std::string, std::int32_t> ids_;
  std::vector<std::string> words_;
};

BertInput input_of(const std::vector<std::vector<std::int32_t>>& texts) {
  std::vector<std::int32_t> ids;
  BertInput input;
  for (const std::vector<std::int32_t>& text : texts) {
    ids.insert(ids.end(), text.begin(), text.end());
    input.lengths.push_back(static_cast<std::int64_t>(text.size()));
  }
  input.ids = Tensor::ids(ids, {static_cast<std::int64_t>(ids.size())});
  return input;
}

/// Trains a model to predict masked words.
Bert train(const std::vector<Text>& texts, const Vocabulary& vocabulary) {
  Generator generator(2018);
  BertOptions options;
  options.head = BertHead::masked_lm;
  options.vocabulary = vocabulary.size(), options.width = kWidth, options.layers = kLayers, options.heads = 4;
  options.inner = 96, options.positions = 32, options.types = 1;
  options.dropout = options.attention_dropout = 0.f, options.deviation = 0.1f;
  Bert model(options, generator);
  train_parameters(model);
  AdamW adam(parameters(model), {.learning_rate = 3e-3});
  MaskingOptions masking;
  masking.mask = kMask;
  // A random word can only be noticed by its context.
  masking.share = 0.3f, masking.masked = 0.5f, masking.random = 0.3f;
  for (std::int32_t id = kFirstWord; id < vocabulary.size(); ++id) masking.random_ids.push_back(id);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const PhiloxKey key = generator.next();
    std::vector<std::vector<std::int32_t>> batch;
    std::vector<std::int32_t> rows, words;
    std::int32_t begin = 0;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const std::size_t choice = philox(key, static_cast<std::uint64_t>(b))[0] % texts.size();
      std::vector<std::int32_t> ids = vocabulary.encode(texts[choice].words);
      std::vector<std::uint8_t> begins(ids.size(), 1);
      begins.front() = begins.back() = 2;  // special
      const MaskedTokens masked = mask_tokens(ids, begins, masking, generator.next());
      for (const std::int32_t place : masked.positions) rows.push_back(begin + place);
      words.insert(words.end(), masked.ids.begin(), masked.ids.end());
      begin += static_cast<std::int32_t>(ids.size());
      batch.push_back(std::move(ids));
    }
    const auto count = static_cast<std::int64_t>(rows.size());
    backward(cross_entropy(model.predict_tokens(model.encode(input_of(batch)), Tensor::ids(rows, {count})),
                           Tensor::ids(words, {count})));
    adam.step({.rate_factor = 1 - static_cast<double>(step) / kSteps});
    adam.zero_grad();
  }
  train_parameters(model, false);
  return model;
}

/// The vector of "bank" in each text, after the given number of layers.
std::vector<std::vector<float>> vectors_of_bank(Bert model, std::size_t layers, const std::vector<Text>& texts,
                                                const Vocabulary& vocabulary) {
  auto& blocks = model.encoder.blocks;
  blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(layers), blocks.end());
  std::vector<std::vector<float>> vectors;
  for (const Text& text : texts) {
    const Tensor states = model.encode(input_of({vocabulary.encode(text.words)}));
    const auto place = std::ranges::find(text.words, "bank") - text.words.begin() + 1;
    const float* row = states.data() + place * kWidth;
    vectors.emplace_back(row, row + kWidth);
  }
  return vectors;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/// The mean cosine similarity between texts of two senses, which may be the same.
double likeness(const std::vector<std::vector<float>>& vectors, const std::vector<Text>& texts, Sense one,
                Sense other) {
  double sum = 0;
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (std::size_t j = 0; j < vectors.size(); ++j) {
      if (i == j || texts[i].sense != one || texts[j].sense != other) continue;
      sum += dot(vectors[i], vectors[j]) / std::sqrt(dot(vectors[i], vectors[i]) * dot(vectors[j], vectors[j]));
      ++pairs;
    }
  return sum / static_cast<double>(pairs);
}

/// The two directions in which the points differ most: principal components, by power iteration.
std::array<std::vector<float>, 2> directions(std::vector<std::vector<float>> points) {
  std::array<std::vector<float>, 2> found;
  for (std::vector<float>& direction : found) {
    direction.assign(kWidth, 0.f);
    for (std::size_t i = 0; i < kWidth; ++i) direction[i] = i % 2 ? 1.f : -0.5f;
    for (int round = 0; round < 100; ++round) {
      std::vector<float> next(kWidth);
      for (const std::vector<float>& point : points) {
        const auto along = static_cast<float>(dot(point, direction));
        for (std::size_t i = 0; i < kWidth; ++i) next[i] += along * point[i];
      }
      const auto length = static_cast<float>(std::sqrt(dot(next, next)));
      if (length == 0.f) break;
      for (std::size_t i = 0; i < kWidth; ++i) direction[i] = next[i] / length;
    }
    for (std::vector<float>& point : points) {  // the second direction is found in what remains
      const auto along = static_cast<float>(dot(point, direction));
      for (std::size_t i = 0; i < kWidth; ++i) point[i] -= along * direction[i];
    }
  }
  return found;
}

void subtract_mean(std::vector<std::vector<float>>& points) {
  for (std::size_t i = 0; i < kWidth; ++i) {
    double mean = 0;
    for (const std::vector<float>& point : points) mean += point[i];
    mean /= static_cast<double>(points.size());
    for (std::vector<float>& point : points) point[i] -= static_cast<float>(mean);
  }
}

LinePlot picture(std::string title, std::vector<std::vector<float>> points, const std::vector<Text>& texts) {
  subtract_mean(points);
  const auto axes = directions(points);
  LinePlot plot{std::move(title), "first principal component", "second principal component", {}};
  plot.series = {{"bank of a river", {}, {}, Series::Mark::points}, {"bank for money", {}, {}, Series::Mark::points}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    Series& series = plot.series[texts[i].sense];
    series.x.push_back(static_cast<float>(dot(points[i], axes[0])));
    series.y.push_back(static_cast<float>(dot(points[i], axes[1])));
  }
  return plot;
}

/// The words that the model predicts for a mask, and the words that "bank" attends to in its last layer.
void fill_gaps(Page& page, const Bert& model, const Vocabulary& vocabulary) {
  Table table{{"sentence", "predicted for …", "\"bank\" attends to"}, {}};
  for (const char* sentence : {"the canoe waited on the bank of the …", "the cashier argued at the bank about the …",
                               "the bank was … after the flood", "the bank was … after the crisis"}) {
    const std::vector<std::string> words = split(sentence, ' ');
    Probe probe;
    const Tensor states = model.encode(input_of({vocabulary.encode(words)}), &probe);
    const auto gap = static_cast<std::int32_t>(std::ranges::find(words, "…") - words.begin() + 1);
    const Tensor probabilities = softmax(model.predict_tokens(states, Tensor::ids({gap}, {1})));
    std::vector<std::int32_t> order;
    for (std::int32_t id = kFirstWord; id < vocabulary.size(); ++id) order.push_back(id);
    std::ranges::partial_sort(order, order.begin() + 3, std::greater(),
                              [&](std::int32_t id) { return probabilities.data()[id]; });
    std::string predicted, keys;
    for (int i = 0; i < 3; ++i) {
      const std::int32_t id = order[static_cast<std::size_t>(i)];
      predicted += (i ? ", " : "") + vocabulary.word(id) + " " + fixed(probabilities.data()[id], 2);
    }
    const Tensor weights = probe.records().back().weights;  // [1, heads, T, T]
    const std::int64_t T = weights.dim(2), bank = std::ranges::find(words, "bank") - words.begin() + 1;
    std::vector<std::pair<float, std::string>> attended;
    for (std::size_t w = 0; w < words.size(); ++w) {
      float sum = 0;
      for (std::int64_t h = 0; h < weights.dim(1); ++h)
        sum += weights.data()[(h * T + bank) * T + static_cast<std::int64_t>(w) + 1];
      attended.emplace_back(sum / static_cast<float>(weights.dim(1)), words[w]);
    }
    std::ranges::sort(attended, std::greater());
    for (int i = 0; i < 2; ++i)
      keys += (i ? ", " : "") + attended[static_cast<std::size_t>(i)].second + " " +
              fixed(attended[static_cast<std::size_t>(i)].first, 2);
    table.rows.push_back({sentence, predicted, keys});
  }
  page.show(std::move(table));
}

Page give() {
  const std::vector<Text> all = all_texts();
  std::vector<Text> known, held_out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool has_bank = std::ranges::count(all[i].words, "bank") > 0;
    (i % 7 == 3 && has_bank ? held_out : known).push_back(all[i]);
  }
  const Vocabulary vocabulary(all);
  const Bert model = train(known, vocabulary);
  const NoGrad no_grad;

  Page page{"Bank: the vector of a word before and after self-attention", {}};
  page.say("An encoder of " + std::to_string(kLayers) + " layers and " +
           std::to_string(vocabulary.size() - kFirstWord) + " words was trained on " + std::to_string(known.size()) +
           " sentences about rivers and about money, only to predict masked words. It was not told that \"bank\" has "
           "two meanings. The plots show the vector of \"bank\" in " +
           std::to_string(held_out.size()) + " sentences that it was not trained on.");
  Table table{{"mean cosine similarity", "river and river", "money and money", "river and money"}, {}};
  std::vector<LinePlot> pictures;
  for (std::size_t layers = 0; layers <= kLayers; ++layers) {
    const auto vectors = vectors_of_bank(model, layers, held_out, vocabulary);
    const std::string when = layers == 0 ? "before the layers" : "after layer " + std::to_string(layers);
    table.rows.push_back({when, fixed(likeness(vectors, held_out, river, river), 2),
                          fixed(likeness(vectors, held_out, money, money), 2),
                          fixed(likeness(vectors, held_out, river, money), 2)});
    if (layers == 0 || layers == kLayers) pictures.push_back(picture(when, vectors, held_out));
  }
  page.show(Figure{"The two principal components: the directions in which the vectors differ most.",
                   {pictures[0], pictures[1]}});
  page.say(
      "Before the layers, a vector encodes only the word and its position. So these vectors differ only in the "
      "position of \"bank\". Self-attention adds information from the other words. The similarity between the two "
      "meanings goes from " +
      table.rows.front()[3] + " before the layers to " + table.rows.back()[3] +
      " after the last one; within a meaning it is " + table.rows.back()[1] + " (river) and " + table.rows.back()[2] +
      " (money) there:");
  page.show(std::move(table));
  page.heading("Predictions and attention");
  page.say(
      "The words that the model predicts for a masked word (…), with their probabilities, and the two words that "
      "\"bank\" attends to most in the last layer, as the mean of its heads:");
  fill_gaps(page, model, vocabulary);
  return page;
}

const Enlist kEnlisted({"bank", "one word with two meanings: its vector before and after self-attention", give});

}  // namespace
}  // namespace attend::cli::bank_lesson
