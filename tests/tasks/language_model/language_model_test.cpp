// Generation with GPT-2 is compared with transformers (tests/golden/gpt2.py).
#include "attend/tasks/language_model/language_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/numbered_words.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

class Gpt2Folder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Decode, Gpt2Folder,
                         testing::Values("gpt2_old_bin", "gpt2_switches", "gpt2_unscaled", "gpt2_tokenizer"),
                         [](const auto& info) { return std::string(info.param); });

Ids row_of(const Tensor& ids, std::int64_t row, std::int64_t length) {
  const std::int32_t* first = ids.data<std::int32_t>() + row * ids.dim(-1);
  return {first, first + length};
}

TEST_P(Gpt2Folder, GeneratesTheTokensOfTransformers) {
  const SafetensorsFile golden(fixture(GetParam()) / "golden.safetensors");
  const CausalLm model = load_causal_lm(fixture(GetParam()), true);
  const std::int32_t end = model.options.end();
  const LanguageModel writer(model, test::numbered_words(model.options.vocabulary));
  std::vector<Ids> prompts;
  for (std::int64_t row = 0; row < 3; ++row)
    prompts.push_back(row_of(golden.get("ids"), row, golden.get("lengths").data<std::int32_t>()[row]));
  const auto found = [&](GenerateOptions options) {
    options.search.max_new_tokens = 12;
    return writer.generate(prompts, options);
  };
  /// A row of transformers' output without padding.
  const auto said = [&](const std::string& name, std::int64_t row) {
    const Tensor ids = golden.get(name);
    Ids words;
    for (std::int64_t t = 0; t < ids.dim(-1) && (words.empty() || words.back() != end); ++t)
      words.push_back(ids.data<std::int32_t>()[row * ids.dim(-1) + t]);
    return words;
  };
  const auto greedy = found({}), beams = found({{.beam = 3, .nbest = 3}});
  const auto careful = found({{.no_repeat_ngram = 2, .repetition_penalty = 1.3}});
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(greedy[row].front().ids, said("greedy." + std::to_string(row), 0)) << row;
    EXPECT_EQ(careful[row].front().ids, said("careful." + std::to_string(row), 0)) << row;
    ASSERT_EQ(beams[row].size(), 3u);
    const Tensor scores = golden.get("beam_scores." + std::to_string(row));
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(beams[row][n].ids, said("beam." + std::to_string(row), static_cast<std::int64_t>(n)))
          << row << ", " << n;
      const double score = beams[row][n].log_probability / static_cast<double>(beams[row][n].ids.size());
      EXPECT_NEAR(score, scores.data()[n], 1e-5) << row << ", " << n;
    }
  }
}

class CausalLmGeneration : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Decode, CausalLmGeneration,
                         testing::Values("llama", "llama_yarn", "llama_bfloat16", "llama_float16", "mistral", "qwen2",
                                         "qwen3", "smollm3", "gemma2", "gpt_neox", "gpt_neox_serial_old", "phi3",
                                         "phi3_long"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CausalLmGeneration, GreedyAndBeamSearchGiveTheTokensOfTransformers) {
  const SafetensorsFile golden(fixture(GetParam()) / "golden.safetensors");
  const CausalLm model = load_causal_lm(fixture(GetParam()), true);
  const LanguageModel writer(model, test::numbered_words(model.options.vocabulary));
  std::vector<Ids> prompts;
  for (std::int64_t row = 0; row < 3; ++row)
    prompts.push_back(row_of(golden.get("ids"), row, golden.get("lengths").data<std::int32_t>()[row]));
  /// A row of transformers' output without padding.
  const auto expected = [&](const std::string& name, std::int64_t row) {
    const Tensor ids = golden.get(name);
    Ids found;
    const auto ended = [&] { return !found.empty() && std::ranges::count(model.options.ends, found.back()) > 0; };
    for (std::int64_t t = 0; t < ids.dim(-1) && !ended(); ++t)
      found.push_back(ids.data<std::int32_t>()[row * ids.dim(-1) + t]);
    return found;
  };
  const auto greedy = writer.generate(prompts, {{.max_new_tokens = 14}});
  const auto beams = writer.generate(prompts, {{.beam = 3, .nbest = 3, .max_new_tokens = 14}});
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(greedy[row].front().ids, expected("greedy." + std::to_string(row), 0)) << row;
    EXPECT_EQ(writer.generate(std::vector<Ids>{prompts[row]}, {{.max_new_tokens = 14}}).front().front().ids,
              greedy[row].front().ids);
    for (std::size_t n = 0; n < 3; ++n)
      EXPECT_EQ(beams[row][n].ids, expected("beam." + std::to_string(row), static_cast<std::int64_t>(n)))
          << row << ", " << n;
  }
}

