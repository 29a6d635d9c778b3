// The search, its rules and its sampling against what transformers finds for the same table of logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "attend/decode/generation_config.h"
#include "attend/decode/search.h"
#include "tests/support/golden.h"

namespace attend {
namespace {

/// Logits follow from the sentence and the last two words.
class Table : public Stepper {
 public:
  Table(Tensor last, Tensor before_last, std::vector<std::int64_t> sentences)
      : last_(std::move(last)), before_last_(std::move(before_last)) {
    for (const std::int64_t sentence : sentences) rows_.push_back({sentence, -1});
  }

  Tensor step(const Tensor& words) override {
    const auto N = static_cast<std::int64_t>(rows_.size());
    Tensor logits = Tensor::empty({N, last_.dim(2)});
    for (std::int64_t i = 0; i < N; ++i) {
      Row& row = rows_[static_cast<std::size_t>(i)];
      const std::int32_t word = words.data<std::int32_t>()[i];
      add_logits(row.sentence, row.before, word, logits.data() + i * last_.dim(2));
      row.before = word;
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
  void select(std::span<const std::int64_t> rows) override {
    std::vector<Row> picked;
    for (const std::int64_t row : rows) picked.push_back(rows_[static_cast<std::size_t>(row)]);
    rows_ = std::move(picked);
  }

 private:
  struct Row {
    std::int64_t sentence, before;
  };
  Tensor last_, before_last_;
  std::vector<Row> rows_;
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
      c.inputs.resize(static_cast<std::size_t>(last_.dim(0)), {.prefix = {prefix.begin(), prefix.end()}});
      cases_.push_back(std::move(c));
    }
  }
  Table table(std::vector<std::int64_t> sentences) const { return {last_, before_last_, std::move(sentences)}; }

  SafetensorsFile file_;
  Tensor last_, before_last_;
  std::vector<Case> cases_;
};

TEST_F(SearchGolden, GreedyAndBeamsFindTheSameWordsWithTheSameScores) {
  int checked = 0;
  for (const Case& c : cases_) {
    if (c.options.sample) continue;
    Table stepper = table({0, 1, 2, 3, 4});
    const auto found = search(stepper, c.inputs, c.options);
    const Tensor scores = c.options.beam > 1 ? file_.get(c.name + "/scores") : Tensor();
    std::size_t n = 0;
    for (const std::vector<Hypothesis>& sentence : found) {
      for (std::size_t h = 0; h < static_cast<std::size_t>(c.options.nbest); ++h, ++n) {
        // Where the rules leave fewer than it asks for, transformers fills up with sequences that score -10⁹.
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

TEST_F(SearchGolden, EachSentenceAloneFindsWhatItFindsTogether) {
  for (const Case& c : cases_) {
    Table all = table({0, 1, 2, 3, 4});
    std::vector<SearchInput> inputs = c.inputs;
    for (std::size_t s = 0; s < inputs.size(); ++s) inputs[s].stream = s;
    const auto together = search(all, inputs, c.options);
    for (std::size_t s = 0; s < inputs.size(); ++s) {
      Table one = table({static_cast<std::int64_t>(s)});
      const auto alone = search(one, std::span(&inputs[s], 1), c.options);
      ASSERT_EQ(alone[0].size(), together[s].size());
      for (std::size_t h = 0; h < alone[0].size(); ++h) {
        EXPECT_EQ(alone[0][h].ids, together[s][h].ids) << c.line;
        EXPECT_EQ(alone[0][h].score, together[s][h].score) << c.line;
      }
    }
  }
}

TEST_F(SearchGolden, WordsAreDrawnWithTheSameChances) {
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
        table({}).add_logits(s, step > 0 ? words[static_cast<std::size_t>(step) - 1] : -1, words.back(), logits.data());
        const LogitsContext context{words, 1, c.options.max_length};
        const std::int64_t k = c.options.sampling.top_k > 0 ? c.options.sampling.top_k : V;
        auto next = best_words(logits, std::span(&context, 1), c.options.rules, c.options.ends, k, ScoreKind::logits);
        const std::vector<double> odds = chances(next[0], c.options.sampling);
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
