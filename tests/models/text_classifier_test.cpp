// Classifiers of pairs and documents are compared with PyTorch (tests/golden/text_classifiers.py). The golden texts are
// read alone, so the tests also show that padding changes nothing.
#include "attend/models/text_classifier.h"

#include <gtest/gtest.h>

#include "attend/models/decomposable_attention.h"
#include "attend/models/esim.h"
#include "attend/models/hierarchical_classifier.h"
#include "attend/models/registry.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Texts = std::vector<std::vector<std::vector<std::int32_t>>>;  // text, part, id

const Texts kPairs = {{{1, 2, 3, 4}, {5, 6}}, {{7}, {8, 7, 10}}, {{11, 12, 3}, {13, 14, 15, 16, 2}}};
const Texts kDocuments = {{{1, 2, 3}, {4}}, {{5, 6, 7, 8, 9, 10, 11, 12, 13}}, {{14, 15}, {16, 1, 2, 3, 4}, {5, 6, 7}}};

ClassifierInput input_of(const Texts& texts) {
  std::int64_t longest = 0;
  std::vector<std::int32_t> lengths;
  for (const auto& text : texts) {
    std::int32_t length = 0;
    for (const auto& part : text) length += static_cast<std::int32_t>(part.size());
    lengths.push_back(length), longest = std::max<std::int64_t>(longest, length);
  }
  const auto B = std::ssize(texts);
  ClassifierInput input{Tensor::zeros({B, longest}, DType::i32), Tensor::ids(lengths, {B}),
                        Tensor::zeros({B, longest}, DType::i32)};
  for (std::size_t b = 0; b < texts.size(); ++b) {
    std::int64_t at = static_cast<std::int64_t>(b) * longest;
    for (std::size_t p = 0; p < texts[b].size(); ++p)
      for (const std::int32_t id : texts[b][p]) {
        input.ids.data<std::int32_t>()[at] = id;
        input.parts.data<std::int32_t>()[at++] = static_cast<std::int32_t>(p);
      }
  }
  return input;
}

template <typename Options>
Options small() {
  Options o;
  o.vocabulary = 17, o.labels = {"a", "b", "c"}, o.embedding = 6, o.hidden = 5, o.dropout = 0.f;
  return o;
}
HierarchicalClassifierOptions small_hierarchical(bool transformer) {
  auto o = small<HierarchicalClassifierOptions>();
  o.transformer = transformer, o.layers = 2, o.heads = 2;
  return o;
}

/// The weights that a probe recorded for one text, in the order of the golden file.
std::pair<Tensor, Tensor> weights_of(const TextClassifier& network, const Texts& texts, std::size_t i) {
  Probe probe;
  network.logits(input_of({texts[i]}), &probe);
  const Tensor &first = probe.records().front().weights, &second = probe.records().back().weights;
  if (network.parts() == TextParts::pair)
    return {first.reshape({first.dim(2), first.dim(3)}), second.reshape({second.dim(2), second.dim(3)})};
  std::vector<float> words;
  for (std::size_t s = 0; s < texts[i].size(); ++s) {
    const float* row = first.data() + static_cast<std::int64_t>(s) * first.dim(3);
    words.insert(words.end(), row, row + texts[i][s].size());
  }
  return {second.reshape({second.dim(3)}), Tensor::from(words, {std::ssize(words)})};
}

template <typename Options>
void expect_golden(const Options& options, const std::string& name, const Texts& texts) {
  const SafetensorsFile file = test::golden("text_classifiers");
  typename Options::Network model(options);
  for_each_parameter(model, [&](const std::string& parameter, Tensor& tensor) {
    const Tensor values = file.get(name + "/" + parameter);
    ASSERT_EQ(values.shape(), tensor.shape()) << name << ": " << parameter;
    tensor = values.copy();
  });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto [first, second] = weights_of(model, texts, i);
    const std::string prefix = name + "/" + std::to_string(i);
    EXPECT_TRUE(test::close(first, file.get(prefix + "/first"), {1e-5f, 2e-6f})) << prefix;
    EXPECT_TRUE(test::close(second, file.get(prefix + "/second"), {1e-5f, 2e-6f})) << prefix;
  }
  model.train_all();
  const ClassifierInput input = input_of(texts);
  const Tensor labels = Tensor::ids({0, 2, 1}, {3});
  const Tensor logits = model.logits(input);
  EXPECT_TRUE(test::close(logits, file.get(name + "/logits"), {1e-5f, 3e-6f})) << name;
  backward(cross_entropy(logits, labels));
  for_each_parameter(model, [&](const std::string& parameter, Tensor& tensor) {
    EXPECT_TRUE(test::close(grad(tensor), file.get(name + "/d/" + parameter), {2e-4f, 3e-6f}))
        << name << ": " << parameter;
  });
  const Tensor losses = file.get(name + "/losses");
  Adam adam(parameters(model), {.learning_rate = 1e-2, .weight_decay = 0.1f, .decoupled = true});
  for (std::int64_t step = 0; step < 10; ++step) {
    adam.zero_grad();
    const Tensor loss = cross_entropy(model.logits(input), labels);
    EXPECT_NEAR(loss.item(), losses.data()[step], 2e-4) << name << ", step " << step;
    backward(loss);
    adam.step();
  }
}