/// The model of the only fixture with a tokenizer.
const LanguageModel& language_model() {
  static const LanguageModel model(fixture("gpt2_tokenizer"));
  return model;
}
const std::vector<std::string> kPrompts{"The", "once upon a time", "", "To be or"};

TEST(LanguageModel, APromptGivesTheSameTextAloneAndInABatch) {
  for (const bool sample : {false, true}) {
    const GenerateOptions options{{.sample = sample, .seed = 3, .max_new_tokens = 8}};
    const auto together = language_model().generate(kPrompts, options);
    ASSERT_EQ(together.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      const Generation alone = language_model()(kPrompts[i], options);
      EXPECT_EQ(alone.ids, together[i].front().ids) << kPrompts[i];
      EXPECT_EQ(alone.text, together[i].front().text);
      EXPECT_EQ(alone.text, language_model().tokenizer().decode(alone.ids));
      EXPECT_EQ(alone.finish, alone.ids.back() == language_model().end() ? Finish::eos : Finish::length);
    }
    GenerateOptions two = options;
    two.batch_rows = 2;
    EXPECT_EQ(language_model().generate(kPrompts, two)[3].front().ids, together[3].front().ids);
  }
}

TEST(LanguageModel, TheSameSeedGivesTheSameTexts) {
  const GenerateOptions options{{.nbest = 6, .temperature = 1.5, .seed = 7, .max_new_tokens = 6}};
  const auto once = language_model().generate(kPrompts, options), again = language_model().generate(kPrompts, options);
  GenerateOptions other = options;
  other.search.seed = 8;
  const auto others = language_model().generate(kPrompts, other);
  bool differ = false;
  for (std::size_t i = 0; i < kPrompts.size(); ++i) {
    ASSERT_EQ(once[i].size(), 6u);
    for (std::size_t s = 0; s < 6; ++s) {
      EXPECT_EQ(once[i][s].ids, again[i][s].ids);
      differ |= once[i][s].ids != others[i][s].ids;
    }
  }
  EXPECT_TRUE(differ);
  EXPECT_NE(once[0][0].ids, once[0][1].ids);
}

TEST(LanguageModel, SamplesFollowTheDistribution) {
  const CausalLm model = load_causal_lm(fixture("gpt2_tokenizer"));
  const Ids prompt = language_model().tokenizer().ids("The");
  CausalLmState state;
  const std::span<const std::int32_t> text(prompt);
  const Tensor logits = model.start(std::span(&text, 1), state);
  double total = 0;
  for (const float logit : logits.span()) total += std::exp(static_cast<double>(logit) / 2);
  constexpr std::int64_t kDraws = 4000;
  std::map<std::int32_t, std::int64_t> counts;
  const GenerateOptions options{{.nbest = kDraws, .temperature = 2.0, .top_k = 0, .seed = 0, .max_new_tokens = 1}};
  const auto drawn = language_model().generate({prompt}, options);
  for (const Generation& one : drawn.front()) ++counts[one.ids.front()];
  // A chi-squared test. Tokens with an expected count below five are counted together.
  double chi = 0, rare_expected = 0, rare_counted = 0;
  std::int64_t cells = 0;
  for (std::int32_t id = 0; id < model.options.vocabulary; ++id) {
    const double expected = kDraws * std::exp(static_cast<double>(logits.data()[id]) / 2) / total;
    const auto counted = static_cast<double>(counts[id]);
    if (expected < 5) {
      rare_expected += expected, rare_counted += counted;
    } else {
      chi += (counted - expected) * (counted - expected) / expected, ++cells;
    }
  }
  if (rare_expected > 0)
    chi += (rare_counted - rare_expected) * (rare_counted - rare_expected) / rare_expected, ++cells;
  ASSERT_GT(cells, 10);
  const double freedom = static_cast<double>(cells - 1);
  EXPECT_LT(chi, freedom + 4 * std::sqrt(2 * freedom));  // four standard deviations
}

