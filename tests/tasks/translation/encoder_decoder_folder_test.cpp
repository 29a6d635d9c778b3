// Generation with the folders of MarianMT, BART, T5 and others is compared with transformers (tests/golden/marian.py,
// encoder_decoders.py): the ids and scores of greedy and beam search, and translated texts.
#include <gtest/gtest.h>

#include "attend/decode/generation_config.h"
#include "attend/tasks/translation/translator.h"
#include "tests/support/golden.h"
#include "tests/support/source_stepper.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

/// A row of transformers' output without the start token and padding.
std::vector<std::int32_t> generated(const Tensor& ids, std::int64_t row, std::int32_t end) {
  const std::int64_t T = ids.dim(-1);
  std::vector<std::int32_t> words;
  for (std::int64_t t = 1; t < T && (words.empty() || words.back() != end); ++t)
    words.push_back(ids.data<std::int32_t>()[row * T + t]);
  return words;
}

class EncoderDecoderFolder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Decode, EncoderDecoderFolder,
                         testing::Values("marian_tied", "marian_separate", "marian_bin", "marian_old_bin",
                                         "marian_sharded", "marian_tokenizer", "bart_forced", "bart_scaled",
                                         "bart_tokenizer", "t5_relu", "t5_gated", "t5_untied", "t5_tokenizer", "mbart",
                                         "m2m_100", "m2m_100_odd", "pegasus", "mt5", "mt5_untied", "pegasus_tokenizer",
                                         "mbart50_tokenizer", "m2m_100_tokenizer", "nllb_tokenizer"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EncoderDecoderFolder, GeneratesTheIdsOfTransformers) {
  const fs::path folder = fixture(GetParam());
  const SafetensorsFile golden(folder / "golden.safetensors");
  const Transformer model = load_transformer(folder, true);
  SearchOptions options = GenerationConfig::read(folder).search;
  EXPECT_EQ(options.beam, 4);
  if (fs::exists(folder / "translations.json"))
    if (const std::string language = Config(folder / "translations.json").text("target", ""); !language.empty())
      options.rules.forced_first = load_tokenizer(folder).languages().find(language, "target").id;
  const auto found = [&](std::int64_t beam) {
    options.beam = options.nbest = beam;
    std::vector<SearchInput> inputs;
    for (std::vector<std::int32_t>& source : test::sources_of({golden.get("ids"), golden.get("lengths")}))
      inputs.push_back({.source = std::move(source)});
    return search(model, std::move(inputs), options);
  };
  const auto greedy = found(1), beams = found(4);
  const Tensor scores = golden.get("beam_scores");
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto i = static_cast<std::size_t>(row);
    EXPECT_EQ(greedy[i].front().ids, generated(golden.get("greedy"), row, model.options.end)) << "greedy, row " << row;
    ASSERT_EQ(beams[i].size(), 4u);
    for (std::int64_t n = 0; n < 4; ++n) {
      const Hypothesis& hypothesis = beams[i][static_cast<std::size_t>(n)];
      EXPECT_EQ(hypothesis.ids, generated(golden.get("beam"), row * 4 + n, model.options.end))
          << "row " << row << ", hypothesis " << n;
      EXPECT_NEAR(hypothesis.score, scores.data()[row * 4 + n], 1e-5) << "row " << row << ", hypothesis " << n;
    }
  }
}

TEST(EncoderDecoderFolder, TranslatesTextAsTransformersDoes) {
  for (const char* name : {"marian_tokenizer", "bart_tokenizer", "t5_tokenizer", "pegasus_tokenizer",
                           "mbart50_tokenizer", "m2m_100_tokenizer", "nllb_tokenizer"}) {
    const Config translations(fixture(name) / "translations.json");
    const Translator translator(fixture(name));
    TranslateOptions options;
    options.source_language = translations.text("source", ""),
    options.target_language = translations.text("target", "");
    std::int64_t compared = 0;
    for (const std::string text :
         {"Il bambino legge il giornale.", "Nessuno scrive.", "La vicina ha comprato la città più bella.",
          "translate English to German: The house is small.", "translate English to German: Nobody writes.",
          "summarize: The neighbour has bought the most beautiful house of the city."})
      if (translations.has(text)) {
        EXPECT_EQ(translator(text, options).text, translations.text(text)) << name << ": " << text;
        ++compared;
      }
    EXPECT_EQ(compared, 3) << name;
  }
}

TEST(EncoderDecoderFolder, OnlyMarianSplitsTextsIntoSentences) {
  EXPECT_EQ(Translator(fixture("marian_tokenizer")).sentences(), SentenceMode::split);
  const Translator t5(fixture("t5_tokenizer"));
  EXPECT_EQ(t5.sentences(), SentenceMode::whole);
  EXPECT_EQ(t5("translate English to German: The house is small. Nobody writes.").pieces, 1)
      << "the prefix is for all sentences";
}

}  // namespace
}  // namespace attend
