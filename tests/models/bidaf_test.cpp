// BiDAF is compared with PyTorch (tests/golden/bidaf.py). The golden texts are read alone, so the tests also show that
// padding changes nothing.
#include "attend/models/bidaf.h"

#include <gtest/gtest.h>

#include "attend/models/registry.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

struct Word {
  std::int32_t id;
  std::string spelling;
};
using Words = std::vector<Word>;
struct Pair {
  Words question, text;
};

const std::vector<Pair> kPairs = {
    {{{2, "Who"}, {3, "saw"}, {1, "Zoë"}, {4, "?"}},
     {{1, "Zoë"}, {5, "met"}, {1, "Alexandra"}, {6, "in"}, {1, "Rome"}}},
    {{{7, "when"}},
     {{8, "In"}, {1, "1066"}, {9, "or"}, {10, "later"}, {11, "."}, {7, "When"}, {12, "incomprehensibility"}}},
    {{{13, "interesse"}, {14, "b"}, {3, "saw"}, {3, "Saw"}, {15, "ÈRA"}, {16, "costruito"}},
     {{3, "saw"}, {2, "costruzione"}, {5, "èra"}, {6, "internazionale"}}}};

SpanInput input_of(const std::vector<Pair>& pairs, std::int64_t width) {
  std::size_t longest = 0;
  for (const Pair& pair : pairs) longest = std::max(longest, pair.question.size() + pair.text.size());
  const auto B = std::ssize(pairs), T = static_cast<std::int64_t>(longest);
  SpanInput input{Tensor::zeros({B, T}, DType::i32), Tensor::zeros({B}, DType::i32), Tensor::zeros({B, T}, DType::i32)};
  if (width > 0) input.bytes = Tensor::zeros({B, T, width}, DType::i32);
  for (std::int64_t b = 0; b < B; ++b) {
    std::int64_t at = b * T;
    const Pair& pair = pairs[static_cast<std::size_t>(b)];
    for (const Words* words : {&pair.question, &pair.text})
      for (const Word& word : *words) {
        input.ids.data<std::int32_t>()[at] = word.id;
        input.types.data<std::int32_t>()[at] = words == &pair.text;
        const Span whole{0, std::ssize(word.spelling)};
        if (width > 0)
          std::ranges::copy(word_bytes(word.spelling, {&whole, 1}, width),
                            input.bytes.data<std::int32_t>() + at * width);
        ++at, ++input.lengths.data<std::int32_t>()[b];
      }
  }
  return input;
}
SpanInput input_of(const BidafOptions& options) { return input_of(kPairs, options.word_bytes); }

BidafOptions small(bool spelling = true, bool match = true) {
  return {.vocabulary = 17,
          .embedding = 6,
          .hidden = 5,
          .word_bytes = spelling ? 16 : 0,
          .byte_embedding = 4,
          .filters = 7,
          .match = match,
          .match_version = 1,
          .dropout = 0.f};
}
BidafOptions current(bool spelling = true) {
  BidafOptions options = small(spelling);
  options.match_version = 2, options.summary = spelling;
  return options;
}

Bidaf golden_model(const BidafOptions& options, const SafetensorsFile& file, const std::string& name) {
  Bidaf model(options);
  for_each_parameter(model, [&](const std::string& parameter, Tensor& tensor) {
    const Tensor values = file.get(name + "/" + parameter);
    EXPECT_EQ(values.shape(), tensor.shape()) << name << ": " << parameter;
    tensor = values.copy();
  });
  return model;
}

Tensor loss_of(const Bidaf& model, const SpanInput& input) {
  const SpanLogits logits = model.find_spans(input);
  return cross_entropy(logits.start, Tensor::ids({6, 0, 7}, {3})) +
         cross_entropy(logits.end, Tensor::ids({7, 0, 7}, {3}));
}

/// The logits of one pair without the places where no answer can be, which must be kNoSpan.
Tensor possible(const Tensor& logits, std::size_t pair) {
  const std::int64_t T = logits.dim(1), question = std::ssize(kPairs[pair].question),
                     text = std::ssize(kPairs[pair].text);
  std::vector<float> all;
  for (std::int64_t t = 0; t < T; ++t) {
    const float logit = logits.data()[static_cast<std::int64_t>(pair) * T + t];
    if (t == 0 || (t >= question && t < question + text))
      all.push_back(logit);
    else
      EXPECT_EQ(logit, kNoSpan) << t;
  }
  return Tensor::from(all, {1 + text});
}