TEST(LanguageModel, TheStreamedPartsAreTheText) {
  for (const std::vector<std::string>& stop : std::vector<std::vector<std::string>>{{}, {"e"}, {"zzz", " "}}) {
    const GenerateOptions options{{.nbest = 3, .temperature = 1.8, .seed = 5, .max_new_tokens = 10, .stop = stop}};
    std::map<std::pair<std::size_t, std::size_t>, std::string> streamed;
    const auto results = language_model().generate(
        kPrompts, options, [&](std::size_t prompt, std::size_t sample, const std::string& text) {
          streamed[{prompt, sample}] += text;
        });
    for (std::size_t i = 0; i < kPrompts.size(); ++i)
      for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ((streamed[{i, s}]), results[i][s].text);
  }
}

TEST(LanguageModel, StopsBeforeAStopString) {
  const GenerateOptions plain{{.nbest = 20, .temperature = 2.0, .seed = 5, .max_new_tokens = 15}};
  GenerateOptions stopping = plain;
  stopping.search.stop = {"a", "th"};
  const auto whole = language_model().generate({Ids{5}}, plain).front();
  const auto cut = language_model().generate({Ids{5}}, stopping).front();
  int stopped = 0;
  for (std::size_t s = 0; s < 20; ++s) {
    const std::size_t end = std::min(whole[s].text.find('a'), whole[s].text.find("th"));
    EXPECT_EQ(cut[s].text, whole[s].text.substr(0, end));
    EXPECT_EQ(cut[s].finish == Finish::stop, end != std::string::npos);
    stopped += cut[s].finish == Finish::stop;
  }
  EXPECT_GT(stopped, 3);
  EXPECT_ERROR(language_model()("x", {{.stop = std::vector<std::string>{""}}}), "cannot stop at nothing");
  const Generation beam = language_model()(
      "The", {{.beam = 2, .max_new_tokens = 10, .stop = std::vector<std::string>{"a", "e", "o", "t"}}});
  EXPECT_EQ(beam.text.find_first_of("aeot"), std::string::npos);
}

TEST(LanguageModel, PenaltiesAndIgnoreEosAreApplied) {
  const auto& model = language_model();
  const Generation endless = model("The", {{.max_new_tokens = 20, .ignore_eos = true}});
  EXPECT_EQ(endless.ids.size(), 20u);
  EXPECT_EQ(std::ranges::count(endless.ids, model.end()), 0);
  EXPECT_EQ(endless.finish, Finish::length);
  // With a penalty above all logits no token is generated twice.
  Ids said = model("The", {{.max_new_tokens = 20, .presence_penalty = 1e3, .ignore_eos = true}}).ids;
  std::ranges::sort(said);
  EXPECT_EQ(std::ranges::adjacent_find(said), said.end());
}

TEST(LanguageModel, LongContextsSlideOrAreErrors) {
  const auto& model = language_model();
  ASSERT_EQ(model.positions(), 24);
  const std::vector<Ids> prompts{Ids(30, 7), Ids(20, 9)};
  EXPECT_ERROR(model.generate(prompts, {{.max_new_tokens = 3}}), "got 30 and 3 tokens, the model sees 24");
  EXPECT_ERROR(model.generate({Ids(20, 9)}, {{.max_new_tokens = 6}}), "got 20 and 6 tokens");
  EXPECT_EQ(model.generate({Ids(20, 9)}, {{.max_new_tokens = 5, .ignore_eos = true}})[0][0].ids.size(), 5u);
  EXPECT_EQ(model.generate({Ids(20, 9)}, {{.ignore_eos = true}})[0][0].ids.size(),
            5u);  // the context limits the length

  const GenerateOptions slide{{.max_new_tokens = 60, .ignore_eos = true}, LongContext::slide};
  const auto slid = model.generate(prompts, slide);
  EXPECT_EQ(slid[0][0].truncated, 6);
  EXPECT_EQ(slid[1][0].truncated, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(slid[i][0].ids.size(), 60u);
    EXPECT_EQ(model.generate({prompts[i]}, slide)[0][0].ids, slid[i][0].ids);
  }
  // Each token is predicted from the tokens in the context: 24 at first, and 18 after it has slid.
  Ids all(24, 7);
  std::size_t next = 0;
  const CausalLm network = load_causal_lm(fixture("gpt2_tokenizer"));
  for (; next < 60; ++next) {
    CausalLmState state;
    const std::span<const std::int32_t> seen(all);
    const Tensor logits = network.start(std::span(&seen, 1), state);
    logits.data()[network.options.end()] = -1e30f;
    const float* best = std::max_element(logits.data(), logits.data() + logits.numel());
    EXPECT_EQ(slid[0][0].ids[next], best - logits.data()) << next;
    all.push_back(slid[0][0].ids[next]);
    if (all.size() > 24) all.erase(all.begin(), all.end() - 18);
  }
}

