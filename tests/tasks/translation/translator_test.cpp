// Tests the Translator with a small untrained Transformer: properties that do not depend on the quality of
// translations.
#include "attend/tasks/translation/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/nn/module.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

Tokenizer words(const std::string& all = "one two three four five six seven eight Two . ! ?") {
  bool given = false;
  return train_words([&](std::string& line) { return line = all, !std::exchange(given, true); });
}

TransformerOptions small(const Tokenizer& tokenizer) {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = tokenizer.size();
  o.width = 12, o.encoder_layers = 2, o.decoder_layers = 3, o.encoder_heads = 2, o.decoder_heads = 3;
  o.encoder_inner = 20, o.decoder_inner = 28, o.max_positions = 12;
  o.padding = o.start = *tokenizer.special().padding, o.end = *tokenizer.special().eos;
  return o;
}

class TranslatorTest : public testing::Test {
 protected:
  TranslatorTest() : tokenizer_(words()), translator_(model(), tokenizer_, tokenizer_) {}

  Transformer model(std::uint64_t seed = 3) const {
    Generator generator(seed);
    Transformer transformer(small(tokenizer_), generator);
    for_each_parameter(transformer, [](const std::string&, Tensor& t) {  // larger weights, so that sentences end
      for (std::int64_t i = 0; i < t.numel(); ++i) t.data()[i] *= 2.5f;
    });
    return transformer;
  }

  RecurrentTranslator recurrent(DecoderAttention attention) const {
    RecurrentTranslatorOptions o;
    o.source_vocabulary = o.target_vocabulary = tokenizer_.size();
    o.embedding = o.hidden = 8, o.attention = attention;
    Generator generator(5);
    return RecurrentTranslator(o, generator);
  }

  Tokenizer tokenizer_;
  Translator translator_;
};

TEST_F(TranslatorTest, ATextHasTheSameTranslationAloneAndInAnyBatch) {
  const std::vector<std::string> texts = {"one two three", "four", "five six seven eight one .", "two", "three ! four"};
  for (const bool sample : {false, true}) {
    TranslateOptions options{{.sample = sample, .nbest = 3, .seed = 5}};
    const auto together = translator_(texts, options);
    options.batch_tokens = 1;
    const auto one_by_one = translator_(texts, options);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto alone = translator_(std::span(&texts[i], 1), options).front();
      ASSERT_EQ(together[i].size(), 3u);
      for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(together[i][n].ids, alone[n].ids);
        EXPECT_EQ(one_by_one[i][n].ids, alone[n].ids);
        EXPECT_NEAR(together[i][n].score, alone[n].score, 1e-4);  // large weights amplify rounding errors
      }
    }
  }
}

TEST_F(TranslatorTest, BlankTextsStayBlank) {
  const std::vector<std::string> texts = {"", "one two", "  \t "};
  const auto results = translator_(texts, {.attention = true});
  EXPECT_EQ(results[0][0].text, "");
  EXPECT_EQ(results[0][0].pieces, 0);
  EXPECT_TRUE(results[0][0].finished);
  EXPECT_EQ(results[2][0].ids.size(), 0u);
  EXPECT_EQ(results[1][0].pieces, 1);
}

TEST_F(TranslatorTest, ALongTextIsTranslatedSentenceBySentenceAndKeepsItsWhiteSpace) {
  const std::string first = "one two three four five six !", second = "Two three four five six seven .";
  const Translation whole = translator_("  " + first + "  " + second, {.attention = true});
  const Translation a = translator_(first), b = translator_(second);
  EXPECT_EQ(whole.pieces, 2);
  EXPECT_EQ(whole.cuts, 0);
  EXPECT_EQ(whole.text, a.text + "  " + b.text);
  EXPECT_EQ(whole.ids.size(), a.ids.size() + b.ids.size());
  EXPECT_NEAR(whole.score, a.score + b.score, 1e-5);
  ASSERT_EQ(whole.attention.size(), whole.target_tokens.size());
  for (const std::vector<float>& row : whole.attention) EXPECT_EQ(row.size(), whole.source_tokens.size());
}