template <typename Options>
Options small_pair_network() {
  auto o = small<Options>();
  o.match_gates = 4;
  return o;
}

TEST(TextClassifier, DecomposableAttentionMatchesPyTorch) {
  expect_golden(small_pair_network<DecomposableAttentionOptions>(), "decomposable", kPairs);
}
TEST(TextClassifier, EsimMatchesPyTorch) { expect_golden(small_pair_network<EsimOptions>(), "esim", kPairs); }
TEST(TextClassifier, HierarchicalAttentionMatchesPyTorch) {
  expect_golden(small_hierarchical(false), "hierarchical", kDocuments);
  expect_golden(small_hierarchical(true), "hierarchical-transformer", kDocuments);
}

template <typename Options>
void expect_same_after_loading(const Options& options, const Texts& texts) {
  const test::TempFolder folder;
  typename Options::Network model(options);
  const Tensor before = model.logits(input_of(texts));
  model.save(folder.path());
  const auto again = ModelFolder(folder.path()).model<TextClassifier>("test", Ability::classify);
  EXPECT_TRUE(test::close(again->logits(input_of(texts)), before, {0, 0}));
  EXPECT_EQ(again->labels(), options.labels);
  EXPECT_EQ(again->parts(), model.parts());
}

TEST(TextClassifier, AFolderGivesTheSameNetwork) {
  expect_same_after_loading(small<DecomposableAttentionOptions>(), kPairs);
  expect_same_after_loading(small<EsimOptions>(), kPairs);
  auto without_counts = small<EsimOptions>();
  without_counts.match_gates = 0;
  expect_same_after_loading(without_counts, kPairs);
  expect_same_after_loading(small_hierarchical(false), kDocuments);
  expect_same_after_loading(small_hierarchical(true), kDocuments);
}

TEST(TextClassifier, SentencesAreGroupedByLengthWithoutChangingTheResult) {
  Texts texts;
  for (std::int32_t i = 0; i < 40; ++i) {
    texts.emplace_back();
    for (std::int32_t s = 0; s <= i % 5; ++s)
      texts.back().emplace_back(static_cast<std::size_t>(1 + (i * 7 + s * 11) % 30), 1 + (i + s) % 16);
  }
  const ClassifierInput input = input_of(texts);
  const SentenceBatch grouped = sentences_of("test", input, true), plain = sentences_of("test", input, false);
  EXPECT_GT(grouped.groups.size(), 2u);
  EXPECT_EQ(plain.groups.size(), 1u);
  std::int64_t sentences = 0, padded = 0;
  for (const PartBatch& group : grouped.groups) sentences += group.ids.dim(0), padded += group.ids.numel();
  EXPECT_EQ(sentences, plain.groups[0].ids.dim(0));
  EXPECT_LT(padded, plain.groups[0].ids.numel() * 3 / 4);
  const HierarchicalClassifier model(small_hierarchical(false));
  Probe probe;  // a probe switches grouping off
  EXPECT_TRUE(test::close(model.logits(input), model.logits(input, &probe), {1e-5f, 2e-6f}));
}

TEST(TextClassifier, AGroupOfSentencesIsBounded) {
  const Texts document{std::vector<std::vector<std::int32_t>>(5000, std::vector<std::int32_t>(30, 1))};
  const SentenceBatch batch = sentences_of("test", input_of(document), true);
  EXPECT_EQ(batch.groups.size(), 3u);
  for (const PartBatch& group : batch.groups) EXPECT_LE(group.ids.numel(), 65536);
}

TEST(TextClassifier, WrongPartsAreErrors) {
  const Esim esim(small<EsimOptions>());
  EXPECT_ERROR(esim.logits(input_of(kDocuments)), "expected pairs of texts");
  ClassifierInput input = input_of(kPairs);
  input.parts.data<std::int32_t>()[0] = 3;
  EXPECT_ERROR(esim.logits(input), "not numbered in order");
  auto options = small<EsimOptions>();
  options.labels = {"one"};
  EXPECT_ERROR(Esim{options}, "at least 2 labels");
}

}  // namespace
}  // namespace attend