TEST(LanguageModel, ScoresAreLogProbabilities) {
  const auto& model = language_model();
  const CausalLm network = load_causal_lm(fixture("gpt2_tokenizer"));
  const std::vector<std::string> texts{"To be or not", "", "x",
                                       "once upon a time there was a king who had no hair at all"};
  const auto scored = model.score(texts);
  const auto started = model.score(texts, {.start = true, .alternatives = 3, .batch_tokens = 1});
  ASSERT_EQ(scored.size(), 4u);
  const NoGrad no_grad;
  for (std::size_t i = 0; i < 4; ++i) {
    const TextLikelihood& text = scored[i];
    EXPECT_EQ(text.ids, model.tokenizer().ids(texts[i]));
    EXPECT_EQ(started[i].ids, text.ids);
    ASSERT_EQ(text.logprobs.size(), text.ids.size());
    double sum = 0;
    for (std::size_t t = 0; t < text.ids.size(); ++t) {
      ASSERT_EQ(started[i].best[t].size(), 3u);
      EXPECT_GE(started[i].best[t].front().log_probability, started[i].logprobs[t] - 1e-5);
      if (t == 0) {
        EXPECT_TRUE(std::isnan(text.logprobs[0]));
        EXPECT_LT(started[i].logprobs[0], 0);
        continue;
      }
      // Windows of 24 tokens begin every 12 tokens. A token is scored in the first window that contains it.
      const std::size_t begin = t < 24 ? 0 : (t - 12) / 12 * 12;
      const std::int64_t T = static_cast<std::int64_t>(t - begin);
      const Tensor logits = network(Tensor::ids(std::span(text.ids).subspan(begin, t - begin), {1, T}))
                                .reshape({T, -1})
                                .view_rows(T - 1, T);
      double total = 0;
      for (const float logit : logits.span()) total += std::exp(static_cast<double>(logit));
      EXPECT_NEAR(text.logprobs[t], logits.data()[text.ids[t]] - std::log(total), 1e-4) << texts[i] << ", token " << t;
      sum += text.logprobs[t];
    }
    EXPECT_NEAR(text.logprob, sum, 1e-9);
  }
  EXPECT_GT(scored[3].windows, 1);
  EXPECT_EQ(scored[0].windows, 1);
}

TEST(LanguageModel, AFolderOfAnotherModelTypeIsAnError) {
  EXPECT_ERROR(LanguageModel(fixture("marian_tied")), "holds a model of type \"marian\", expected a language model");
}

TEST(LanguageModel, WithoutASeedEachCallSamplesAnotherTextThatItsSeedRepeats) {
  const GenerateOptions options{{.temperature = 2.0, .top_k = 0, .max_new_tokens = 12}};
  const Generation first = language_model()("a", options), second = language_model()("a", options);
  ASSERT_TRUE(first.seed && second.seed);
  EXPECT_NE(*first.seed, *second.seed);
  GenerateOptions again = options;
  again.search.seed = first.seed;
  EXPECT_EQ(language_model()("a", again).ids, first.ids);
  EXPECT_FALSE(language_model()("a", {{.greedy = true, .max_new_tokens = 3}}).seed);
}

TEST(LanguageModel, ATemperatureOfZeroIsGreedySearch) {
  const Generation greedy = language_model()("a", {{.greedy = true, .max_new_tokens = 8}});
  const Generation cold = language_model()("a", {{.temperature = 0, .top_k = 5, .max_new_tokens = 8}});
  EXPECT_EQ(cold.ids, greedy.ids);
  EXPECT_FALSE(cold.seed);
  EXPECT_EQ(language_model()("a", {{.sample = true, .temperature = 0, .max_new_tokens = 8}}).ids, greedy.ids);
}

}  // namespace
}  // namespace attend