TEST_F(TranslatorTest, SentencesAreJoinedByTheRulesOfTheTargetScript) {
  const std::string spaced[] = {"one two three four five six !", "Two three four five six seven ."};
  const std::string wide[] = {"一 二 三 四 五 六 ！", "二 三 四 五 六 七 。"};
  const Tokenizer chinese = words("一 二 三 四 五 六 七 八 九 。 ！ ？");
  ASSERT_EQ(chinese.size(), tokenizer_.size());
  const auto joined = [&](bool from_chinese, bool to_chinese, const std::string& between) {
    const Translator translator(model(), from_chinese ? chinese : tokenizer_, to_chinese ? chinese : tokenizer_);
    const auto& [first, second] = from_chinese ? wide : spaced;
    const std::string a = translator(first).text, b = translator(second).text;
    EXPECT_FALSE(a.empty() || b.empty());
    const Translation whole = translator(first + between + second, {.attention = true});
    EXPECT_EQ(whole.pieces, 2);
    EXPECT_TRUE(whole.text.starts_with(a) && whole.text.ends_with(b)) << whole.text;
    EXPECT_GE(whole.target_spans.back().end, static_cast<std::int64_t>(whole.text.size()));
    return whole.text.substr(a.size(), whole.text.size() - a.size() - b.size());
  };
  EXPECT_EQ(joined(true, false, ""), " ");
  EXPECT_EQ(joined(true, false, "　"), " ");
  EXPECT_EQ(joined(true, false, "\n\n"), "\n\n");
  EXPECT_EQ(joined(false, true, " "), "");
  EXPECT_EQ(joined(false, true, "\n"), "\n");
  EXPECT_EQ(joined(true, true, ""), "");
  EXPECT_EQ(joined(true, true, " "), " ");
  EXPECT_EQ(joined(false, false, "  "), "  ");
}

TEST_F(TranslatorTest, PartsOfASentenceAreJoinedByTheRulesOfTheTargetScript) {
  const Tokenizer thai = words("หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า สิบ ร้อย พัน");
  ASSERT_EQ(thai.size(), tokenizer_.size());
  const std::string half = "one two three four five six seven eight one two three";  // the longest source that fits
  for (const bool to_thai : {false, true}) {
    const Translator translator(model(), tokenizer_, to_thai ? thai : tokenizer_);
    const std::string text = translator(half).text;
    EXPECT_EQ(translator(half + " " + half).text, text + (to_thai ? "" : " ") + text);
  }
}

TEST_F(TranslatorTest, ASentenceThatIsTooLongIsCutAndTheCutsAreCounted) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "one two ";
  const Translation t = translator_(text);
  EXPECT_GT(t.pieces, 5);
  EXPECT_EQ(t.cuts, t.pieces - 1);
  EXPECT_EQ(t.truncated, 0);
  const Translation beginning = translator_(text, {.long_text = LongText::truncate});
  EXPECT_EQ(beginning.pieces, 1);
  EXPECT_EQ(beginning.truncated, 49);  // 11 words and the end-of-sentence token fit
  EXPECT_GT(translator_("one two three four five", {.max_tokens = 3}).pieces, 1);
}

TEST_F(TranslatorTest, AnErrorNamesTheTextThatIsTooLong) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "one ";
  const std::vector<std::string> texts = {"one", text};
  try {
    translator_(texts, {.long_text = LongText::error});
    FAIL();
  } catch (const TextError& error) {
    EXPECT_EQ(error.text, 1u);
    EXPECT_NE(std::string(error.what()).find("31 tokens"), std::string::npos) << error.what();
  }
}

TEST_F(TranslatorTest, AttentionIsOfTheChosenLayerAndHeadAndItsRowsSumToOne) {
  const std::string text = "one two three four";
  const Translation mean = translator_(text, {.attention = true});
  std::vector<Translation> heads;
  for (std::int64_t head = 0; head < 3; ++head)
    heads.push_back(translator_(text, {.attention = true, .layer = 2, .head = head}));
  ASSERT_EQ(mean.attention.size(), mean.ids.size());
  for (std::size_t t = 0; t < mean.attention.size(); ++t) {
    ASSERT_EQ(mean.attention[t].size(), 5u);
    EXPECT_NEAR(std::accumulate(mean.attention[t].begin(), mean.attention[t].end(), 0.f), 1.f, 1e-5);
    for (std::size_t s = 0; s < 5; ++s)
      EXPECT_NEAR(mean.attention[t][s],
                  (heads[0].attention[t][s] + heads[1].attention[t][s] + heads[2].attention[t][s]) / 3, 1e-5);
  }
  EXPECT_EQ(translator_(text, {.attention = true, .layer = -1}).attention, mean.attention);
  EXPECT_NE(translator_(text, {.attention = true, .layer = 0}).attention, mean.attention);
  EXPECT_THROW(translator_(text, {.attention = true, .layer = 3}), InputError);
  EXPECT_THROW(translator_(text, {.attention = true, .head = 3}), InputError);
}