/// The first rows and columns of recorded weights; the others must be 0.
Tensor weights_of(const Tensor& record, std::size_t pair, std::int64_t rows, std::int64_t columns) {
  std::vector<float> all;
  const std::int64_t R = record.dim(2), C = record.dim(3);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < C; ++c) {
      const float weight = record.data()[(static_cast<std::int64_t>(pair) * R + r) * C + c];
      if (c < columns)
        all.push_back(weight);
      else
        EXPECT_EQ(weight, 0.f);
    }
  return Tensor::from(all, {rows, columns});
}

void expect_golden(const BidafOptions& options, const std::string& name) {
  const SafetensorsFile file = test::golden("bidaf");
  Bidaf model = golden_model(options, file, name);
  const SpanInput input = input_of(options);
  Probe probe;
  const SpanLogits logits = model.find_spans(input, &probe);
  ASSERT_EQ(probe.records().size(), 2u);
  EXPECT_EQ(probe.records()[0].layer, "context_to_question");
  EXPECT_EQ(probe.records()[1].layer, "question_to_context");
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    const std::string pair = name + "/" + std::to_string(i);
    const std::int64_t T = std::ssize(kPairs[i].text), J = std::ssize(kPairs[i].question);
    EXPECT_TRUE(test::close(possible(logits.start, i), file.get(pair + "/start"), {1e-5f, 3e-6f})) << pair;
    EXPECT_TRUE(test::close(possible(logits.end, i), file.get(pair + "/end"), {1e-5f, 3e-6f})) << pair;
    EXPECT_TRUE(
        test::close(weights_of(probe.records()[0].weights, i, T, J), file.get(pair + "/to_question"), {1e-5f, 2e-6f}))
        << pair;
    EXPECT_TRUE(test::close(weights_of(probe.records()[1].weights, i, 1, T).reshape({T}), file.get(pair + "/to_text"),
                            {1e-5f, 2e-6f}))
        << pair;
  }
  model.train_all();
  backward(loss_of(model, input));
  for_each_parameter(model, [&](const std::string& parameter, Tensor& tensor) {
    EXPECT_TRUE(test::close(grad(tensor), file.get(name + "/d/" + parameter), {2e-4f, 3e-6f}))
        << name << ": " << parameter;
  });
  const Tensor losses = file.get(name + "/losses");
  Adam adam(parameters(model), {.learning_rate = 1e-2, .weight_decay = 0.1f, .decoupled = true});
  for (std::int64_t step = 0; step < 10; ++step) {
    adam.zero_grad();
    const Tensor loss = loss_of(model, input);
    EXPECT_NEAR(loss.item(), losses.data()[step], 3e-4) << name << ", step " << step;
    backward(loss);
    adam.step();
  }
}

TEST(Bidaf, WithSpellingAndMatchesItEqualsPyTorch) { expect_golden(small(), "full"); }
TEST(Bidaf, WithSpellingAloneItEqualsPyTorch) { expect_golden(small(true, false), "paper"); }
TEST(Bidaf, WithoutSpellingItEqualsPyTorch) { expect_golden(small(false), "plain"); }

TEST(Bidaf, WithClosenessAndASummaryItEqualsPyTorch) { expect_golden(current(), "close"); }
TEST(Bidaf, WithClosenessOfIdsItEqualsPyTorch) { expect_golden(current(false), "close_plain"); }

TEST(Bidaf, APairAloneEqualsThePairInAPaddedBatch) {
  const Bidaf model(current());
  const SpanLogits together = model.find_spans(input_of(model.options));
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    const SpanLogits alone = model.find_spans(input_of({kPairs[i]}, 16));
    const auto size = alone.start.dim(1);
    const auto own = [&](const Tensor& logits) {
      const float* row = logits.data() + static_cast<std::int64_t>(i) * logits.dim(1);
      return Tensor::from(std::vector(row, row + size), {1, size});
    };
    EXPECT_TRUE(test::close(own(together.start), alone.start, {1e-5f, 1e-6f})) << i;
    EXPECT_TRUE(test::close(own(together.end), alone.end, {1e-5f, 1e-6f})) << i;
  }
}

TEST(Bidaf, UnknownWordsAreToldApartByTheirSpelling) {
  const Bidaf model(small());
  std::vector<Pair> changed = {kPairs[0]};
  changed[0].text[4].spelling = "Oslo";
  const SpanInput before = input_of({kPairs[0]}, 16), after = input_of(changed, 16);
  EXPECT_FALSE(test::close(model.find_spans(after).start, model.find_spans(before).start, {1e-4f, 1e-6f}));
}

