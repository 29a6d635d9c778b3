// The languages of multilingual translators, with small folders of mBART-50, M2M-100 and NLLB.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/translation/training.h"
#include "attend/tasks/translation/translator.h"
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

TEST(TranslatorLanguages, FineTuningIsRefused) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "pairs.tsv") << "one\ttwo\n";
  auto options = TranslationTrainingOptions::finetune(multilingual("nllb_tokenizer"));
  options.train.pairs = folder.path() / "pairs.tsv";
  options.trainer.output = folder.path() / "out";
  EXPECT_ERROR(train_translation(options), "models with tokens for languages");
}

}  // namespace
}  // namespace attend
