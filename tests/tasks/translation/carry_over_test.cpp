#include "attend/tasks/translation/carry_over.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"
#include "attend/text/training/train_words.h"

namespace attend {
namespace {

Tokenizer words_of(std::vector<std::string> lines) {
  return train_words(
      [lines = std::move(lines), next = std::size_t{0}](std::string& line) mutable {
        if (next == lines.size()) return false;
        line = lines[next++];
        return true;
      },
      {.vocab_size = 100});
}

TEST(CarryOver, TokensOfBothVocabulariesAreMapped) {
  const Tokenizer from = words_of({"a b c", "b c", "c"}), to = words_of({"d c", "d a", "d"});
  const PieceMap pieces = map_pieces(from, to);
  ASSERT_EQ(static_cast<std::int64_t>(pieces.size()), to.size());
  for (const std::string shared : {"a", "c"})
    EXPECT_EQ(pieces[static_cast<std::size_t>(*to.id(shared))], *from.id(shared));
  EXPECT_EQ(pieces[static_cast<std::size_t>(*to.id("d"))], -1);
  EXPECT_EQ(pieces[static_cast<std::size_t>(*to.special().eos)], *from.special().eos);
  EXPECT_EQ(pieces[static_cast<std::size_t>(*to.special().padding)], *from.special().padding);
  EXPECT_EQ(shared_pieces(pieces), to.size() - 1);
}

TEST(CarryOver, RowsAreCopiedByTokenAndOtherParametersWhole) {
  const std::vector<NamedTensor> from = {{"table", Tensor::from({1, 1, 2, 2, 3, 3}, {3, 2})},
                                         {"bias", Tensor::from({10, 20, 30}, {1, 3})},
                                         {"weight", Tensor::from({7, 8}, {2})}};
  const std::vector<NamedTensor> to = {
      {"table", Tensor::full({4, 2}, -1)}, {"bias", Tensor::full({1, 4}, -1)}, {"weight", Tensor::zeros({2})}};
  const PieceMap pieces = {2, -1, 0, 2};
  carry_over(from, to, {{"table", pieces}, {"bias", pieces}});
  const auto values = [](const Tensor& t) { return std::vector<float>(t.span().begin(), t.span().end()); };
  EXPECT_EQ(values(to[0].tensor), (std::vector<float>{3, 3, -1, -1, 1, 1, 3, 3}));
  EXPECT_EQ(values(to[1].tensor), (std::vector<float>{30, -1, 10, 30}));
  EXPECT_EQ(values(to[2].tensor), (std::vector<float>{7, 8}));

  EXPECT_THROW(carry_over(from, {{"other", Tensor::zeros({2})}}, {}), Error);
  EXPECT_THROW(carry_over(from, {{"weight", Tensor::zeros({3})}}, {}), Error);
  EXPECT_THROW(carry_over(from, {{"table", Tensor::zeros({1, 2})}}, {{"table", {3}}}), Error);
}

}  // namespace
}  // namespace attend
