#include "attend/serve/gatherer.h"

#include <gtest/gtest.h>

namespace attend::serve {
namespace {

using Sizes = Gatherer<std::size_t>;

/// Counts bytes, and notes how many texts each call had. A text of x is refused, one of ! breaks it all.
struct Counter {
  std::vector<std::size_t> calls = {};

  std::shared_ptr<Sizes::Job> job(std::vector<std::string> texts, const std::string& key = "") {
    const auto run = [this](std::span<const std::string> all) {
      calls.push_back(all.size());
      std::vector<std::size_t> sizes;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == "x") throw TextError(i, "no x");
        if (all[i] == "!") throw std::runtime_error("broken");
        sizes.push_back(all[i].size());
      }
      return sizes;
    };
    return std::shared_ptr<Sizes::Job>(new Sizes::Job{key, std::move(texts), run});
  }
};

TEST(Gatherer, OneCallIsForAllThatWantTheSame) {
  Counter counter;
  Sizes gatherer(1000);
  const auto a = counter.job({"a", "bb"}), b = counter.job({"ccc"}), other = counter.job({"d"}, "other");
  for (const auto& job : {a, other, b}) gatherer.submit(job);
  EXPECT_TRUE(gatherer.work());
  EXPECT_EQ(counter.calls, std::vector<std::size_t>{3});
  EXPECT_EQ(a->promise.get_future().get(), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(b->promise.get_future().get(), std::vector<std::size_t>{3});
  EXPECT_EQ(gatherer.waiting(), 1u);
  EXPECT_TRUE(gatherer.work());
  EXPECT_FALSE(gatherer.work());
}

TEST(Gatherer, ALongRequestLetsOthersBetween) {
  Counter counter;
  Sizes gatherer(40);  // four texts
  const auto large = counter.job(std::vector<std::string>(10, "ab")), small = counter.job({"abc"});
  gatherer.submit(large);
  gatherer.submit(small);
  EXPECT_TRUE(gatherer.work());
  EXPECT_EQ(gatherer.waiting(), 2u);
  EXPECT_TRUE(gatherer.work());
  EXPECT_EQ(small->promise.get_future().get(), std::vector<std::size_t>{3});
  while (gatherer.work()) continue;
  EXPECT_EQ(large->promise.get_future().get(), std::vector<std::size_t>(10, 2));
}

TEST(Gatherer, OnlyWhoseTextIsWrongIsTold) {
  Counter counter;
  Sizes gatherer(1000);
  const auto good = counter.job({"a", "b"}), bad = counter.job({"c", "x"}), broken = counter.job({"!"});
  for (const auto& job : {good, bad, broken}) gatherer.submit(job);
  while (gatherer.work()) continue;
  EXPECT_EQ(good->promise.get_future().get().size(), 2u);
  try {
    bad->promise.get_future().get();
    ADD_FAILURE();
  } catch (const TextError& error) {
    EXPECT_EQ(error.text, 1u);
  }
  EXPECT_THROW(broken->promise.get_future().get(), std::runtime_error);
}

TEST(Gatherer, WhoHasGoneIsPassedOver) {
  Counter counter;
  Sizes gatherer(1000);
  const auto gone = counter.job({"a"});
  gone->abandoned = true;
  gatherer.submit(gone);
  EXPECT_FALSE(gatherer.work());
  EXPECT_TRUE(counter.calls.empty());
}

}  // namespace
}  // namespace attend::serve