TEST_F(TranslatorTest, AMissingLayerOrHeadIsAnErrorThatNamesTheRange) {
  const TranslateOptions layer{.attention = true, .layer = 99}, head{.attention = true, .head = 99};
  // The options are checked before anything is translated, so a blank text gives the same error.
  EXPECT_ERROR(translator_(" ", layer), "[translator] the decoder has no such layer: got 99, expected 0 to 2, or -1");
  EXPECT_ERROR(translator_.check(head), "[translator] a layer has no such head: got 99, expected 0 to 2");
  EXPECT_ERROR(translator_.check({.attention = true, .layer = -4}), "got -4");
  const Translator without_attention(recurrent(DecoderAttention::none), tokenizer_);
  EXPECT_FALSE(without_attention("one two").ids.empty());
  EXPECT_ERROR(without_attention("one two", {.attention = true}), "[translator] the model has no attention");
  const Translator with_attention(recurrent(DecoderAttention::additive), tokenizer_);
  EXPECT_FALSE(with_attention("one two", {.attention = true, .layer = 0, .head = 0}).attention.empty());
  EXPECT_ERROR(with_attention.check({.attention = true, .layer = 1}), "got 1, expected 0 to 0");
}

TEST_F(TranslatorTest, OnlyBestAttentionGivesTheSameAttentionForTheBest) {
  const std::vector<std::string> texts = {"one two three four", "five six", "seven"};
  const auto all = translator_(texts, {.search = {.nbest = 3}, .attention = true});
  const auto best = translator_(texts, {.search = {.nbest = 3}, .attention = true, .only_best_attention = true});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(best[i][0].attention, all[i][0].attention);
    EXPECT_FALSE(all[i][1].attention.empty());
    EXPECT_TRUE(best[i][1].attention.empty());
  }
}

TEST_F(TranslatorTest, ThousandsOfBadWordsAreNeverGenerated) {
  const std::vector<std::string> said = {"one",   "two",   "three", "four", "five", "six",
                                         "seven", "eight", "Two",   ".",    "!",    "?"};
  TranslateOptions options{{.beam = 2, .min_new_tokens = 6}};
  std::vector<std::string>& bad_words = options.search.bad_words.emplace();
  for (const std::string& a : said)
    for (const std::string& b : said)
      for (const std::string& c : said)
        for (const std::string& d : said) bad_words.push_back(a + " " + b + " " + c + " " + d);
  for (const char* text : {"one two three", "eight seven"}) {
    std::int64_t in_a_row = 0;
    for (const std::int32_t id : translator_(text, options).ids) {
      const bool word = std::ranges::find(said, tokenizer_.token(id)) != said.end();
      EXPECT_LT(in_a_row = word ? in_a_row + 1 : 0, 4);
    }
  }
}

TEST_F(TranslatorTest, NoTranslationIsLongerThanTheModelHasPositions) {
  EXPECT_EQ(translator_.max_new_tokens(), 12);
  EXPECT_EQ(translator_.max_new_tokens("one two"), 10);
  EXPECT_EQ(translator_("one", {{.max_new_tokens = 50, .min_new_tokens = 50}}).ids.size(), 12u);
  EXPECT_EQ(Translator(recurrent(DecoderAttention::additive), tokenizer_).max_new_tokens(), 0);
}

