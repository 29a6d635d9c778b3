// A sequence has the same result alone and in an engine that other sequences join and leave.
#include "attend/decode/engine.h"

#include <gtest/gtest.h>

#include <map>

#include "attend/models/recurrent_translator.h"
#include "attend/models/transformer.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

constexpr std::int32_t kStart = 36, kEnd = 1;

std::shared_ptr<const GenerativeModel> transformer(bool relative) {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 37;
  o.width = 12, o.encoder_layers = 2, o.decoder_layers = 2, o.encoder_heads = 2, o.decoder_heads = 3;
  o.encoder_inner = 20, o.decoder_inner = 28, o.max_positions = 24, o.start = kStart;
  if (relative) o.relative_buckets = 8, o.relative_distance = 16, o.max_positions = 0;
  Generator generator(3);
  return std::make_shared<Transformer>(o, generator);
}

std::shared_ptr<const GenerativeModel> recurrent() {
  RecurrentTranslatorOptions o;
  o.source_vocabulary = o.target_vocabulary = 37;
  o.embedding = 8, o.hidden = 12;
  Generator generator(3);
  return std::make_shared<RecurrentTranslator>(o, generator);
}

/// Inputs of many lengths; every other one begins with a prefix.
std::vector<SearchInput> inputs() {
  std::vector<SearchInput> all(12);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t t = 0; t <= i * 5 % 7; ++t)
      all[i].source.push_back(static_cast<std::int32_t>(2 + (i + t * 3) % 34));
    if (i % 2 == 1) all[i].prefix = {5, static_cast<std::int32_t>(2 + i)};
    all[i].max_new_tokens = static_cast<std::int64_t>(1 + i * 3 % 11), all[i].stream = i;
  }
  return all;
}

TEST(Engine, SequencesThatJoinLateHaveTheSameResultAsAlone) {
  for (const auto& model : {transformer(false), transformer(true), recurrent()})
    for (const SearchOptions& options :
         {SearchOptions{.beam = 3, .nbest = 2, .start = kStart, .ends = {kEnd}},
          SearchOptions{.start = kStart, .ends = {kEnd}},
          SearchOptions{.nbest = 3, .sample = true, .seed = 4, .start = kStart, .ends = {kEnd}}}) {
      std::vector<EngineRequest> requests = make_requests(*model, options, inputs());
      const std::vector<EngineRequest> again = requests;
      Engine engine(model, {.rows = 9, .read_tokens = 8});
      std::map<std::size_t, std::vector<Hypothesis>> done;
      std::size_t next = 0, steps = 0;
      while (done.size() < requests.size()) {
        if (next < requests.size() && steps++ % 2 == 0 && engine.has_room(requests[next])) {
          engine.join(std::move(requests[next]),
                      {.done = [&, i = next](std::vector<Hypothesis>&& found) { done[i] = std::move(found); }});
          ++next;
        }
        engine.step();
        EXPECT_LE(engine.rows(), 9);
      }
      EXPECT_EQ(engine.rows(), 0);
      for (std::size_t i = 0; i < again.size(); ++i) {
        const std::vector<Hypothesis> alone = search(*model, {again[i].input}, options).front();
        ASSERT_EQ(done[i].size(), alone.size()) << i;
        for (std::size_t n = 0; n < alone.size(); ++n) {
          EXPECT_EQ(done[i][n].ids, alone[n].ids) << i;
          EXPECT_NEAR(done[i][n].score, alone[n].score, 1e-5) << i;
        }
      }
    }
}

TEST(Engine, DroppingASequenceDoesNotChangeTheOthers) {
  const auto model = transformer(false);
  const SearchOptions options{.beam = 2, .start = kStart, .ends = {}};
  std::vector<EngineRequest> requests = make_requests(*model, options, inputs());
  Engine engine(model, {.rows = 100});
  std::map<std::size_t, std::vector<std::int32_t>> done;
  std::vector<Engine::Ticket> tickets;
  for (std::size_t i = 0; i < 4; ++i)
    tickets.push_back(
        engine.join(requests[i], {.done = [&, i](std::vector<Hypothesis>&& found) { done[i] = found.front().ids; }}));
  engine.step();
  engine.drop(tickets[2]);
  while (engine.step()) continue;
  EXPECT_FALSE(done.contains(2));
  for (const std::size_t i : {0, 1, 3}) EXPECT_EQ(done[i], search(*model, {requests[i].input}, options)[0][0].ids) << i;
}

TEST(Engine, LimitsApplyUnlessTheEngineIsEmpty) {
  const auto model = transformer(false);
  const std::vector<EngineRequest> requests =
      make_requests(*model, {.beam = 4, .max_new_tokens = 5, .start = kStart, .ends = {kEnd}}, inputs());
  Engine engine(model, {.rows = 3, .source_tokens = 4});
  EXPECT_TRUE(engine.has_room(requests[0])) << "an empty engine takes any request";
  engine.join(requests[0], {});
  EXPECT_FALSE(engine.has_room(requests[1]));
  engine.clear();
  EXPECT_TRUE(engine.has_room(requests[1]));
  EXPECT_FALSE(engine.step());
}

TEST(Engine, MoreHypothesesThanFitIntoMemoryAreRefused) {
  const auto model = transformer(false);
  const auto request = [&](const SearchOptions& options) { return make_requests(*model, options, {{.source = {2}}}); };
  EXPECT_ERROR(request({.beam = 1 << 30, .start = kStart, .ends = {kEnd}}), "a beam of 1,073,741,824 does not fit");
  EXPECT_ERROR(request({.nbest = 1 << 30, .sample = true, .start = kStart, .ends = {kEnd}}), "a number of samples");
  EXPECT_GT(request({.beam = 4, .start = kStart, .ends = {kEnd}}).front().bytes,
            request({.beam = 2, .start = kStart, .ends = {kEnd}}).front().bytes);
}

}  // namespace
}  // namespace attend
