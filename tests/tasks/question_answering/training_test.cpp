#include "attend/tasks/question_answering/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/tasks/question_answering/evaluation.h"
#include "tests/support/errors.h"
#include "tests/tasks/bert_fixture.h"
#include "tests/tasks/question_answering/questions_fixture.h"

namespace attend {
namespace {

class AnswerTraining : public testing::Test {
 protected:
  AnswerTrainingOptions options(const std::string& output) const {
    AnswerTrainingOptions o;
    o.train = {folder_ / "train.json"}, o.validation = folder_ / "dev.json";
    o.network = {.embedding = 12,
                 .hidden = 12,
                 .word_bytes = 8,
                 .byte_embedding = 4,
                 .filters = 8,
                 .filter_width = 3,
                 .match = true};
    o.min_frequency = 1, o.word_dropout = 0;
    o.trainer.output = folder_ / output, o.trainer.steps = 6, o.trainer.average = 0;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }
  static std::string answer(const Answerer& answerer, const std::string& question, const std::string& text,
                            const AnswerOptions& options = {}) {
    const std::vector<Answer> found = answerer(question, text, options);
    if (found.empty()) return "(none)";
    return text.substr(static_cast<std::size_t>(found[0].span.begin),
                       static_cast<std::size_t>(found[0].span.end - found[0].span.begin));
  }

