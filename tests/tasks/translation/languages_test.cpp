// The languages of multilingual translators, with small folders of mBART-50, M2M-100 and NLLB.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "attend/formats/config.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/translation/training.h"
#include "attend/tasks/translation/training_task.h"
#include "attend/tasks/translation/translator.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

fs::path multilingual(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

const std::string kMultilingualText = "The child wasn't reading the newspapers of 1984.";

TEST(TranslatorLanguages, AreThoseOfTheFolder) {
  EXPECT_EQ(Translator(multilingual("mbart50_tokenizer")).languages().all.size(), 52u);
  EXPECT_EQ(Translator(multilingual("m2m_100_tokenizer")).languages().all.size(), 100u);
  EXPECT_EQ(Translator(multilingual("nllb_tokenizer")).languages().codes(),
            "deu_Latn, eng_Latn, fra_Latn, ita_Latn, rus_Cyrl, zho_Hans, zho_Hant");
  EXPECT_TRUE(Translator(multilingual("marian_tokenizer")).languages().empty());
}

TEST(TranslatorLanguages, BeginATranslation) {
  for (const auto& [name, target, token] :
       {std::tuple("mbart50_tokenizer", "fr_XX", "fr_XX"), std::tuple("m2m_100_tokenizer", "fr", "__fr__"),
        std::tuple("nllb_tokenizer", "fra_Latn", "fra_Latn")}) {
    const Translator translator{multilingual(name)};
    const TranslateOptions options{.target_language = target, .attention = true};
    const Translation translation = translator(kMultilingualText, options);
    EXPECT_EQ(translation.target_tokens.front(), token);
    EXPECT_EQ(translation.text.find(token), std::string::npos) << translation.text;
    TranslateOptions prefixed = options;
    prefixed.search.prefix = "Il bambino";
    const Translation begun = translator(kMultilingualText, prefixed);
    EXPECT_EQ(begun.target_tokens.front(), token) << "also before a prefix";
    EXPECT_TRUE(begun.text.starts_with("Il bambino")) << begun.text;
  }
}

TEST(TranslatorLanguages, ChangeTheSource) {
  const Translator translator{multilingual("nllb_tokenizer")};
  const auto first = [&](const char* source) {
    return translator(kMultilingualText, {.source_language = source, .target_language = "deu_Latn", .attention = true})
        .source_tokens.front();
  };
  EXPECT_EQ(first("eng_Latn"), "eng_Latn");
  EXPECT_EQ(first("rus_Cyrl"), "rus_Cyrl");
  EXPECT_EQ(first(""), "ita_Latn") << "src_lang of tokenizer_config.json";
}

TEST(TranslatorLanguages, AreFoundByTheBeginningOfTheirCodes) {
  const LanguageTokens languages = Translator(multilingual("nllb_tokenizer")).languages();
  EXPECT_EQ(languages.find("deu", "source").code, "deu_Latn");
  EXPECT_EQ(languages.find("RUS-cyrl", "source").code, "rus_Cyrl");
  EXPECT_ERROR(languages.find("zho", "source"), "source language \"zho\", expected one of deu_Latn, eng_Latn");
  EXPECT_ERROR(languages.find("", "source"), "expected one of deu_Latn");
}

TEST(TranslatorLanguages, AMissingOrUnknownLanguageIsAnErrorThatListsAll) {
  const Translator translator{multilingual("nllb_tokenizer")};
  const std::string all = "deu_Latn, eng_Latn, fra_Latn, ita_Latn, rus_Cyrl, zho_Hans, zho_Hant";
  EXPECT_ERROR(translator(kMultilingualText), "it needs a target language (--target-lang): one of " + all);
  EXPECT_ERROR(translator.check({.target_language = "fi"}), "target language \"fi\", expected one of " + all);
  EXPECT_ERROR(translator.check({.source_language = "fi", .target_language = "deu"}),
               "source language \"fi\", expected one of " + all);
}

TEST(TranslatorLanguages, AModelWithoutThemRefusesThem) {
  const Translator translator{multilingual("marian_tokenizer")};
  EXPECT_ERROR(translator(kMultilingualText, {.target_language = "de"}),
               "no tokens for languages: got the target language \"de\"");
  EXPECT_ERROR(translator.check({.source_language = "de"}), "got the source language \"de\", expected none");
}

TEST(TranslatorLanguages, AttentionOfAGivenTranslationHasThem) {
  const AttentionReader reader(Translator{multilingual("m2m_100_tokenizer")});
  const AttentionRequest request{
      .text = kMultilingualText, .target = "Il bambino", .source_language = "en", .target_language = "it"};
  const AttentionMap map = reader(request).front();
  EXPECT_EQ(map.views[map.main].keys.written.front(), "__en__");
  EXPECT_EQ(map.views[map.main].queries.written.front(), "__it__");
}

/// Pairs and golden numbers of tests/golden/language_training.py.
class LanguageTraining : public testing::TestWithParam<const char*> {
 protected:
  LanguageTraining() {
    for (const Config& pair : golden_.objects("pairs")) pairs_.emplace_back(pair.text("source"), pair.text("target"));
    fs::copy(multilingual(case_.text("folder")), folder_.path() / "model");
    if (const std::string kind = case_.text("class"); !kind.empty()) {
      Config config(folder_ / "model/tokenizer_config.json");
      config.set("tokenizer_class", kind);
      config.save(folder_ / "model/tokenizer_config.json");
    }
    std::ofstream file(folder_ / "pairs.tsv");
    for (const auto& [source, target] : pairs_) file << source << '\t' << target << '\n';
    file << "\tnothing\n";
  }
  TranslationTrainingOptions options(const std::string& output) const {
    auto o = TranslationTrainingOptions::finetune(folder_ / "model");
    o.train.pairs = folder_ / "pairs.tsv", o.trainer.output = folder_ / output, o.trainer.steps = 2;
    o.source_language = case_.text("source"), o.target_language = case_.text("target");
    return o;
  }

  const Config golden_{fs::path(ATTEND_SOURCE_DIR) / "tests/tasks/fixtures/language_training.json"};
  const Config case_ = golden_.object(GetParam());
  std::vector<std::pair<std::string, std::string>> pairs_;
  test::TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Translation, LanguageTraining, testing::Values("m2m_100", "nllb", "mbart50", "mbart"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(LanguageTraining, TenStepsMatchPyTorch) {
  TranslatorFolder from(folder_ / "model");
  const auto tokenizers =
      TranslationTokenizers::of(with_languages(from.tokenizers.source, case_.text("source"), case_.text("target")));
  std::vector<std::vector<std::int64_t>> sources, labels;
  const ExampleStore pairs =
      stored_examples({folder_ / "pairs", kPairFields, tokenizers.source.size()}, [&](const AddExample& add) {
        for (const auto& [source, target] : pairs_) {
          const std::vector<std::int32_t> input = tokenizers.source.ids(source, true),
                                          output = tokenizers.labels(target);
          sources.emplace_back(input.begin(), input.end()), labels.emplace_back(output.begin(), output.end());
          add({{input, output}});
        }
      });
  EXPECT_EQ(sources, case_.integer_lists("sources"));
  EXPECT_EQ(labels, case_.integer_lists("labels"));
  const TrainableTranslator model = continue_translator(from, tokenizers, {.dropout = 0.f});
  TranslationTrainingTask task(model, pairs, {}, {.padding = 1, .batches = {.max_tokens = 1000}});
  AdamW optimizer(model.parameters, {.learning_rate = 1e-3, .weight_decay = 0.01f});
  const std::vector<std::string> losses = case_.texts("losses");
  ASSERT_EQ(losses.size(), 10u);
  for (const std::string& each : losses) {
    const double expected = std::stod(each);
    const TrainingTask::Loss loss = task.next();
    const Tensor mean = loss.sum * (1.f / static_cast<float>(loss.targets));
    EXPECT_NEAR(mean.item(), expected, 5e-5 * expected);
    backward(mean);
    optimizer.step();
    optimizer.zero_grad();
  }
}

TEST_P(LanguageTraining, TheNewFolderKeepsTheTokenizerAndTheLanguages) {
  TranslationTrainingOptions o = options("tuned");
  o.validation = o.train, o.validation_sentences = 2;
  std::vector<std::string> warnings;
  TrainingObserver observer;
  observer.warning = [&](const std::string& line) { warnings.push_back(line); };
  train_translation(o, observer);
  ASSERT_FALSE(warnings.empty());
  EXPECT_TRUE(warnings.back().starts_with("left out: 2 pairs that are empty")) << warnings.back();

  const Translator before(folder_ / "model"), after(folder_ / "tuned");
  EXPECT_EQ(after.languages().codes(), before.languages().codes());
  EXPECT_EQ(after.languages().source, case_.text("source"));
  EXPECT_EQ(after.languages().target, case_.text("target"));
  const std::string& text = pairs_.front().first;
  const TranslateOptions chosen{.source_language = o.source_language, .target_language = o.target_language};
  EXPECT_EQ(after(text).ids, after(text, chosen).ids) << "the languages of the pairs are the defaults";
  const std::int32_t language = after.languages().find(o.target_language, "target").id;
  if (after.languages().starts_decoder)
    EXPECT_EQ(after.generation().search.start, language);
  else
    EXPECT_EQ(after(text).ids.front(), language);

  // Without languages, fine-tuning goes on with those of the folder.
  TranslationTrainingOptions again = TranslationTrainingOptions::finetune(folder_ / "tuned");
  again.train = o.train, again.trainer.output = folder_ / "again", again.trainer.steps = 1;
  train_translation(again);
  EXPECT_EQ(Translator(folder_ / "again").languages().target, case_.text("target"));
}

TEST_P(LanguageTraining, AWrongOrMissingLanguageIsAnError) {
  TranslationTrainingOptions o = options("out");
  o.target_language = "tlh";
  EXPECT_ERROR(train_translation(o), "target language \"tlh\", expected one of ");
  o.target_language = "";
  EXPECT_ERROR(train_translation(o), "needs a target language (--target-lang)");
  o = options("out"), o.tokenizer = folder_ / "model";
  EXPECT_ERROR(train_translation(o), "can be used only with its own model");
}

TEST(LanguageTrainingErrors, AModelWithoutLanguagesRefusesThem) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "pairs.tsv") << "one\ttwo\n";
  auto options = TranslationTrainingOptions::finetune(multilingual("marian_tokenizer"));
  options.train.pairs = folder.path() / "pairs.tsv", options.trainer.output = folder.path() / "out";
  options.target_language = "de";
  EXPECT_ERROR(train_translation(options), "no tokens for languages: got the target language \"de\"");
}

}  // namespace
}  // namespace attend