TEST_F(TranslatorTest, ARecurrentFolderUsesItsGenerationConfig) {
  const test::TempFolder folder;
  RecurrentTranslator recurrent = this->recurrent(DecoderAttention::additive);
  Config config;
  recurrent.options.write(config);
  config.save(folder / "config.json");
  save_parameters(recurrent, folder / "model.safetensors");
  save_tokenizer(tokenizer_, folder.path());
  const TranslateOptions endless{{.min_new_tokens = 90}};
  EXPECT_EQ(Translator(folder.path())("one two three", endless).ids.size(), 28u);  // 2 · 4 source tokens + 20
  Config generation;
  generation.set("max_length", 6);
  generation.save(folder / "generation_config.json");
  EXPECT_EQ(Translator(folder.path())("one two three", endless).ids.size(), 5u);  // max_length includes the start token
  generation.set("max_new_tokens", 7);
  generation.save(folder / "generation_config.json");
  EXPECT_EQ(Translator(folder.path())("one two three", endless).ids.size(), 7u);
  EXPECT_EQ(Translator(folder.path())("one two three", {{.max_new_tokens = 9, .min_new_tokens = 90}}).ids.size(), 9u);
}

TEST_F(TranslatorTest, PrefixBadWordsAndLengthsAreApplied) {
  const std::string text = "one two three";
  const Translation prefixed = translator_(text, {{.prefix = "seven eight"}});
  EXPECT_TRUE(prefixed.text.starts_with("seven eight")) << prefixed.text;
  const Translation usual = translator_(text, {{.beam = 1, .min_new_tokens = 6}});
  ASSERT_GE(usual.ids.size(), 6u);
  const std::string word = tokenizer_.token(usual.ids[1]);
  const Translation without = translator_(text, {{.beam = 1, .min_new_tokens = 6, .bad_words = std::vector{word}}});
  EXPECT_EQ(without.text.find(word), std::string::npos) << without.text;
  const Translation shorter = translator_(text, {{.max_new_tokens = 2, .min_new_tokens = 2}});
  EXPECT_EQ(shorter.ids.size(), 2u);
  EXPECT_THROW(translator_(text, {{.prefix = "one two three four five six seven eight one two three four five"}}),
               TextError);
}

TEST_F(TranslatorTest, ASavedFolderTranslatesAsTheModelInMemory) {
  const test::TempFolder folder;
  Transformer transformer = model();
  Config config;
  transformer.options.write(config);
  config.set("model_type", "attend-transformer");
  config.save(folder / "config.json");
  save_parameters(transformer, folder / "model.safetensors");
  save_tokenizer(tokenizer_, folder.path());
  generation_defaults(transformer.options).save(folder.path());
  const Translator loaded(folder.path());
  EXPECT_EQ(loaded.generation().search.beam, 4);
  EXPECT_EQ(loaded.generation().search.rules.bad_words.size(), 1u);
  for (const char* text : {"one two three", "eight ."}) {
    EXPECT_EQ(loaded(text).ids, translator_(text).ids);
    EXPECT_EQ(loaded(text, {{.beam = 1}}).ids, translator_(text, {{.beam = 1}}).ids);
  }
  // The folder's num_return_sequences is ignored.
  Config generation = generation_defaults(transformer.options).write();
  generation.set("num_return_sequences", 3);
  generation.save(folder / "generation_config.json");
  const std::vector<std::string> texts = {"one two three"};
  EXPECT_EQ(Translator(folder.path())(texts)[0].size(), 1u);
  EXPECT_EQ(Translator(folder.path())(texts, {{.nbest = 2}})[0].size(), 2u);
}

TEST_F(TranslatorTest, EverySentenceAndLineOfATextIsTranslated) {
  const std::string first = "one two three !", second = "Two four .", third = "five six";
  const Translation whole = translator_(first + " " + second + "\n\n" + third);
  const Translation a = translator_(first), b = translator_(second), c = translator_(third);
  EXPECT_EQ(whole.pieces, 3);
  EXPECT_EQ(whole.cuts, 0);
  EXPECT_FALSE(whole.too_long);
  EXPECT_EQ(whole.text, a.text + " " + b.text + "\n\n" + c.text);
  EXPECT_NEAR(whole.score, a.score + b.score + c.score, 1e-4);
  std::vector<std::int32_t> ids = a.ids;
  ids.insert(ids.end(), b.ids.begin(), b.ids.end());
  ids.insert(ids.end(), c.ids.begin(), c.ids.end());
  EXPECT_EQ(whole.ids, ids);
  const Translation at_once = translator_(first + " " + second, {.sentences = SentenceMode::whole});
  EXPECT_EQ(at_once.pieces, 1);
}

