// Texts that conform to grammars and JSON Schemas, whatever the model would rather write: its weights are random.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "attend/core/error.h"
#include "attend/decode/token_grammar.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/json_schema.h"
#include "attend/text/training/train_bpe.h"
#include "tests/support/errors.h"
#include "tests/support/json_schemas.h"

namespace attend {
namespace {

using test::Json;

const LanguageModel& random_model() {
  static const LanguageModel one = [] {
    const std::vector<std::string> texts{R"({"name": "größer", "list": [true, false, null], "n": 12.5, "a": -1e5})",
                                         "日本語 日本語 😀😀 the end of the text", "{\n  \"x\": \"y\"\n}"};
    std::size_t next = 0;
    Tokenizer tokenizer = train_bpe(
        [&](std::string& line) {
          line = texts[next % texts.size()];
          return next++ < 30;
        },
        {.vocab_size = 360});
    CausalLmOptions options{
        .vocabulary = tokenizer.size() + 5, .positions = 512, .width = 16, .layers = 1, .heads = 2, .deviation = 0.5f};
    options.start = *tokenizer.special().eos, options.ends = {options.start};
    return LanguageModel(CausalLm(options), std::move(tokenizer));
  }();
  return one;
}

Generation generate(const GenerationOptions& options, const std::string& prompt = "A:") {
  return random_model().generate(std::vector{prompt}, {options}).front().front();
}

TEST(ConformingTexts, EveryAnswerConformsToARandomSchema) {
  test::SchemaGenerator make(11);
  // A file to check the same answers with another validator.
  std::ofstream answers;
  if (const char* path = std::getenv("ATTEND_SCHEMA_ANSWERS")) answers.open(path);
  int schemas = 0, finished = 0;
  for (int i = 0; schemas < 1000; ++i) {
    const Json schema = make();
    GenerationOptions options{.seed = static_cast<std::uint64_t>(i), .json_schema = schema.dump()};
    std::int64_t shortest = 0;
    try {
      shortest = random_model().grammar(options)->shortest();
    } catch (const InputError&) {  // without any value
      continue;
    }
    if (shortest > 400) continue;
    ++schemas;
    for (int way = 0; way < 3; ++way) {
      GenerationOptions o = options;
      o.max_new_tokens = shortest + i % 7 * 10;
      if (way == 0) o.greedy = true;
      if (way == 1) o.temperature = 2, o.top_k = 0;
      if (way == 2 && i % 10 > 0) continue;
      if (way == 2) o.beam = 3;
      const Generation one = generate(o);
      const Json value = Json::parse(one.text, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << one.text << "\n" << schema;
      ASSERT_TRUE(test::conforms(value, schema, schema)) << one.text << "\n" << schema;
      EXPECT_EQ(one.finish, Finish::eos);
      finished += one.finish == Finish::eos;
      if (answers.is_open()) answers << Json{{"schema", schema}, {"answer", one.text}}.dump() << "\n";
    }
  }
  EXPECT_GE(finished, 2000);
}

TEST(ConformingTexts, GrammarsHoldWithAllOtherRules) {
  const std::string gbnf = "root ::= \"[\" item (\", \" item){2,9} \"]\"\nitem ::= \"yes\" | \"no\" | [0-9]{2}";
  const Grammar grammar(gbnf);
  std::vector<GenerationOptions> all(9);
  all[0].no_repeat_ngram = 1;
  all[1].bad_words = {"yes", "no", "[", "]"};
  all[2].repetition_penalty = 5, all[2].presence_penalty = 2, all[2].temperature = 1;
  all[3].min_new_tokens = 60;
  all[4].temperature = 2, all[4].nbest = 4, all[4].top_p = 0.5;
  all[5].beam = 4, all[5].nbest = 4, all[5].no_repeat_ngram = 2;
  all[6].beam = 8, all[6].nbest = 8, all[6].early_stopping = EarlyStopping::never;
  all[7].biases = {{LogitBias{random_model().end(), 100}, LogitBias{5, -100}}};
  all[8].temperature = 100, all[8].top_k = 0, all[8].min_p = 0.1;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::int64_t room : {40, 70}) {
      GenerationOptions& options = all[i];
      options.seed = i, options.max_new_tokens = room, options.grammar = gbnf;
      const auto texts = random_model().generate(std::vector<std::string>{"A:"}, {options});
      for (const Generation& one : texts.front()) {
        EXPECT_TRUE(grammar.accepts(one.text)) << i << ": " << one.text;
        EXPECT_EQ(one.finish, Finish::eos);
      }
    }
}

TEST(ConformingTexts, AreTheSameInABatchAndSlideOn) {
  const std::string gbnf = "root ::= ([a-z]{1,8} \" \"){300} \"end\"";
  GenerateOptions options{{.temperature = 1.0, .seed = 3, .max_new_tokens = 2000, .grammar = gbnf}, LongContext::slide};
  const std::vector<std::string> prompts{"A", "the end", "x: "};
  const auto together = random_model().generate(prompts, options);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_TRUE(Grammar(gbnf).accepts(together[i].front().text));
    EXPECT_GT(together[i].front().ids.size(), 512U);
    EXPECT_EQ(random_model().generate(std::vector{prompts[i]}, options).front().front().text, together[i].front().text);
  }
}

TEST(ConformingTexts, ProbabilitiesAreThoseOfTheModel) {
  // A grammar that allows everything changes nothing.
  GenerationOptions options{.temperature = 1.5, .seed = 1, .max_new_tokens = 20};
  const Generation free = generate(options);
  options.grammar = "root ::= \"a\"";
  const Generation held = generate(options);
  EXPECT_EQ(held.text, "a");
  std::vector<std::int32_t> ids = random_model().tokenizer().ids("A:");
  ids.insert(ids.end(), held.ids.begin(), held.ids.end());
  const std::vector<double> scored = random_model().score(std::vector<std::vector<std::int32_t>>{ids}).front().logprobs;
  ASSERT_EQ(held.ids.size(), 2U);
  EXPECT_NEAR(held.log_probability, scored[scored.size() - 1] + scored[scored.size() - 2], 1e-4);
  EXPECT_LT(free.log_probability, 0);
}

TEST(ConformingTexts, WhatCannotConformIsAnError) {
  const auto with = [](const char* gbnf, std::int64_t room) {
    return GenerationOptions{.max_new_tokens = room, .grammar = gbnf};
  };
  EXPECT_ERROR(generate(with("root ::= \"abcdefgh\"", 3)), "the shortest text that conforms to the grammar has");
  EXPECT_ERROR(generate(with("root := \"a\"", 3)), "[grammar] line 1, column 6: expected ::=");
  GenerationOptions both = with("root ::= \"a\"", 9);
  both.json_schema = "{}";
  EXPECT_ERROR(generate(both), "to a grammar or to a JSON schema, not to both");
  GenerationOptions endless = with("root ::= \"a\"", 9);
  endless.ignore_eos = true;
  EXPECT_ERROR(generate(endless), "ignore_eos contradicts it");
}

TEST(ConformingTexts, AStopTextStillEndsTheText) {
  GenerationOptions options{
      .max_new_tokens = 30, .stop = std::vector<std::string>{"c"}, .grammar = "root ::= \"abcd\""};
  const Generation one = generate(options);
  EXPECT_EQ(one.text, "ab");
  EXPECT_EQ(one.finish, Finish::stop);
}

}  // namespace
}  // namespace attend