TEST(Bidaf, DropoutChangesTheLogitsInTrainingOnly) {
  Bidaf model(small());
  model.set_dropout(0.5f);
  const SpanInput input = input_of(model.options);
  const Tensor before = model.find_spans(input).start;
  EXPECT_TRUE(test::close(model.find_spans(input).start, before, {0, 0}));
  const Training training;
  EXPECT_FALSE(test::close(model.find_spans(input).start, before, {1e-3f, 1e-3f}));
}

TEST(Bidaf, AFolderGivesTheSameNetwork) {
  for (const BidafOptions& options : {small(), small(false), small(true, false), current()}) {
    const test::TempFolder folder;
    Bidaf model(options);
    const SpanLogits before = model.find_spans(input_of(options));
    model.save(folder.path());
    const auto again = ModelFolder(folder.path()).model<SpanModel>("test", Ability::answer);
    EXPECT_EQ(again->word_bytes(), options.word_bytes);
    const SpanLogits after = again->find_spans(input_of(options));
    EXPECT_TRUE(test::close(after.start, before.start, {0, 0}));
    EXPECT_TRUE(test::close(after.end, before.end, {0, 0}));
  }
}

TEST(Bidaf, AFolderWithoutVersionMatchesWordsAsBefore) {
  const BidafOptions options = BidafOptions::read(
      Config::parse(R"({"vocab_size": 9, "embedding": 4, "hidden": 4, "word_bytes": 0, "match": true})", "old"));
  EXPECT_EQ(options.match_version, 1);
  EXPECT_FALSE(options.summary);
}

TEST(Bidaf, Int8WeightsGiveNearlyTheSameLogits) {
  const test::TempFolder folder;
  Bidaf model(small());
  const SpanLogits before = model.find_spans(input_of(model.options));
  quantise(model);
  model.save(folder.path());
  const auto again = ModelFolder(folder.path()).model<SpanModel>("test", Ability::answer);
  EXPECT_TRUE(test::close(again->find_spans(input_of(model.options)).start, before.start, {0.05f, 0.02f}));
}

TEST(Bidaf, AConfigThatDoesNotFitIsAnError) {
  const test::TempFolder folder;
  Bidaf model(small());
  model.save(folder.path());
  const auto load_with = [&](const char* key, std::int64_t value) {
    Config config = model.config();
    config.set(key, value);
    config.save(folder.path() / "config.json");
    ModelFolder(folder.path()).load();
  };
  EXPECT_ERROR(load_with("hidden", 0), "\"hidden\"");
  EXPECT_ERROR(load_with("vocab_size", -1), "\"vocab_size\"");
  EXPECT_ERROR(load_with("word_bytes", 1 << 20), "\"word_bytes\"");
  EXPECT_ERROR(load_with("match_version", 3), "\"match_version\"");
  EXPECT_ERROR(load_with("filter_width", 0), "\"filter_width\"");
  EXPECT_ERROR(load_with("filter_width", 40), "filters are wider than a word");
  EXPECT_ERROR(load_with("hidden", 6), "contextual.weight_ih_l0");
  EXPECT_ERROR(load_with("vocab_size", 18), "embedding.weight");
  EXPECT_ERROR(load_with("hidden", 60000), "parameters");
  EXPECT_ERROR(load_with("word_bytes", 0), "highway.0.transform.weight");
}

TEST(Bidaf, AnInputThatDoesNotFitIsAnError) {
  const Bidaf model(small());
  SpanInput input = input_of(model.options);
  input.bytes = {};
  EXPECT_ERROR(model.find_spans(input), "wrong shape of the spelling");
  input = input_of(model.options);
  input.bytes.data<std::int32_t>()[0] = 257;
  EXPECT_ERROR(model.find_spans(input), "got 257, expected 0 to 256");
  input = input_of(model.options);
  input.types = Tensor::zeros({3, 2}, DType::i32);
  EXPECT_ERROR(model.find_spans(input), "does not fit together");
  input = input_of(model.options);
  input.types = Tensor::zeros(input.ids.shape(), DType::i32);
  EXPECT_ERROR(model.find_spans(input), "expected pairs of texts");
  input = input_of(model.options);
  input.ids.data<std::int32_t>()[0] = 17;
  EXPECT_ERROR(model.find_spans(input), "17");
}

TEST(SpanModel, TheSpellingOfAWordIsItsBytesAndThenZeros) {
  const std::string text = "a Zoë";
  const std::vector<Span> spans = {{0, 1}, {}, {2, 6}};
  EXPECT_EQ(word_bytes(text, spans, 3), (std::vector<std::int32_t>{98, 0, 0, 0, 0, 0, 91, 112, 0xC3 + 1}));
}

}  // namespace
}  // namespace attend