  test::QuestionFolder folder_;
};

TEST_F(AnswerTraining, BidafLearnsToFindAnswersAndToSayThatThereIsNone) {
  AnswerTrainingOptions o = options("model");
  o.train = {folder_ / "train2.json"}, o.validation = folder_ / "dev2.json";
  o.trainer.steps = 0, o.trainer.epochs = 15, o.trainer.learning_rate = 1e-2;
  const TrainingResult result = train_answers(o);
  EXPECT_EQ(result.state.best.front().first, "f1");
  EXPECT_GT(result.state.best.front().second, 0.9);

  const Answerer answerer(folder_ / "model");
  const std::string text = "Carla lives in Bari and likes maps. Dario lives in Rome and likes old songs.";
  EXPECT_EQ(answer(answerer, "Where does Dario live?", text), "Rome");
  EXPECT_EQ(answer(answerer, "What does Dario like?", text), "old songs");
  EXPECT_EQ(answer(answerer, "What does Carla like?", text), "maps");
  EXPECT_EQ(answer(answerer, "Where does Anna live?", text, {.may_lack = true}), "");
  EXPECT_EQ(answer(answerer, "Where does Carla live?", text, {.may_lack = true}), "Bari");
  EXPECT_EQ(answer(answerer, "", text), "(none)");
  EXPECT_EQ(answer(answerer, "Where?", " "), "(none)");
  // The evaluation of the saved model is that of the training.
  const std::vector<Article> dev = read_squad(folder_ / "dev2.json").articles;
  const AnswerEvaluation found = evaluate_answers(dev, predict_answers(answerer, dev, {}), {});
  EXPECT_NEAR(found.all.mean_f1(), result.state.best.front().second, 1e-9);
  EXPECT_EQ(found.unanswerable.questions, 16);
}

TEST_F(AnswerTraining, AResumedRunEqualsAnUnbrokenOne) {
  const auto run = [&](const std::string& output, std::int64_t stop, bool resume) {
    AnswerTrainingOptions o = options(output);
    o.word_dropout = 0.1f, o.trainer.resume = resume, o.trainer.average = 0.9, o.trainer.evaluate_every = 2;
    struct Stop {};
    TrainingObserver observer;
    observer.stepped = [&](const TrainingState& state) {
      if (state.step == stop) throw Stop();
    };
    try {
      train_answers(o, observer);
    } catch (const Stop&) {
    }
  };
  run("whole", -1, false);
  for (const std::int64_t stop : {1, 4}) {
    const std::string name = "run" + std::to_string(stop);
    run(name, stop, false), run(name, -1, true);
    EXPECT_EQ(model(name), model("whole")) << "stopped after " << stop;
  }
}

TEST_F(AnswerTraining, OnlyTheSameRunIsResumed) {
  train_answers(options("run"));
  const auto resume = [&](auto&& change) {
    AnswerTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_answers(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.batch = 5; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.test_share = 0.2; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.windows.max_tokens = 20; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.language = "it"; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.max_answer_tokens = 3; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.network.hidden = 6; }), kOther);
  EXPECT_ERROR(resume([](AnswerTrainingOptions& o) { o.min_frequency = 1000; }), "");
  const std::string before = model("run");
  resume([](AnswerTrainingOptions&) {});
  EXPECT_EQ(model("run"), before);
}

TEST_F(AnswerTraining, ArticlesAreHeldOutAndWritten) {
  AnswerTrainingOptions o = options("held");
  o.validation = "", o.validation_share = 0.1, o.test_share = 0.2;
  std::vector<std::string> messages;
  TrainingObserver observer;
  observer.message = [&](const std::string& line) { messages.push_back(line); };
  train_answers(o, observer);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_TRUE(messages[0].starts_with("224 questions about 14 articles, 32 for validation, 64 for test"))
      << messages[0];
  EXPECT_NE(messages[1].find("of parameters to train"), std::string::npos) << messages[1];
  EXPECT_EQ(count_questions(read_squad(folder_ / "held/validation.json").articles), 32);
  EXPECT_EQ(count_questions(read_squad(folder_ / "held/test.json").articles), 64);
  o.validation = folder_ / "dev.json", o.trainer.output = folder_ / "both";
  EXPECT_ERROR(train_answers(o), "not both");
  o.validation = "", o.validation_share = 0.9, o.test_share = 0.2;
  EXPECT_ERROR(train_answers(o), "together below 1");
}

TEST_F(AnswerTraining, QuestionsThatCannotBeLearnedAreLeftOutAndCounted) {
  std::vector<Article> articles = test::made_up_articles(2, 3);
  articles[0].passages[0].questions[0].answers[0] = {"Paris", {}};
  articles[0].passages[0].questions[1].question = " ";
  write_squad(articles, folder_ / "odd.json");
  AnswerTrainingOptions o = options("odd");
  o.train = {folder_ / "odd.json"};
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  train_answers(o, observer);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_TRUE(
      warnings[0].ends_with("1 answer is not in the paragraph, the first in article \"Article 0\", question "
                            "\"0.0.0\""))
      << warnings[0];
  EXPECT_EQ(warnings[1], "left out: 1 training question whose answers are not in the paragraph");
  EXPECT_EQ(warnings[2], "left out: 1 training question without words, or about a text without words");
}

TEST_F(AnswerTraining, WordVectorsCanStayFixed) {
  std::ofstream(folder_ / "vectors.txt") << "rome 1 2 3\nturin 4 5 6\n";
  AnswerTrainingOptions o = options("vectors");
  o.vectors = folder_ / "vectors.txt", o.fixed_vectors = true, o.network.embedding = 3;
  train_answers(o);
  const ModelFolder folder(folder_ / "vectors");
  const auto id = folder.tokenizer().id("rome");
  ASSERT_TRUE(id);
  const auto network = std::dynamic_pointer_cast<SpanModel>(folder.load());
  EXPECT_EQ(network->words().weight.view_rows(*id, *id + 1).to_vector(), (std::vector<float>{1, 2, 3}));
}

TEST_F(AnswerTraining, AnEncoderIsFineTunedInWindowsAndSavedForHuggingFace) {
  auto o = AnswerTrainingOptions::finetune(test::bert_fixture("bert_words"));
  o.train = {folder_ / "train2.json"}, o.validation = folder_ / "dev2.json";
  o.windows = {.max_tokens = 24, .overlap = 4};
  o.trainer.output = folder_ / "bert", o.trainer.steps = 3;
  EXPECT_EQ(train_answers(o).state.step, 3);
  const Config config(folder_ / "bert/config.json");
  EXPECT_EQ(config.texts("architectures"), std::vector<std::string>{"BertForQuestionAnswering"});
  EXPECT_NE(answer(Answerer(folder_ / "bert"), "where?", "the child is here"), "(none)");
  // A model that answers is trained further, also a network.
  o.from = folder_ / "bert", o.trainer.output = folder_ / "more", o.frozen_layers = 1;
  EXPECT_EQ(train_answers(o).state.step, 3);
  train_answers(options("network"));
  o.from = folder_ / "network", o.trainer.output = folder_ / "further";
  EXPECT_ERROR(train_answers(o), "only that has layers to freeze");
  o.frozen_layers = 0, o.dropout = 0.f;
  EXPECT_EQ(train_answers(o).state.step, 3);
  o.from = test::bert_fixture("bert_words"), o.frozen_layers = 99, o.trainer.output = folder_ / "x";
  EXPECT_ERROR(train_answers(o), "--freeze is 99");
}

}  // namespace
}  // namespace attend
