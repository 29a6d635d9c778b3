// A text is the same whether it is generated alone or joins and leaves a batch.
#include "attend/tasks/language_model/generation_task.h"
#include "tests/support/numbered_words.h"

#include <gtest/gtest.h>

#include <map>

namespace attend {
namespace {

const LanguageModel& model() {
  static const LanguageModel one(std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures/gpt2_tokenizer");
  return one;
}

struct PromptWithOptions {
  std::string prompt;
  GenerateOptions options;
};
/// Prompts of different lengths with different options.
std::vector<PromptWithOptions> requests() {
  std::vector<PromptWithOptions> all;
  const char* prompts[] = {"The", "once upon a time", "", "To be or", "a"};
  for (int i = 0; i < 20; ++i) {
    GenerateOptions options{{.seed = static_cast<std::uint64_t>(i), .max_new_tokens = 1 + i % 9}};
    GenerationOptions& search = options.search;
    if (i % 4 == 1) search.temperature = 1.5, search.nbest = 1 + i % 3;
    if (i % 4 == 2) search.beam = 3, search.nbest = 2;
    if (i % 4 == 3) search.max_new_tokens = 40, search.ignore_eos = true, options.long_context = LongContext::slide;
    if (i % 5 == 4) search.stop = {"e", "o"};
    all.push_back({prompts[i % 5], options});
  }
  return all;
}

GenerationTask task(const PromptWithOptions& asked) {
  return std::move(GenerationTask::make(model(), {model().tokenizer().ids(asked.prompt)}, asked.options).front());
}

Engine::Ticket join(Engine& engine, GenerationTask task, GenerationListener listener) {
  EngineListener told = task.decode_for(std::move(listener));
  return engine.join(std::move(task.request), std::move(told));
}

TEST(GenerationTask, ATextThatJoinsLateHasTheSameBits) {
  const std::vector<PromptWithOptions> asked = requests();
  Engine engine(model().generator(), {.rows = 10, .tokens = 300});
  std::map<std::size_t, std::vector<Generation>> done;
  std::size_t next = 0, steps = 0;
  while (done.size() < asked.size()) {
    if (next < asked.size() && steps++ % 2 == 0) {  // a prompt joins at every other step
      if (GenerationTask one = task(asked[next]); engine.has_room(one.request)) {
        join(engine, std::move(one), {.done = [&, i = next](std::vector<Generation>&& texts) { done[i] = texts; }});
        ++next;
      }
    }
    engine.step();
    EXPECT_LE(engine.rows(), 10);
    EXPECT_LE(engine.tokens(), 300);
  }
  EXPECT_EQ(engine.rows(), 0);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto alone = model().generate(std::vector{asked[i].prompt}, asked[i].options).front();
    ASSERT_EQ(done[i].size(), alone.size()) << i;
    for (std::size_t n = 0; n < alone.size(); ++n) {
      EXPECT_EQ(done[i][n].ids, alone[n].ids) << i;
      EXPECT_EQ(done[i][n].text, alone[n].text) << i;
      EXPECT_EQ(done[i][n].log_probability, alone[n].log_probability) << i;
      EXPECT_EQ(done[i][n].finish, alone[n].finish) << i;
    }
  }
}

TEST(GenerationTask, DroppingATextDoesNotChangeTheOthers) {
  const GenerateOptions options{{.max_new_tokens = 12, .ignore_eos = true}};
  Engine engine(model().generator(), {});
  std::map<std::string, std::string> texts;
  std::vector<Engine::Ticket> tickets;
  const auto ask = [&](const std::string& prompt) {
    tickets.push_back(join(engine, task({prompt, options}), {.done = [&texts, prompt](std::vector<Generation>&& made) {
                             texts[prompt] = made.front().text;
                           }}));
  };
  ask("The"), ask("To be"), ask("once");
  for (int i = 0; i < 4; ++i) engine.step();
  engine.drop(tickets[0]);
  EXPECT_EQ(engine.rows(), 2);
  ask("a time");
  engine.drop(tickets[2]);
  while (engine.step()) continue;
  engine.drop(tickets[1]);  // it is finished: no effect
  EXPECT_EQ(texts.size(), 2u);
  for (const char* prompt : {"To be", "a time"}) EXPECT_EQ(texts[prompt], model()(prompt, options).text);
}

TEST(GenerationTask, ReportsEveryTokenWithTheMostLikelyOnes) {
  Engine engine(model().generator(), {});
  std::string text;
  std::vector<std::int32_t> ids;
  GenerationListener listener;
  listener.alternatives = 3;
  listener.on_token = [&](std::size_t, const GeneratedToken* token, const std::string& more) {
    text += more;
    if (!token) return;
    ids.push_back(token->token.id);
    ASSERT_GE(token->best.size(), 3u);
    EXPECT_EQ(token->best[0].id, token->token.id);  // greedy
    EXPECT_GE(token->best[0].score, token->best[1].score);
  };
  Generation made;
  listener.done = [&](std::vector<Generation>&& texts) { made = texts.front(); };
  join(engine, task({"The", {{.greedy = true, .max_new_tokens = 8}}}), listener);
  while (engine.step()) continue;
  EXPECT_EQ(text, made.text);
  EXPECT_EQ(ids, made.ids);
}

TEST(GenerationTask, APromptThatGoesOnIsNotReadFromItsBeginning) {
  CausalLmOptions o = CausalLmOptions::of(kLlama);
  o.vocabulary = 50, o.positions = 200, o.width = 16, o.layers = 2, o.heads = 2, o.inner = 24, o.deviation = 0.4f;
  o.start = 0, o.ends = {0};
  const LanguageModel model(CausalLm(o), test::numbered_words(50));
  GenerateOptions options{{.greedy = true, .max_new_tokens = 5, .ignore_eos = true}};
  const GenerateOptions plain = options;
  options.prefixes.emplace(1 << 20);
  std::vector<std::int32_t> prompt(80, 7);
  for (const std::int64_t reused : {0, 80, 80}) {
    const Generation with = model.generate({prompt}, options)[0][0], without = model.generate({prompt}, plain)[0][0];
    EXPECT_EQ(with.ids, without.ids);
    EXPECT_EQ(with.log_probability, without.log_probability);
    EXPECT_EQ(with.reused, reused);
    EXPECT_EQ(without.reused, 0);
    prompt.insert(prompt.end(), with.ids.begin(), with.ids.end());
  }
}

}  // namespace
}  // namespace attend
