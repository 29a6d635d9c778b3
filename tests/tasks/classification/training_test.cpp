#include "attend/tasks/classification/training.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/models/registry.h"
#include "attend/tasks/classification/classifier.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::string long_text(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "film ";
  return text;
}

class ClassificationTraining : public testing::Test {
 protected:
  ClassificationTraining() {
    std::ofstream texts(folder_ / "texts.tsv"), pairs(folder_ / "pairs.tsv");
    for (int i = 0; i < 40; ++i) {
      texts << "a lovely film\tgood\nan awful plot\tpoor\n";
      pairs << "a film\ta film\tsame\na film\ta plot\tother\n";
    }
  }
  ClassificationTrainingOptions options(const std::string& output) const {
    ClassificationTrainingOptions o;
    o.train = o.validation = folder_ / "texts.tsv";
    o.network = RecurrentClassifierOptions{.embedding = 8, .hidden = 8};
    o.trainer.output = folder_ / output, o.trainer.steps = 10;
    return o;
  }
  std::string model(const std::string& output) const { return test::contents(folder_ / output / "model.safetensors"); }

  test::TempFolder folder_;
};

TEST_F(ClassificationTraining, SavesAClassifier) {
  const TrainingResult result = train_classification(options("model"));
  EXPECT_EQ(result.state.best.front().first, "accuracy");
  const Classifier classifier(folder_ / "model");
  EXPECT_EQ(classifier.labels(), (std::vector<std::string>{"good", "poor"}));
  EXPECT_ERROR(classifier(std::vector<std::string>{long_text(20000)}, {.long_text = LongText::error}),
               "20000 tokens, expected at most 16384");
}

TEST_F(ClassificationTraining, OnlyTheSameRunIsResumed) {
  train_classification(options("run"));
  const auto resume = [&](auto&& change) {
    ClassificationTrainingOptions o = options("run");
    o.trainer.resume = true;
    change(o);
    return train_classification(o);
  };
  const char* kOther = "other data or options";
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.batch = 5; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.batch_tokens = 99; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.columns = {.text = "2", .label = "1"}; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.vocab_size = 6; }), kOther);
  EXPECT_ERROR(resume([](ClassificationTrainingOptions& o) { o.word_dropout = 0.5f; }), kOther);
  const std::string before = model("run");
  EXPECT_EQ(resume([](ClassificationTrainingOptions&) {}).state.step, 10);
  EXPECT_EQ(model("run"), before);
}

