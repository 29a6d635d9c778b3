#include "attend/tasks/dialogue/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "attend/ops/tape.h"
#include "attend/tasks/dialogue/encode_dialogue.h"
#include "attend/tasks/language_model/language_model.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class DialogueTraining : public testing::Test {
 protected:
  DialogueTraining() {
    std::ofstream text(folder_ / "talk.txt");
    for (int i = 0; i < 40; ++i)
      text << "How are you ? __eou__ Fine, thanks. __eou__ And the dog ? __eou__ It barks.\n";
  }
  DialogueTrainingOptions options(const std::string& output) const {
    DialogueTrainingOptions o;
    o.train = {folder_ / "talk.txt"};
    o.vocab_size = 300, o.context = 64, o.batch_tokens = 256;
    o.model.width = 16, o.model.layers = 1, o.model.heads = 2, o.dropout = 0.1f;
    o.trainer.output = folder_ / output, o.trainer.steps = 10, o.trainer.evaluate_every = 5;
    o.trainer.warmup = 0, o.trainer.schedule = Schedule::Kind::constant, o.trainer.learning_rate = 1e-2;
    return o;
  }
  std::string weights(const std::string& output) const {
    return test::contents(folder_ / output / "model.safetensors");
  }
  std::vector<std::string> warnings_of(const DialogueTrainingOptions& o) const {
    std::vector<std::string> warnings;
    TrainingObserver observer;
    observer.warning = [&](const std::string& line) { warnings.push_back(line); };
    train_dialogues(o, observer);
    return warnings;
  }
  test::TempFolder folder_;
};

TEST_F(DialogueTraining, SavesAModelWithItsChatTemplate) {
  const TrainingResult result = train_dialogues(options("model"));
  EXPECT_EQ(result.state.best.front().first, "loss");
  EXPECT_EQ(result.state.best.back().first, "perplexity");
  const LanguageModel model(folder_ / "model");
  const auto chat = chat_template_of(ModelFolder(folder_ / "model"));
  ASSERT_TRUE(chat);
  const std::string prompt = chat->render({.messages = R"([{"role": "user", "content": "Hi"}])"});
  EXPECT_EQ(prompt, "<|user|>Hi<|end|><|assistant|>");
  const std::int32_t end = model.tokenizer().id("<|end|>").value();
  EXPECT_EQ(end_of_reply(*chat, model.tokenizer()), end);
  EXPECT_EQ(model.end(), end);
  EXPECT_EQ(model.tokenizer().ids("<|assistant|>").size(), 1u);
}

