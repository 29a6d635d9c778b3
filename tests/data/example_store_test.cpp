#include "attend/data/example_store.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace attend
