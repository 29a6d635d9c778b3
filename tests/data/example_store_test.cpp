#include "attend/data/example_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;

/// The numbers 0 to count - 1. Can be opened several times.
struct Numbers {
  int count = 0, opened = 0;

  std::function<std::function<bool(int&)>()> open() {
    return [this] {
      ++opened;
      return [this, next = 0](int& number) mutable {
        number = next++;
        return number < count;
      };
    };
  }
};

/// Two fields for n: the id n mod 100, repeated n mod 5 times, and the id n / 100. One in seven is left out, and one in
/// seven is "cut".
EncodedExample encode(const int& n) {
  if (n % 7 == 0) return {};
  return {{Ids(static_cast<std::size_t>(n % 5), n % 100), {n / 100}}, n % 7 == 1};
}

TEST(ExampleStore, ReturnsTheFieldsOfEveryExampleInOrder) {
  const test::TempFolder folder;
  Numbers numbers{10000};
  const ExampleFile file{folder / "examples", 2, 200, {1, 2}};
  const ExampleStore store = stored_examples<int>(file, numbers.open(), encode);
  const std::vector<std::int32_t> lengths = store.lengths(0);
  std::int64_t example = 0;
  for (int n = 0; n < numbers.count; ++n) {
    const EncodedExample expected = encode(n);
    if (expected.fields.empty()) continue;
    ASSERT_EQ(store.read(example, 0), expected.fields[0]) << n;
    ASSERT_EQ(store.read(example, 1), expected.fields[1]) << n;
    ASSERT_EQ(lengths.at(static_cast<std::size_t>(example)), n % 5) << n;
    ++example;
  }
  EXPECT_EQ(store.size(), example);
  EXPECT_EQ(store.left_out(), 1429 + 1429);

  const std::vector<std::int64_t> chosen = {2, 0};
  const TokenBatch batch = pad(store, 0, chosen, 9);  // lengths 3 and 1
  EXPECT_TRUE(std::ranges::equal(batch.ids.span<std::int32_t>(), Ids{3, 3, 3, 1, 9, 9}));
  EXPECT_TRUE(std::ranges::equal(batch.lengths.span<std::int32_t>(), Ids{3, 1}));
}

TEST(ExampleStore, IsMadeOnceForAKey) {
  const test::TempFolder folder;
  Numbers numbers{20};
  ExampleFile file{folder / "examples", 2, 200, {1, 2}};
  stored_examples<int>(file, numbers.open(), encode);
  EXPECT_EQ(stored_examples<int>(file, numbers.open(), encode).left_out(), 3 + 3);
  EXPECT_EQ(numbers.opened, 1);
  file.key.sources = 5;
  stored_examples<int>(file, numbers.open(), encode);
  EXPECT_EQ(numbers.opened, 2);
}

TEST(ExampleStore, IncompleteExamplesAreErrors) {
  const test::TempFolder folder;
  Numbers numbers{20};
  EXPECT_ERROR(stored_examples<int>({folder / "examples", 3, 200, {}}, numbers.open(), encode),
               "an example has 2 fields, expected 3");
  EXPECT_FALSE(std::filesystem::exists(folder / "examples"));
  TokenStoreWriter writer(folder / "store", 10);
  for (int i = 0; i < 3; ++i) writer.add(Ids{1}), writer.end_document();
  writer.commit();
  EXPECT_ERROR(ExampleStore(TokenStore(folder / "store"), 2), "the last example is not complete");
  EXPECT_EQ(ExampleStore().size(), 0);
  EXPECT_TRUE(ExampleStore().lengths().empty());
}

/// A sequence of `length` vectors of width 3, all of whose numbers are `value`.
EncodedExample with_features(std::int64_t length, float value) {
  return {{{}, {static_cast<std::int32_t>(length)}}, false, Tensor::full({length, 3}, value)};
}

TEST(ExampleStore, HoldsFeaturesBesideTheIds) {
  const test::TempFolder folder;
  const ExampleFile file{folder / "examples", 2, 10, {1, 2}, 3};
  int filled = 0;
  const auto open = [&](float value) {
    return stored_examples(file, [&](const AddExample& add) {
      ++filled;
      for (const std::int64_t length : {2, 0, 4}) add(with_features(length, value + static_cast<float>(length)));
      add({});  // left out, with its features
    });
  };
  const ExampleStore store = open(0.5f);
  ASSERT_EQ(store.size(), 3);
  EXPECT_EQ(store.left_out(), 1);
  EXPECT_EQ(store.feature_lengths(), (Ids{2, 0, 4}));
  EXPECT_EQ(store.read(2, 1), Ids{4});
  EXPECT_EQ(store.features(0).shape(), (Shape{2, 3}));
  const FeatureBatch batch = pad_features(store, std::vector<std::int64_t>{2, 0});
  ASSERT_EQ(batch.features.shape(), (Shape{2, 4, 3}));
  EXPECT_EQ(batch.frames, 6);
  EXPECT_EQ(batch.features.to_vector(), [] {
    std::vector<float> expected(12, 4.5f);
    expected.insert(expected.end(), 6, 2.5f);
    expected.insert(expected.end(), 6, 0.f);
    return expected;
  }());

  open(0.5f);
  EXPECT_EQ(filled, 1);
  std::filesystem::resize_file(folder / "examples.features", 70);  // was cut: both are made anew
  EXPECT_EQ(open(1.f).features(0).data()[0], 3.f);
  EXPECT_EQ(filled, 2);
}

TEST(ExampleStore, FeaturesThatDoNotFitAreRefused) {
  const test::TempFolder folder;
  const auto store_one = [&](const EncodedExample& example) {
    return stored_examples({folder / "examples", 2, 10, {}, 4}, [&](const AddExample& add) { add(example); });
  };
  EXPECT_ERROR(store_one(with_features(2, 1.f)), "got [2, 3], expected float32 [T, 4]");
  EXPECT_ERROR(store_one({{{}, {1}}}), "expected float32 [T, 4]");
  EXPECT_FALSE(std::filesystem::exists(folder / "examples"));
  const ExampleStore ids = stored_examples({folder / "ids", 1, 10}, [](const AddExample& add) { add({{{1}}}); });
  EXPECT_FALSE(ids.has_features());
  EXPECT_ERROR(ids.features(0), "has no features");
}

TEST(FeatureStore, MayBeEmpty) {
  const test::TempFolder folder;
  FeatureStoreWriter(folder / "none", 80).commit();
  EXPECT_EQ(FeatureStore(folder / "none").size(), 0);
  FeatureStoreWriter writer(folder / "short", 80);
  writer.add(Tensor::zeros({0, 80}));
  writer.commit();
  EXPECT_EQ(FeatureStore(folder / "short").read(0).shape(), (Shape{0, 80}));
}

TEST(FeatureStore, DamagedFilesAreRefused) {
  const test::TempFolder folder;
  FeatureStoreWriter writer(folder / "features", 5);
  for (const std::int64_t length : {3, 1}) writer.add(Tensor::zeros({length, 5}));
  writer.commit();
  const std::string whole = test::contents(folder / "features");
  EXPECT_EQ(FeatureStore(folder / "features").length(0), 3);
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    std::ofstream(folder / "cut", std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(FeatureStore(folder / "cut"), InputError) << size;
    EXPECT_FALSE(is_feature_store(folder / "cut", 5, {})) << size;
  }
  std::string other_width = whole;
  other_width[8] = 7;  // bytes of an element
  std::ofstream(folder / "other", std::ios::binary) << other_width;
  EXPECT_THROW(FeatureStore(folder / "other"), InputError);
}

}  // namespace
}  // namespace attend