TEST_F(DialogueTraining, TheLossIsThatOfTheReplies) {
  train_dialogues(options("model"));
  const LanguageModel model(folder_ / "model");
  const Tokenizer& tokenizer = model.tokenizer();
  const auto chat = chat_template_of(ModelFolder(folder_ / "model"));
  const std::vector<ChatExample> examples = encode_dialogue(
      *chat, tokenizer,
      {R"([{"role":"user","content":"How are you ?"},{"role":"assistant","content":"Fine."},{"role":"user","content":"Ah"}])"},
      64);
  ASSERT_EQ(examples.size(), 1u);
  const ChatExample& example = examples.front();
  ASSERT_EQ(example.replies.size(), 1u);
  const auto [begin, end] = example.replies.front();
  const std::span ids(example.ids);
  EXPECT_EQ(tokenizer.decode(ids.subspan(begin, end - begin), false), "Fine.<|end|>");
  EXPECT_EQ(tokenizer.token(example.ids[begin - 1]), "<|assistant|>");

  // A store with this dialogue and a shorter one.
  TokenStoreWriter writer(folder_ / "store", tokenizer.size());
  const auto add = [&](const std::vector<std::int32_t>& field) { writer.add(field), writer.end_document(); };
  const std::vector<std::int32_t> other(example.ids.begin(), example.ids.begin() + end);
  add(example.ids), add({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)}), add({});
  add(other), add({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)}), add({});
  writer.commit();
  const ExampleStore store(TokenStore(folder_ / "store"), kDialogueFields);
  const std::vector<std::int64_t> both{0, 1};
  const DialogueBatch replies = dialogue_batch(store, both, LossOn::replies),
                      all = dialogue_batch(store, both, LossOn::all);
  EXPECT_EQ(replies.targets.numel(), 2 * (end - begin));
  EXPECT_EQ(all.targets.numel(), std::ssize(example.ids) - 1 + end - 1);
  EXPECT_EQ(replies.tokens, std::ssize(example.ids) + end);
  for (std::int64_t i = 0; i < end - begin; ++i) {
    EXPECT_EQ(replies.targets.data<std::int32_t>()[i], example.ids[begin + i]);
    EXPECT_EQ(replies.places.data<std::int32_t>()[i], begin + i - 1);
    EXPECT_EQ(replies.places.data<std::int32_t>()[end - begin + i], replies.ids.dim(1) + begin + i - 1);
  }

  const CausalLm& network = model.network();
  const auto task = [&](LossOn loss_on) {
    return DialogueTrainingTask({{},
                                 [&](const Tensor& input, const Tensor& places) {
                                   const Tensor logits = network(input);
                                   Tensor chosen = Tensor::empty({places.numel(), logits.dim(2)});
                                   for (std::int64_t i = 0; i < places.numel(); ++i)
                                     std::copy_n(logits.data() + places.data<std::int32_t>()[i] * logits.dim(2),
                                                 logits.dim(2), chosen.data() + i * logits.dim(2));
                                   return chosen;
                                 },
                                 {}},
                                store, store, {.loss_on = loss_on});
  };
  const NoGrad no_grad;
  const TextLikelihood plain = model.score(std::vector<std::vector<std::int32_t>>{example.ids}).front();
  double expected = 0, expected_all = 0;
  for (std::int64_t i = 1; i < std::ssize(example.ids); ++i) {
    if (i >= begin && i < end) expected -= 2 * plain.logprobs[static_cast<std::size_t>(i)];
    expected_all -= (i < end ? 2 : 1) * plain.logprobs[static_cast<std::size_t>(i)];
  }
  DialogueTrainingTask on_replies = task(LossOn::replies), on_all = task(LossOn::all);
  const TrainingTask::Loss loss = on_replies.next();
  EXPECT_NEAR(loss.sum.item(), expected, 1e-3);
  EXPECT_EQ(loss.targets, 2 * (end - begin));
  EXPECT_NEAR(on_all.next().sum.item(), expected_all, 1e-3);
  // Both are evaluated on replies.
  for (DialogueTrainingTask* one : {&on_replies, &on_all}) {
    const Scores scores = one->evaluate();
    EXPECT_NEAR(scores[0].second, expected / static_cast<double>(2 * (end - begin)), 1e-4);
    EXPECT_NEAR(scores[1].second, std::exp(scores[0].second), 1e-3);
  }
}

TEST_F(DialogueTraining, AResumedRunGivesTheSameModelAsAnUnbrokenOne) {
  train_dialogues(options("whole"));
  DialogueTrainingOptions o = options("parts");
  o.trainer.steps = 5;
  train_dialogues(o);
  o.trainer.steps = 10, o.trainer.resume = true;
  train_dialogues(o);
  EXPECT_EQ(weights("parts"), weights("whole"));
  const char* kOther = "other data or options";
  const auto refused = [&](auto&& change) {
    DialogueTrainingOptions other = o;
    change(other);
    EXPECT_ERROR(train_dialogues(other), kOther);
  };
  refused([](DialogueTrainingOptions& other) { other.loss_on = LossOn::all; });
  refused([](DialogueTrainingOptions& other) { other.batch_tokens = 100; });
  refused([](DialogueTrainingOptions& other) { other.format.both_speakers = true; });
  refused([](DialogueTrainingOptions& other) { other.validation_share = 0.2; });
}

TEST_F(DialogueTraining, WhatIsLearnedCanBeChosen) {
  DialogueTrainingOptions o = options("replies");
  const TrainingResult replies = train_dialogues(o);
  o = options("all"), o.loss_on = LossOn::all;
  const TrainingResult all = train_dialogues(o);
  EXPECT_NE(weights("replies"), weights("all"));
  EXPECT_EQ(replies.state.tokens, all.state.tokens);
}

