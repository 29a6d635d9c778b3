// Search, rules and sampling are compared with transformers on the same table of logits (tests/golden/search.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "attend/decode/engine.h"
#include "attend/decode/generation_config.h"
#include "tests/decode/row_state.h"
#include "tests/support/golden.h"

namespace attend {
namespace {

/// A model whose logits depend on the sentence (the source) and on the last two tokens.
class Table : public GenerativeModel {
 public:
  Table(Tensor last, Tensor before_last) : last_(std::move(last)), before_last_(std::move(before_last)) {}

  std::int64_t vocabulary() const override { return last_.dim(2); }
  std::int64_t max_positions() const override { return 0; }
  SequenceBytes sequence_bytes() const override { return {}; }
  StartedGeneration start(std::span<const GenerationInput> inputs) const override {
    auto state = std::make_unique<test::RowState<Row>>();
    std::vector<std::int32_t> words;
    for (const GenerationInput& input : inputs)
      state->values.push_back({input.source.front(), -1}), words.push_back(input.prompt.back());
    Tensor logits = step(Tensor::ids(words, {std::ssize(words)}), *state);
    return {std::move(state), std::move(logits)};
  }
  Tensor step(const Tensor& words, GenerationState& state) const override {
    std::vector<Row>& rows = static_cast<test::RowState<Row>&>(state).values;
    Tensor logits = Tensor::empty({std::ssize(rows), last_.dim(2)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t word = words.data<std::int32_t>()[i];
      add_logits(rows[i].sentence, rows[i].before, word, logits.data() + static_cast<std::int64_t>(i) * last_.dim(2));
      rows[i].before = word;
    }
    return logits;
  }
  void add_logits(std::int64_t sentence, std::int64_t before, std::int64_t word, float* out) const {
    const std::int64_t V = last_.dim(2);
    for (std::int64_t v = 0; v < V; ++v) {
      out[v] = last_.data()[(sentence * V + word) * V + v];
      if (before >= 0) out[v] += before_last_.data()[(sentence * V + before) * V + v];
    }
  }

 private:
  struct Row {
    std::int64_t sentence, before;
  };
  Tensor last_, before_last_;
};

struct Case {
  Config config;
  SearchOptions options;
  std::vector<SearchInput> inputs;  // one for each sentence
  std::vector<std::vector<std::int64_t>> sequences;
  std::string name, line;
};

class SearchGolden : public testing::Test {
 protected:
  SearchGolden() : file_(test::golden("search")), last_(file_.get("last")), before_last_(file_.get("before_last")) {
    std::ifstream lines(std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/golden/search.jsonl");
    for (std::string line; std::getline(lines, line);) {
      Case c{Config::parse(line, "case"), {}, {}, {}, {}, line};
      c.options = GenerationConfig::read(c.config).search;
      c.name = c.config.text("name");
      c.sequences = c.config.integer_lists("sequences");
      const std::vector<std::int64_t> prefix = c.config.integers("prefix");
      for (std::int32_t sentence = 0; sentence < last_.dim(0); ++sentence)
        c.inputs.push_back({.source = {sentence}, .prefix = {prefix.begin(), prefix.end()}});
      cases_.push_back(std::move(c));
    }
  }
  Table table() const { return {last_, before_last_}; }

  SafetensorsFile file_;
  Tensor last_, before_last_;
  std::vector<Case> cases_;
};

TEST_F(SearchGolden, GreedyAndBeamSearchFindTheSameTokensAndScores) {
  int checked = 0;
  for (const Case& c : cases_) {
    if (c.options.sample) continue;
    const auto found = search(table(), c.inputs, c.options);
    const Tensor scores = c.options.beam > 1 ? file_.get(c.name + "/scores") : Tensor();
    std::size_t n = 0;
    for (const std::vector<Hypothesis>& sentence : found) {
      for (std::size_t h = 0; h < static_cast<std::size_t>(c.options.nbest); ++h, ++n) {
        // If the rules allow fewer hypotheses than nbest, transformers adds sequences with a score of -10⁹.
        if (scores.defined() && scores.data()[n] < -1e7f) {
          EXPECT_LE(sentence.size(), h) << c.line;
          continue;
        }
        ASSERT_LT(h, sentence.size()) << c.line;
        EXPECT_TRUE(std::ranges::equal(sentence[h].ids, c.sequences[n]))
            << c.line << "\nsequence " << n << ": got " << testing::PrintToString(sentence[h].ids) << ", expected "
            << testing::PrintToString(c.sequences[n]);
        const double expected = scores.defined() ? scores.data()[n] : sentence[h].score;
        EXPECT_NEAR(sentence[h].score, expected, 2e-5) << c.line << "\nsequence " << n;
        ++checked;
      }
    }
    EXPECT_EQ(n, c.sequences.size());
  }
  EXPECT_GT(checked, 3500);
}

TEST_F(SearchGolden, ASentenceHasTheSameResultAloneAndInABatch) {
  for (const Case& c : cases_) {
    std::vector<SearchInput> inputs = c.inputs;
    for (std::size_t s = 0; s < inputs.size(); ++s) inputs[s].stream = s;
    const auto together = search(table(), inputs, c.options);
    for (std::size_t s = 0; s < inputs.size(); ++s) {
      const auto alone = search(table(), {inputs[s]}, c.options);
      ASSERT_EQ(alone[0].size(), together[s].size());
      for (std::size_t h = 0; h < alone[0].size(); ++h) {
        EXPECT_EQ(alone[0][h].ids, together[s][h].ids) << c.line;
        EXPECT_EQ(alone[0][h].score, together[s][h].score) << c.line;
      }
    }
  }
}

TEST_F(SearchGolden, TokensAreSampledWithTheSameProbabilities) {
  int checked = 0;
  for (const Case& c : cases_) {
    if (!c.options.sample) continue;
    const Tensor expected = file_.get(c.name + "/chances");  // [step, sentence, word]
    const std::int64_t S = expected.dim(1), V = expected.dim(2);
    for (std::int64_t s = 0; s < S; ++s) {
      std::vector<std::int32_t> words = {c.options.start};
      for (const std::int64_t id : c.sequences[static_cast<std::size_t>(s)]) {
        const auto step = static_cast<std::int64_t>(words.size()) - 1;
        Tensor logits = Tensor::empty({1, V});
        table().add_logits(s, step > 0 ? words[static_cast<std::size_t>(step) - 1] : -1, words.back(), logits.data());
        const LogitsContext context{words, 1, c.options.max_length};
        const std::int64_t k = c.options.sampling.top_k > 0 ? c.options.sampling.top_k : V;
        auto next = best_tokens(logits, std::span(&context, 1), c.options.rules, c.options.ends, k, ScoreKind::logits);
        const std::vector<double> odds = sampling_probabilities(next[0], c.options.sampling);
        std::vector<double> by_word(static_cast<std::size_t>(V));
        for (std::size_t i = 0; i < odds.size(); ++i) by_word[static_cast<std::size_t>(next[0][i].id)] = odds[i];
        for (std::int64_t v = 0; v < V; ++v)
          EXPECT_NEAR(by_word[static_cast<std::size_t>(v)], expected.data()[(step * S + s) * V + v], 1e-5)
              << c.line << "\nsentence " << s << ", step " << step << ", word " << v;
        words.push_back(static_cast<std::int32_t>(id));
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 200);
}

}  // namespace
}  // namespace attend
