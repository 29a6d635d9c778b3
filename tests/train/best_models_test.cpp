#include "attend/train/best_models.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/core/error.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::vector<NamedTensor> model(float value) { return {{"weight", Tensor::full({3}, value)}}; }

std::vector<std::int64_t> steps(const BestModels& best) {
  std::vector<std::int64_t> all;
  for (const BestModels::Entry& entry : best.entries()) all.push_back(entry.step);
  return all;
}

TEST(BestModels, KeepsTheBestInOrderAndTidyRemovesTheOthers) {
  const test::TempFolder folder;
  BestModels best(folder / "best", 2, "bleu");
  best.offer(1, {{"loss", 3}, {"bleu", 0}}, model(1));
  best.offer(2, {{"loss", 2}, {"bleu", 0}}, model(2));  // BLEU is equal, so the loss decides
  best.offer(3, {{"loss", 9}, {"bleu", 5}}, model(3));
  best.offer(4, {{"loss", 2.5}, {"bleu", 0}}, model(4));
  best.offer(5, {{"loss", std::nan("")}, {"bleu", 50}}, model(5));
  EXPECT_EQ(steps(best), (std::vector<std::int64_t>{3, 2}));
  EXPECT_TRUE(std::filesystem::exists(folder / "best/1.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "best/4.safetensors"));
  best.tidy();
  EXPECT_FALSE(std::filesystem::exists(folder / "best/1.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "best/2.safetensors"));
  EXPECT_FLOAT_EQ(best.mean(model(0)).front().tensor.data()[2], 2.5f);
  best.clear(), best.tidy();
  EXPECT_FALSE(std::filesystem::exists(folder / "best"));
}

TEST(BestModels, AreRestoredFromFilesAndAMissingFileIsAnError) {
  const test::TempFolder folder;
  BestModels first(folder / "best", 3, "");
  first.offer(7, {{"loss", 3}}, model(1));
  first.offer(8, {{"loss", 2}}, model(3));
  BestModels second(folder / "best", 3, "");
  second.restore(first.entries());
  EXPECT_FLOAT_EQ(second.mean(model(0)).front().tensor.data()[0], 2.f);
  EXPECT_THROW(second.mean({{"weight", Tensor::zeros({4})}}), InputError);
  std::filesystem::remove(folder / "best/7.safetensors");
  EXPECT_THROW(second.restore(first.entries()), InputError);
}

TEST(BestModels, AFailedRunKeepsTheFilesOfACheckpointThatMayBeInPlace) {
  const test::TempFolder folder;
  BestModels best(folder / "best", 1, "");
  best.offer(1, {{"loss", 3}}, model(1));
  best.tidy();
  best.offer(2, {{"loss", 2}}, model(2));
  best.expect_checkpoint();  // which fails: the old one or the new one is on disk
  best.offer(3, {{"loss", 1}}, model(3));
  best.tidy_to_checkpoint();
  EXPECT_TRUE(std::filesystem::exists(folder / "best/1.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "best/2.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "best/3.safetensors"));
}

TEST(BestModels, ACountOfZeroKeepsNothing) {
  const test::TempFolder folder;
  BestModels best(folder / "best", 0, "");
  best.offer(1, {{"loss", 3}}, model(1));
  EXPECT_TRUE(best.entries().empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "best"));
}

}  // namespace
}  // namespace attend