TEST_F(TranslatorTest, TheBestTranslationsOfATextAreTheBestCombinationsOfItsSentences) {
  const std::vector<std::string> texts = {"one two three !", "Two four five .", "Two six ?"};
  const TranslateOptions options{{.beam = 4, .nbest = 4}};
  std::vector<std::vector<Translation>> parts = translator_(texts, options);
  std::vector<double> sums;
  for (const Translation& a : parts[0])
    for (const Translation& b : parts[1])
      for (const Translation& c : parts[2]) sums.push_back(a.score + b.score + c.score);
  std::ranges::sort(sums, std::greater());
  const std::string joined = texts[0] + " " + texts[1] + " " + texts[2];
  const std::vector<Translation> best = translator_(std::span(&joined, 1), options).front();
  ASSERT_EQ(best.size(), 4u);
  for (std::size_t n = 0; n < best.size(); ++n) EXPECT_NEAR(best[n].score, sums[n], 1e-4) << n;
  EXPECT_EQ(best[0].text, parts[0][0].text + " " + parts[1][0].text + " " + parts[2][0].text);
  EXPECT_NE(best[1].ids, best[0].ids);
}

TEST_F(TranslatorTest, SamplesOfATextAreThoseOfItsSentencesInTheirOrder) {
  const TranslateOptions options{{.sample = true, .nbest = 3, .temperature = 2, .seed = 9}};
  const std::vector<std::string> texts = {"one two three !", "Two four five .", "one two three ! Two four five ."};
  const auto samples = translator_(texts, options);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(samples[2][n].text, samples[0][n].text + " " + samples[1][n].text);
    EXPECT_EQ(samples[2][n].seed, 9u);
  }
  TranslateOptions random = options;
  random.search.seed.reset();
  const Translation one = translator_(texts[2], random);
  ASSERT_TRUE(one.seed);
  random.search.seed = one.seed;
  EXPECT_EQ(translator_(texts[2], random).text, one.text);
  EXPECT_FALSE(translator_(texts[2]).seed);
}

TEST_F(TranslatorTest, AlignmentsAndAttentionOfSentencesCountOverTheWholeText) {
  const std::string first = "one two three !", second = "Two four five .", text = first + "  " + second;
  const TranslateOptions options{.attention = true, .maps = AttentionSelection{}};
  const Translation whole = translator_(text, options);
  const Translation a = translator_(first, options), b = translator_(second, options);
  std::vector<std::pair<std::size_t, std::size_t>> expected = align_words(first, a);
  const std::size_t targets = static_cast<std::size_t>(std::ranges::count(a.text, ' ')) + 1;
  for (const auto& [from, to] : align_words(second, b)) expected.emplace_back(from + 4, to + targets);
  EXPECT_EQ(align_words(text, whole), expected);
  ASSERT_EQ(whole.maps.size(), 2u);
  EXPECT_EQ(whole.maps[0].text, first);
  EXPECT_EQ(whole.maps[1].text, second);
  EXPECT_EQ(*whole.maps[1].translation, b.text);
  EXPECT_EQ(whole.maps[1].alignments, b.maps[0].alignments);
}

TEST_F(TranslatorTest, ASentenceThatIsTooLongIsCutRefusedOrTruncatedByItself) {
  std::string endless = "one";
  for (int i = 0; i < 20; ++i) endless += " two";
  const std::string text = "four five ! " + std::string("Two ") + endless;
  const Translation cut = translator_(text);
  EXPECT_GT(cut.pieces, 2);
  EXPECT_TRUE(cut.too_long);
  EXPECT_TRUE(cut.text.starts_with(translator_("four five !").text)) << cut.text;
  EXPECT_GT(translator_(text, {.long_text = LongText::truncate}).truncated, 0);
  EXPECT_ERROR(translator_(text, {.long_text = LongText::error}), "a sentence is too long: got 23 tokens");
}

