#include "attend/serve/batcher.h"

#include <gtest/gtest.h>

namespace attend::serve {
namespace {

using Sizes = Batcher<std::size_t>;

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

TEST(Batcher, OneCallIsForAllThatWantTheSame) {
  Counter counter;
  Sizes batcher(1000);
  const auto a = counter.job({"a", "bb"}), b = counter.job({"ccc"}), other = counter.job({"d"}, "other");
  for (const auto& job : {a, other, b}) batcher.submit(job);
  EXPECT_TRUE(batcher.work());
  EXPECT_EQ(counter.calls, std::vector<std::size_t>{3});
  EXPECT_EQ(a->promise.get_future().get(), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(b->promise.get_future().get(), std::vector<std::size_t>{3});
  EXPECT_EQ(batcher.waiting(), 1u);
  EXPECT_TRUE(batcher.work());
  EXPECT_FALSE(batcher.work());
}

TEST(Batcher, ALongRequestLetsOthersBetween) {
  Counter counter;
  Sizes batcher(40);  // four texts
  const auto large = counter.job(std::vector<std::string>(10, "ab")), small = counter.job({"abc"});
  batcher.submit(large);
  batcher.submit(small);
  EXPECT_TRUE(batcher.work());
  EXPECT_EQ(batcher.waiting(), 2u);
  EXPECT_TRUE(batcher.work());
  EXPECT_EQ(small->promise.get_future().get(), std::vector<std::size_t>{3});
  while (batcher.work()) continue;
  EXPECT_EQ(large->promise.get_future().get(), std::vector<std::size_t>(10, 2));
}

TEST(Batcher, OnlyWhoseTextIsWrongIsTold) {
  Counter counter;
  Sizes batcher(1000);
  const auto good = counter.job({"a", "b"}), bad = counter.job({"c", "x"}), broken = counter.job({"!"});
  for (const auto& job : {good, bad, broken}) batcher.submit(job);
  while (batcher.work()) continue;
  EXPECT_EQ(good->promise.get_future().get().size(), 2u);
  try {
    bad->promise.get_future().get();
    ADD_FAILURE();
  } catch (const TextError& error) {
    EXPECT_EQ(error.text, 1u);
  }
  EXPECT_THROW(broken->promise.get_future().get(), std::runtime_error);
}

TEST(Batcher, WhoHasGoneIsPassedOver) {
  Counter counter;
  Sizes batcher(1000);
  const auto gone = counter.job({"a"});
  gone->abandoned = true;
  batcher.submit(gone);
  EXPECT_FALSE(batcher.work());
  EXPECT_TRUE(counter.calls.empty());
}

TEST(Batcher, WhatIsPutBeforeATextCountsWithIt) {
  Counter counter;
  Sizes batcher(1000);
  const auto job = counter.job(std::vector<std::string>(4, "ab"));
  job->added = 490;
  batcher.submit(job);
  while (batcher.work()) continue;
  EXPECT_EQ(counter.calls, (std::vector<std::size_t>{2, 2}));
}

/// A result whose move fails when it is told to.
struct Fragile {
  explicit Fragile(int* failures) : failures(failures) {}
  Fragile(Fragile&& other) : failures(other.failures) {
    if (failures && (*failures)-- > 0) throw std::bad_alloc();
  }
  int* failures;
};

TEST(Batcher, AFailureAfterTheFirstJobIsDoneLeavesTheOthers) {
  using Fragiles = Batcher<Fragile>;
  Fragiles batcher(1000);
  int failures = 1;
  const auto run = [&](std::span<const std::string> texts) {
    std::vector<Fragile> results;
    results.reserve(texts.size());
    for (const std::string& text : texts) results.emplace_back(text == "second" ? &failures : nullptr);
    return results;
  };
  const std::shared_ptr<Fragiles::Job> first(new Fragiles::Job{"", {"first"}, run});
  const std::shared_ptr<Fragiles::Job> second(new Fragiles::Job{"", {"second"}, run});
  batcher.submit(first);
  batcher.submit(second);
  EXPECT_TRUE(batcher.work());
  EXPECT_EQ(first->promise.get_future().get().size(), 1u);
  EXPECT_EQ(second->promise.get_future().get().size(), 1u);
}

TEST(Batcher, AModelThatRunsOutOfMemoryFailsItsJobsOnly) {
  Sizes batcher(1000);
  const auto run = [](std::span<const std::string>) -> std::vector<std::size_t> { throw std::bad_alloc(); };
  const std::shared_ptr<Sizes::Job> job(new Sizes::Job{"", {"a"}, run});
  batcher.submit(job);
  EXPECT_TRUE(batcher.work());
  EXPECT_THROW(job->promise.get_future().get(), std::bad_alloc);
  EXPECT_FALSE(batcher.work());
}

}  // namespace
}  // namespace attend::serve