TEST_F(DialogueTraining, FineTuningKeepsTheTemplateOfTheModel) {
  train_dialogues(options("base"));
  std::ofstream(folder_ / "base" / "chat_template.jinja")
      << "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>\n{% endfor %}"
         "{% if add_generation_prompt %}assistant:{% endif %}";
  auto o = DialogueTrainingOptions::finetune(folder_ / "base");
  o.train = {folder_ / "talk.txt"}, o.trainer.output = folder_ / "tuned", o.trainer.steps = 3;
  train_dialogues(o);
  EXPECT_EQ(test::contents(folder_ / "tuned" / "chat_template.jinja"),
            test::contents(folder_ / "base" / "chat_template.jinja"));
  // A model without a template gets that of DialoGPT.
  std::filesystem::remove(folder_ / "base" / "chat_template.jinja");
  o.trainer.output = folder_ / "plain";
  train_dialogues(o);
  const LanguageModel model(folder_ / "plain");
  const auto chat = chat_template_of(ModelFolder(folder_ / "plain"));
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->render({.messages = R"([{"role": "user", "content": "Hi"}])"}), "Hi<|end|>");
  // Another template can be given.
  std::ofstream(folder_ / "other.jinja") << "{% for m in messages %}[{{ m.content }}]{% endfor %}";
  o.trainer.output = folder_ / "other", o.template_file = folder_ / "other.jinja";
  train_dialogues(o);
  EXPECT_EQ(test::contents(folder_ / "other" / "chat_template.jinja"), test::contents(folder_ / "other.jinja"));
}

TEST_F(DialogueTraining, AdaptersLearnRepliesAndUseTheTemplateOfTheirBase) {
  train_dialogues(options("base"));
  auto o = DialogueTrainingOptions::finetune(folder_ / "base");
  o.train = {folder_ / "talk.txt"}, o.lora = {.rank = 4}, o.batch_tokens = 256;
  o.trainer.learning_rate = 1e-2, o.trainer.warmup = 0, o.trainer.evaluate_every = 5;
  const auto run = [&](const std::string& output, std::int64_t steps, bool resume = false) {
    o.trainer.output = folder_ / output, o.trainer.steps = steps, o.trainer.resume = resume;
    train_dialogues(o);
    return test::contents(folder_ / output / "adapter_model.safetensors");
  };
  const std::string whole = run("whole", 6);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "whole" / "model.safetensors"));
  std::filesystem::remove(folder_ / "whole" / "chat_template.jinja");
  const LanguageModel model(folder_ / "whole");
  EXPECT_TRUE(chat_template_of(ModelFolder(folder_ / "whole")));
  o.trainer.schedule = Schedule::Kind::constant;
  const std::string unbroken = run("unbroken", 6);
  run("parts", 3);
  EXPECT_EQ(run("parts", 6, true), unbroken);
}

TEST_F(DialogueTraining, LongDialoguesLoseTheirBeginningAndAreCounted) {
  DialogueTrainingOptions o = options("cut");
  o.context = 16, o.validation_share = 0;
  const std::vector<std::string> warnings = warnings_of(o);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "cut: 40 dialogues longer than 16 tokens (--context); the beginning is left out");
}

TEST_F(DialogueTraining, DialoguesWithoutRepliesAreLeftOutAndCounted) {
  std::ofstream(folder_ / "talk.txt", std::ios::app) << "__eou__\nOnly one turn. __eou__\n";
  DialogueTrainingOptions o = options("model");
  o.validation_share = 0;
  const std::vector<std::string> warnings = warnings_of(o);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "left out: 2 dialogues without a reply to learn");
  std::ofstream(folder_ / "talk.txt") << "Only one turn. __eou__\n";
  o.trainer.output = folder_ / "none";
  EXPECT_ERROR(train_dialogues(o), "no dialogue has a reply");
  o.train = {};
  EXPECT_ERROR(train_dialogues(o), "there are no dialogues to learn from");
}

TEST_F(DialogueTraining, InvalidUtf8IsReported) {
  std::ofstream(folder_ / "talk.txt", std::ios::app) << "a\xFF __eou__ b\n";
  const std::vector<std::string> warnings = warnings_of(options("model"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("could not be decoded"), std::string::npos);
}

TEST_F(DialogueTraining, ATemplateThatRefusesADialogueIsReportedWithItsPlace) {
  train_dialogues(options("base"));
  std::ofstream(folder_ / "strict.jinja") << "{{ raise_exception('roles must alternate') }}";
  auto o = DialogueTrainingOptions::finetune(folder_ / "base");
  o.train = {folder_ / "talk.txt"}, o.trainer.output = folder_ / "tuned", o.template_file = folder_ / "strict.jinja";
  EXPECT_ERROR(train_dialogues(o), "talk.txt, line 1: ");
  EXPECT_ERROR(train_dialogues(o), "roles must alternate");
}

}  // namespace
}  // namespace attend