TEST_F(TranslatorTest, TheFolderSaysWhetherItReadsSentencesAndHowWideItsBeamIs) {
  const test::TempFolder folder;
  Transformer transformer = model();
  transformer.save(folder.path());
  save_tokenizer(tokenizer_, folder.path());
  EXPECT_EQ(Translator(folder.path()).sentences(), SentenceMode::split);
  EXPECT_EQ(Translator(folder.path()).generation().search.beam, 1) << "as generate() without num_beams";
  record_sentence_mode(folder.path(), SentenceMode::whole);
  EXPECT_EQ(Translator(folder.path()).sentences(), SentenceMode::whole);
  EXPECT_EQ(Translator(folder.path())("one two ! Two three .").pieces, 1);
  EXPECT_EQ(Translator(folder.path())("one two ! Two three .", {.sentences = SentenceMode::split}).pieces, 2);
  Config config(folder / "config.json");
  config.set("attend_sentences", "some");
  config.save(folder / "config.json");
  EXPECT_ERROR(Translator(folder.path()), "attend_sentences");
}

TEST_F(TranslatorTest, ABeamThatDoesNotFitIntoMemoryIsRefusedWithWhatFits) {
  EXPECT_ERROR(translator_("one two", {{.beam = 1 << 30}}), "does not fit into memory");
  EXPECT_ERROR(translator_("one two", {{.sample = true, .nbest = 1 << 30, .seed = 1}}), "samples fit");
}

TEST_F(TranslatorTest, TheAttentionOfATextHasAllOfItsSentencesInOneMap) {
  const std::string first = "one two !", second = "Two four five .", text = first + " " + second;
  const AttentionReader reader(translator_);
  const std::vector<AttentionMap> maps = reader({.text = text});
  ASSERT_EQ(maps.size(), 1u);
  const AttentionMap &map = maps.front(), a = reader({.text = first}).front(), b = reader({.text = second}).front();
  EXPECT_EQ(map.text, text);
  EXPECT_EQ(*map.translation, translator_(text).text);
  ASSERT_EQ(map.views.size(), a.views.size());
  for (std::size_t v = 0; v < map.views.size(); ++v) {
    const AttentionView &whole = map.views[v], &left = a.views[v], &right = b.views[v];
    const std::int64_t Q = left.queries.size(), K = left.keys.size();
    ASSERT_EQ(whole.queries.size(), Q + right.queries.size());
    ASSERT_EQ(whole.keys.size(), K + right.keys.size());
    const Tensor& weights = whole.weights.front();
    const std::int64_t columns = weights.dim(2);
    EXPECT_NEAR(weights.data()[0], left.weights.front().data()[0], 1e-5);
    EXPECT_EQ(weights.data()[K], 0) << "nothing crosses from one sentence to the next";
    EXPECT_NEAR(weights.data()[Q * columns + K], right.weights.front().data()[0], 1e-5);
  }
  const AttentionView& cross = map.view(AttentionKind::cross);
  EXPECT_EQ(cross.keys.words.front(), 0);
  EXPECT_EQ(cross.keys.words[static_cast<std::size_t>(a.view(AttentionKind::cross).keys.size())], 3);
}

TEST(SentenceCounter, DataWithManyTextsOfSeveralSentencesIsForWholeTexts) {
  SentenceCounter counter;
  for (int i = 0; i < 9; ++i) counter.add("Il gatto dorme.");
  counter.add("Il gatto dorme. La ragazza legge.");
  EXPECT_EQ(counter.mode(), SentenceMode::split);
  counter.add("Il gatto dorme. La ragazza legge.");
  EXPECT_EQ(counter.mode(), SentenceMode::whole);
  EXPECT_EQ(counter.texts(), 11);
}

TEST(Alignment, TheTokensOfAWordVoteForASourceWord) {
  Translation t;
  const std::string source = "double dogs!";
  t.text = "zwei weiße Hunde";
  t.source_spans = {{0, 3}, {3, 6}, {7, 11}, {11, 12}, {0, 0}};
  t.target_spans = {{0, 4}, {4, 8}, {8, 11}, {11, 17}, {17, 17}};
  t.attention = {{0.5f, 0.3f, 0.1f, 0.1f, 0.f},
                 {0.1f, 0.1f, 0.1f, 0.7f, 0.f},
                 {0.4f, 0.3f, 0.2f, 0.1f, 0.f},
                 {0.3f, 0.f, 0.4f, 0.f, 0.3f},
                 {0.f, 0.f, 0.f, 0.f, 1.f}};
  // The two tokens of "weiße" attend most to "double" and to the exclamation mark, which does not count.
  EXPECT_EQ(align_words(source, t), (std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 1}, {1, 2}}));
}

}  // namespace
}  // namespace attend