TEST_F(ClassificationTraining, FineTunesAnEncoderOnPairsOfTexts) {
  auto o = ClassificationTrainingOptions::finetune(ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels");
  o.train = o.validation = folder_ / "pairs.tsv";
  o.columns.pair = "2";
  o.trainer.output = folder_ / "pairs", o.trainer.steps = 3;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  EXPECT_EQ(train_classification(o, observer).state.step, 3);
  EXPECT_EQ(Classifier(folder_ / "pairs").labels(), (std::vector<std::string>{"other", "same"}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the model's head is for other labels (sport, weather, art), and starts from random weights");
  o.from = "", o.trainer.output = folder_ / "x";
  EXPECT_ERROR(train_classification(o), "reads single texts");
  o.balanced = true, o.columns.separator = "|";
  EXPECT_ERROR(train_classification(o), "one label each");
}

TEST_F(ClassificationTraining, AnAdapterKeepsTheEncoderAndBringsItsHead) {
  const std::filesystem::path base = ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels";
  for (const bool int8 : {false, true}) {
    auto o = ClassificationTrainingOptions::finetune(base);
    if (int8) {
      const ModelFolder folder(base);
      const std::shared_ptr<Model> model = folder.load();
      quantise(*model);
      std::filesystem::create_directories(folder_ / "int8");
      save_model(*model, folder.tokenizer(), folder_ / "int8");
      o.from = folder_ / "int8";
    }
    o.train = o.validation = folder_ / "pairs.tsv";
    o.columns.pair = "2", o.lora = {.rank = 2};
    o.trainer.output = folder_ / (int8 ? "adapter8" : "adapter"), o.trainer.steps = 3;
    EXPECT_EQ(train_classification(o).state.step, 3);
    const Classifier classifier{o.trainer.output};
    EXPECT_EQ(classifier.labels(), (std::vector<std::string>{"other", "same"}));
    EXPECT_NE(test::contents(o.trainer.output / "adapter_config.json").find("\"classifier\""), std::string::npos);
    o.frozen_layers = 1, o.trainer.overwrite = true;
    EXPECT_ERROR(train_classification(o), "--freeze cannot be combined with --lora");
  }
  auto o = ClassificationTrainingOptions::finetune(folder_ / "first");
  train_classification(options("first"));
  o.train = folder_ / "texts.tsv", o.lora = {.rank = 2}, o.trainer.output = folder_ / "none";
  EXPECT_ERROR(train_classification(o), "--lora is for Transformers");
}

TEST_F(ClassificationTraining, ARecurrentClassifierIsTrainedFurther) {
  train_classification(options("first"));
  auto o = ClassificationTrainingOptions::finetune(folder_ / "first");
  o.train = o.validation = folder_ / "texts.tsv";
  o.trainer.output = folder_ / "second", o.trainer.steps = 1, o.trainer.learning_rate = 1e-12;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  train_classification(o, observer);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  const std::vector<std::string> texts{"a lovely film", "an awful plot", "film"};
  const auto before = Classifier(folder_ / "first")(texts), after = Classifier(folder_ / "second")(texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_NEAR(before[i].probabilities[0], after[i].probabilities[0], 1e-5) << "the head is kept";

  std::ofstream(folder_ / "other.tsv") << "a lovely film\tfunny\nan awful plot\tsad\na film\tother\n";
  o.train = folder_ / "other.tsv", o.validation = "", o.trainer.output = folder_ / "third";
  train_classification(o, observer);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the model's head is for other labels (good, poor), and starts from random weights");
  EXPECT_EQ(Classifier(folder_ / "third").labels(), (std::vector<std::string>{"funny", "other", "sad"}));
  o.frozen_layers = 1, o.trainer.output = folder_ / "fourth";
  EXPECT_ERROR(train_classification(o), "is not of BERT's family");
}

TEST_F(ClassificationTraining, NetworksForPairsLearnWhichWordsAreAligned) {
  for (const auto& network :
       {decltype(ClassificationTrainingOptions::network)(DecomposableAttentionOptions{.embedding = 12, .hidden = 12}),
        decltype(ClassificationTrainingOptions::network)(
            EsimOptions{.embedding = 12, .hidden = 12, .dropout = 0.1f})}) {
    ClassificationTrainingOptions o = options("aligned");
    o.network = network, o.train = o.validation = folder_ / "pairs.tsv", o.columns.pair = "2";
    o.trainer.steps = 60, o.trainer.learning_rate = 1e-2, o.trainer.overwrite = true, o.word_dropout = 0;
    EXPECT_EQ(train_classification(o).state.best.front().second, 1);
    const Classifier classifier(folder_ / "aligned");
    const std::vector<std::string> texts{"a film\ta plot", "a film\ta film"};
    const auto results = classifier(texts, {.attention = true});
    EXPECT_EQ(classifier.labels()[results[0].label], "other");
    EXPECT_EQ(classifier.labels()[results[1].label], "same");
    EXPECT_EQ(results[0].tokens, (std::vector<std::string>{"a", "film", "a", "plot"}));
    EXPECT_EQ(results[0].spans[3].begin, 9) << "in the whole line";
    float sum = 0;
    for (const float weight : results[0].attention) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
    ASSERT_EQ(results[0].aligned.size(), 4u);
    EXPECT_LT(results[0].aligned[3], 2u) << "a word of the other text";
    const AttentionMap map = classifier.attention_map(texts[0]);
    EXPECT_EQ(map.views[0].queries.size(), 4);
    EXPECT_EQ(map.views[0].weights[0].data()[0], 0) << "no word attends to its own text";
    EXPECT_ERROR(classifier(std::vector<std::string>{"a film"}), "has no tab");
    EXPECT_ERROR(classifier(std::vector<std::string>{"a\t" + long_text(5000)}, {.long_text = LongText::error}),
                 "5000 tokens, expected at most 4096");
    o.columns.pair = "", o.trainer.output = folder_ / "single";
    EXPECT_ERROR(train_classification(o), "reads pairs of texts");
  }
}

TEST_F(ClassificationTraining, HierarchicalNetworksWeighSentencesAndWords) {
  std::ofstream documents(folder_ / "documents.tsv");
  for (int i = 0; i < 40; ++i)
    for (const auto& [word, label] : {std::pair("lovely", "good"), std::pair("awful", "poor")}) {
      for (int s = 0; s < 3; ++s) documents << (s == i % 3 ? std::string("It is ") + word + ". " : "It is a film. ");
      documents << "\t" << label << "\n";
    }
  documents.close();
  for (const bool transformer : {false, true}) {
    ClassificationTrainingOptions o = options("documents");
    o.network = HierarchicalClassifierOptions{
        .embedding = 12, .hidden = 8, .transformer = transformer, .heads = 2, .dropout = 0.1f};
    o.train = o.validation = folder_ / "documents.tsv", o.word_dropout = 0;
    o.trainer.steps = 80, o.trainer.learning_rate = 1e-2, o.trainer.overwrite = true;
    EXPECT_EQ(train_classification(o).state.best.front().second, 1) << transformer;
    const Classifier classifier(folder_ / "documents");
    const std::vector<std::string> texts{"It is a film. It is awful. It is a film.", "Lovely!"};
    const auto results = classifier(texts, {.attention = true});
    EXPECT_EQ(classifier.labels()[results[0].label], "poor");
    EXPECT_EQ(classifier.labels()[results[1].label], "good");
    ASSERT_EQ(results[0].sentences.size(), 3u);
    EXPECT_EQ(results[0].sentences[1].span.begin, 14);
    EXPECT_EQ(results[0].sentences[1].span.end, 26);
    float sum = 0;
    for (const SentenceWeight& sentence : results[0].sentences) sum += sentence.weight;
    EXPECT_NEAR(sum, 1, 1e-5);
    const AttentionMap map = classifier.attention_map(texts[0]);
    EXPECT_EQ(map.views[0].queries.shown.back(), "(document)");
    EXPECT_EQ(map.views[0].queries.size(), 4);
    EXPECT_ERROR(classifier.attention_map(" "), "blank");
    EXPECT_EQ(classifier(std::vector<std::string>{""})[0].probabilities.size(), 2u);
  }
}

TEST_F(ClassificationTraining, StartsFromWordVectors) {
  std::ofstream(folder_ / "vectors.txt") << "3 2\nLovely 1 -2\nawful 0.5 1e-1\nwonderful 3 4\n";
  ClassificationTrainingOptions o = options("vectors");
  o.network = EsimOptions{.embedding = 2, .hidden = 4};
  o.train = o.validation = folder_ / "pairs.tsv", o.columns.pair = "2";
  o.vectors = folder_ / "vectors.txt", o.fixed_vectors = true, o.trainer.steps = 2;
  train_classification(o);
  const ModelFolder folder(folder_ / "vectors");
  const Tensor table = folder.weights().get("embedding.weight");
  const auto row = [&](const char* word) { return table.data() + 2 * folder.tokenizer().id(word).value(); };
  EXPECT_EQ(row("lovely")[1], -2.f) << "words are compared in lower case";
  EXPECT_EQ(row("wonderful")[0], 3.f) << "the vocabulary has the words that no text has";
  EXPECT_EQ(row("awful")[0], 0.5f);
  const auto refused = [&](const std::string& content, const char* message) {
    std::ofstream(folder_ / "vectors.txt") << content;
    o.trainer.output = folder_ / "refused";
    EXPECT_ERROR(train_classification(o), message);
  };
  refused("lovely 1 2\nawful 1\n", "line 2: got 1 numbers");
  refused("lovely 1 x\n", "line 1: expected a word and numbers");
  refused("lovely 1 2 3\n", "the vectors have 3 numbers, but the embeddings of the model have 2");
  refused("lovely nan 1\n", "line 1: expected a word and numbers");
}

TEST_F(ClassificationTraining, AGpt2ClassifierIsTrainedFurther) {
  const std::filesystem::path from = ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_labels";
  std::ofstream(folder_ / "labels.tsv") << "a good film\tgood\na bad plot\tbad\nfilm\tneither\n";
  auto o = ClassificationTrainingOptions::finetune(from);
  o.train = o.validation = folder_ / "labels.tsv";
  o.trainer.output = folder_ / "same", o.trainer.steps = 1, o.trainer.learning_rate = 1e-12, o.dropout = 0.f;
  train_classification(o);
  const std::vector<std::string> texts{"a good film", "bad"};
  const auto before = Classifier(from)(texts), after = Classifier(folder_ / "same")(texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_NEAR(before[i].probabilities[0], after[i].probabilities[0], 1e-5);

  o.trainer = {.epochs = 60, .learning_rate = 1e-2};
  o.trainer.output = folder_ / "learned";
  const TrainingResult result = train_classification(o);
  EXPECT_EQ(result.state.best.front().first, "accuracy");
  EXPECT_EQ(result.state.best.front().second, 1) << "three texts are learned by heart";
  EXPECT_ERROR(train_classification([&] {
                 auto other = o;
                 other.from = ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer";
                 other.trainer.output = folder_ / "never";
                 return other;
               }()),
               "classifier");
}

TEST_F(ClassificationTraining, ARowWithoutTheSecondTextIsAnErrorThatNamesTheLine) {
  std::ofstream(folder_ / "named.tsv") << "label\ttext\tsecond\ngood\ta\tb\npoor\tc\n";
  LabelledReader reader(folder_ / "named.tsv", {.text = "text", .pair = "second", .label = "label"});
  LabelledText text;
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.text + text.second + text.labels.at(0), "abgood");
  EXPECT_ERROR(reader.next(text), "line 3: has only 2 columns, expected a text in column second");
}

}  // namespace
}  // namespace attend
