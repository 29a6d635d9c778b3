// LibreTranslate's endpoints, and those of our own.
#include "attend/explain/attention_json.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/tasks/masked_lm/mask_filler.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translator.h"
#include "tests/serve/serving.h"

#include <atomic>
#include <thread>

namespace attend::test {
namespace {

const Translator& translator() {
  static const Translator model(kMarian);
  return model;
}
const std::vector<std::string> kTexts{"Essere o non essere", "questo è il problema"};

TEST(Translate, GivesWhatTheLibraryGives) {
  const auto answer = serving().post("/translate", {{"q", kTexts[0]}, {"source", "it"}, {"target", "en"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json["translatedText"], translator()(kTexts[0]).text);
  EXPECT_FALSE(answer.json.contains("alternatives"));

  const Json body{{"q", kTexts}, {"source", "auto"}, {"target", "en"}, {"format", "text"}, {"alternatives", 2}};
  const auto several = serving().post("/translate", body);
  ASSERT_EQ(several.status, 200) << several.body;
  const auto expected = translator()(kTexts, {{.nbest = 3}});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(several.json["translatedText"][i], expected[i][0].text);
    EXPECT_EQ(several.json["alternatives"][i][1], expected[i][2].text);
  }
  EXPECT_EQ(several.json["detectedLanguage"]["language"], "it");
}

TEST(Translate, TakesFormsModelsByNameAndAlignments) {
  const auto form = serving().post_text("/translate", "q=Essere+o+non+essere&source=it&target=en", {},
                                        "application/x-www-form-urlencoded");
  ASSERT_EQ(form.status, 200) << form.body;
  EXPECT_EQ(form.json["translatedText"], translator()(kTexts[0]).text);

  const auto named = serving().post("/translate", {{"q", kTexts[0]},
                                                   {"source", "it"},
                                                   {"target", "en"},
                                                   {"model", "it-en"},
                                                   {"beam", 2},
                                                   {"alignments", true},
                                                   {"attention", true}});
  ASSERT_EQ(named.status, 200) << named.body;
  const Translation expected = translator()(kTexts[0], {.search = {.beam = 2}, .attention = true});
  EXPECT_EQ(named.json["translatedText"], expected.text);
  Json pairs = Json::array();
  for (const auto& [from, to] : align_words(kTexts[0], expected)) pairs.push_back({from, to});
  EXPECT_EQ(named.json["alignments"], pairs);
  EXPECT_EQ(named.json["attention"]["source_tokens"], expected.source_tokens);
  EXPECT_EQ(named.json["attention"]["weights"].size(), expected.target_tokens.size());
}

TEST(Translate, OfManyClientsAreTheSameAsAlone) {
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; i < 4; ++i) {
        std::vector<std::string> texts(static_cast<std::size_t>(1 + (c * 5 + i) % 20),
                                       kTexts[static_cast<std::size_t>(i % 2)]);
        texts.front() += " " + kTexts[static_cast<std::size_t>(c % 2)];
        Json body{{"q", texts}, {"source", "it"}, {"target", "en"}, {"model", "it-en"}};
        TranslateOptions options;
        if (c % 2 == 1) body["beam"] = 2, options.search.beam = 2;
        if (i == 3) body["max_new_tokens"] = 3, options.search.max_new_tokens = 3;
        const auto answer = serving().post("/translate", body);
        for (std::size_t t = 0; t < texts.size(); ++t)
          wrong += answer.status != 200 || answer.json["translatedText"][t] != translator()(texts[t], options).text;
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Translate, TakesTheOptionsOfGeneration) {
  const Json body{{"q", kTexts[0]},      {"source", "it"},       {"target", "en"},
                  {"sample", true},      {"temperature", 1.5},   {"seed", 3},
                  {"max_new_tokens", 9}, {"no_repeat_ngram", 2}, {"bad_words", {"the"}}};
  const auto answer = serving().post("/translate", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const GenerationOptions search{.sample = true,
                                 .temperature = 1.5,
                                 .seed = 3,
                                 .max_new_tokens = 9,
                                 .no_repeat_ngram = 2,
                                 .bad_words = std::vector<std::string>{"the"}};
  EXPECT_EQ(answer.json["translatedText"], translator()(kTexts[0], {search}).text);
}

TEST(Translate, TranslatesEverySentenceAndLine) {
  const std::string text = "Essere o non essere. Questo è il problema!\n\nNessuno scrive.";
  Json body{{"q", text}, {"source", "it"}, {"target", "en"}, {"alignments", true}, {"attention", true}};
  const auto answer = serving().post("/translate", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto part = [](const char* sentence) { return translator()(sentence).text; };
  EXPECT_EQ(answer.json["translatedText"],
            part("Essere o non essere.") + " " + part("Questo è il problema!") + "\n\n" + part("Nessuno scrive."));
  const Translation expected = translator()(text, {.attention = true});
  EXPECT_EQ(answer.json["attention"]["weights"].size(), expected.target_tokens.size());
  Json pairs = Json::array();
  for (const auto& [from, to] : align_words(text, expected)) pairs.push_back({from, to});
  EXPECT_EQ(answer.json["alignments"], pairs);
  body["sentences"] = "whole";
  EXPECT_EQ(serving().post("/translate", body).json["translatedText"],
            translator()(text, {.sentences = SentenceMode::whole}).text);
  body["sentences"] = "some";
  EXPECT_EQ(serving().post("/translate", body).status, 400);
  const auto looked = serving().post("/v1/attention", {{"model", "it-en"}, {"input", text}});
  ASSERT_EQ(looked.status, 200) << looked.body;
  EXPECT_EQ(looked.json["translation"], expected.text);
}

TEST(Translate, TellsTheSeedOfASample) {
  const Json body{{"q", kTexts[0]}, {"source", "it"}, {"target", "en"}, {"sample", true}, {"temperature", 3}};
  const auto first = serving().post("/translate", body), second = serving().post("/translate", body);
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_NE(first.json["seed"], second.json["seed"]);
  Json again = body;
  again["seed"] = first.json["seed"];
  EXPECT_EQ(serving().post("/translate", again).json["translatedText"], first.json["translatedText"]);
}

TEST(Translate, TakesJsonThatSaysSoAndForms) {
  const std::string body = Json{{"q", kTexts[0]}, {"source", "it"}, {"target", "en"}}.dump();
  const std::string expected = translator()(kTexts[0]).text;
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8"}) {
    const auto answer = serving().post_text("/translate", body, {}, type);
    ASSERT_EQ(answer.status, 200) << type << ": " << answer.body;
    EXPECT_EQ(answer.json["translatedText"], expected) << type;
  }
  for (const char* type : {"application/x-www-form-urlencoded", "text/plain", "Text/Plain;charset=utf-8", ""}) {
    const auto refused = serving().post_text("/translate", body, {}, type);
    EXPECT_EQ(refused.status, 415) << type;
    EXPECT_NE(refused.body.find("Content-Type: application/json"), std::string::npos) << refused.body;
  }
}

TEST(Translate, TakesLargeForms) {
  std::string form = "source=it&target=en&alternatives=1&q=";
  for (int i = 0; i < 2000; ++i) form += "essere+";
  const auto answer = serving().post_text("/translate", form, {}, "application/x-www-form-urlencoded");
  EXPECT_EQ(answer.status, 200) << answer.body.substr(0, 200);
  const auto wrong = serving().post_text("/translate", "q=x&source=it&target=en&alternatives=many", {},
                                         "application/x-www-form-urlencoded");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("alternatives"), std::string::npos) << wrong.body;
}

TEST(Translate, ErrorsOfTextsNameTheFieldThatWasSent) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "essere ";
  const auto answer =
      serving().post("/translate", {{"q", {"x", text}}, {"source", "it"}, {"target", "en"}, {"long", "error"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.json["error"].get<std::string>().find("q 1: "), std::string::npos) << answer.body;
}

TEST(Translate, ErrorsHaveLibreTranslatesShape) {
  const auto missing = serving().post("/translate", {{"source", "it"}, {"target", "en"}});
  EXPECT_EQ(missing.status, 400);
  EXPECT_TRUE(missing.json["error"].is_string());
  EXPECT_EQ(missing.json["code"], "missing_field");
  const auto no_model = serving().post("/translate", {{"q", "x"}, {"source", "fi"}, {"target", "en"}});
  EXPECT_EQ(no_model.status, 400);
  EXPECT_NE(no_model.json["error"].get<std::string>().find("from fi to en"), std::string::npos);
  EXPECT_EQ(serving().post("/translate", {{"q", "x"}, {"source", "it"}, {"target", "en"}, {"format", "html"}}).status,
            400);
}

TEST(Translate, AMultilingualModelTakesTheLanguagesOfTheRequest) {
  ServerOptions options = all_models();
  const std::filesystem::path folder = fixture("models/fixtures/mbart50_tokenizer");
  options.models = {{"many", folder}, {"it-en", kMarian}};
  Serving many(options);
  const Translator expected(folder);
  const std::string text = "The child wasn't reading the newspapers of 1984.";
  const auto asked = [&](const char* source, const char* target) {
    return many.post("/translate", {{"q", text}, {"source", source}, {"target", target}});
  };
  const auto german = asked("en", "de_DE"), french = asked("en_XX", "fr");
  ASSERT_EQ(german.status, 200) << german.body;
  EXPECT_EQ(german.json["translatedText"],
            expected(text, {.source_language = "en_XX", .target_language = "de_DE"}).text);
  EXPECT_EQ(french.json["translatedText"],
            expected(text, {.source_language = "en_XX", .target_language = "fr_XX"}).text);
  const auto guessed = asked("auto", "de_DE");
  EXPECT_EQ(guessed.json["translatedText"], german.json["translatedText"]) << guessed.body;
  EXPECT_EQ(guessed.json["detectedLanguage"]["language"], "en_XX");
  EXPECT_EQ(asked("en", "tlh").status, 400);

  const auto languages = many.get("/languages").json;
  EXPECT_EQ(languages.size(), 53u) << "those of both models";
  for (const auto& one : languages) {
    EXPECT_EQ(one["targets"].size(), one["code"] == "it" ? 1u : 52u) << one;
    if (one["code"] == "de_DE") {
      EXPECT_EQ(one["name"], "German");
    }
  }
  EXPECT_EQ(many.get("/v1/models/many").json["languages"].size(), 52u);

  Json request = {{"model", "many"}, {"input", text}, {"source_lang", "en"}, {"target_lang", "fr_XX"}};
  const auto attention = many.post("/v1/attention", request);
  ASSERT_EQ(attention.status, 200) << attention.body;
  const AttentionReader reader{folder};
  Json wanted = Json::parse(to_json(
      reader({.text = text, .source_language = "en_XX", .target_language = "fr_XX"}).front(), {.main_layers = false}));
  wanted["model"] = "many";
  EXPECT_EQ(attention.json, wanted);
  request["target_lang"] = "tlh";
  EXPECT_EQ(many.post("/v1/attention", request).status, 400);
  request = {{"model", "it-en"}, {"input", text}, {"target_lang", "de"}};
  const auto none = many.post("/v1/attention", request);
  EXPECT_EQ(none.status, 400) << "the model has no languages";
}

TEST(Translate, AModelOfUnknownLanguagesIsNamedUnlessItIsTheOnlyTranslator) {
  const std::filesystem::path t5 = fixture("models/fixtures/t5_tokenizer");
  const Json body{{"q", "To be."}, {"source", "en"}, {"target", "de"}, {"max_new_tokens", 4}};
  ServerOptions options = all_models();
  options.models = {{"t5", t5}, {"it-en", kMarian}};
  Serving both(options);
  const auto refused = both.post("/translate", body);
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_TRUE(refused.json["error"].get<std::string>().find("\"model\"") != std::string::npos) << refused.body;
  Json named = body;
  named["model"] = "t5";
  const auto answer = both.post("/translate", named);
  EXPECT_EQ(answer.json["translatedText"], Translator(t5)("To be.", {.search = {.max_new_tokens = 4}}).text);
  Json italian = body;
  italian["source"] = "it", italian["target"] = "en";
  EXPECT_EQ(both.post("/translate", italian).status, 200) << "the model of these languages is there";
  options.models = {{"t5", t5}, {"words", kWords}};
  Serving alone(options);
  EXPECT_EQ(alone.post("/translate", body).json["translatedText"], answer.json["translatedText"]);
}

TEST(Languages, AreThoseOfTheModels) {
  const auto answer = serving().get("/languages");
  EXPECT_EQ(answer.json, (Json{{{"code", "it"}, {"name", "Italian"}, {"targets", {"en"}}}}));
  const auto detected = serving().post("/detect", {{"q", "Essere o non essere"}});
  ASSERT_EQ(detected.status, 200) << detected.body;
  EXPECT_EQ(detected.json[0]["language"], "it");
}

TEST(Detect, IsSureOfLongTextsOfTheLanguageOnly) {
  const auto confidence = [](const std::string& text) {
    const auto detected = serving().post("/detect", {{"q", text}});
    EXPECT_EQ(detected.status, 200) << detected.body;
    return detected.json[0]["confidence"].get<double>();
  };
  const std::string italian = "Il gatto non dorme, ma la ragazza legge un libro e il cane è in giardino con lei.";
  const std::string english = "The cat does not sleep, but the girl reads a book and the dog is in the garden.";
  EXPECT_GT(confidence(italian), 70);
  EXPECT_LT(confidence("gatto"), 20);
  EXPECT_LT(confidence("Il gatto"), confidence(italian));
  EXPECT_LT(confidence(italian + " " + english), 60);
  EXPECT_LT(confidence(english), 10);
  EXPECT_LT(confidence("Быть или не быть"), 1);
  EXPECT_LT(confidence("42"), 1);
}

TEST(Tokenize, GivesTokensAndIds) {
  const auto answer = serving().post("/v1/tokenize", {{"model", "words"}, {"input", {"to be", ""}}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Encoding expected = load_tokenizer(kWords).encode("to be");
  EXPECT_EQ(answer.json["data"][0]["ids"], expected.ids);
  EXPECT_EQ(answer.json["data"][0]["tokens"].size(), expected.ids.size());
  EXPECT_EQ(answer.json["data"][1]["index"], 1);
}

TEST(Classify, GivesLabelsOfTextsAndPairs) {
  const Classifier classifier(kLabels);
  const std::vector<std::string> texts{"to be or not to be", "that is the question"};
  const auto expected = classifier(texts);
  const auto answer = serving().post("/v1/classify", {{"model", "labels"}, {"input", texts}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& one = answer.json["data"][i];
    EXPECT_EQ(one["label"], classifier.labels()[expected[i].label]);
    EXPECT_NEAR(one["prob"].get<float>(), expected[i].probabilities[expected[i].label], 1e-6);
    EXPECT_EQ(one["probs"].size(), classifier.labels().size());
  }
  const auto pairs =
      serving().post("/v1/classify", {{"model", "labels"}, {"input", Json::array({Json::array({"to be", "or not"})})}});
  ASSERT_EQ(pairs.status, 200) << pairs.body;
  const auto of_pair = classifier(std::vector<std::string>{"to be\tor not"}, {.pairs = true});
  EXPECT_NEAR(pairs.json["data"][0]["prob"].get<float>(), of_pair[0].probabilities[of_pair[0].label], 1e-6);
  EXPECT_TRUE(
      serving().post("/v1/classify", {{"model", "several"}, {"input", "to be"}}).json["data"][0].contains("labels"));
}

TEST(FillMask, GivesCandidates) {
  const MaskFiller filler(kWords);
  const std::string text = "to [MASK] or not to [MASK]";
  const FilledText expected = filler(std::vector{text}, {.top = 3})[0];
  const auto answer = serving().post("/v1/fill-mask", {{"model", "words"}, {"input", text}, {"top", 3}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json["mask_token"], "[MASK]");
  const Json& masks = answer.json["data"][0]["masks"];
  ASSERT_EQ(masks.size(), 2u);
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(masks[m]["position"], expected.masks[m].position);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(masks[m]["candidates"][c]["token"], expected.masks[m].candidates[c].token);
  }
  const auto nothing = serving().post("/v1/fill-mask", {{"model", "words"}, {"input", "to be"}});
  EXPECT_EQ(nothing.json["error"]["code"], "invalid_value");
}

TEST(Attention, IsWhatTheReaderSees) {
  for (const auto& [name, folder] :
       {std::pair("gpt2", kGpt2), {"it-en", kMarian}, {"words", kWords}, {"labels", kLabels}}) {
    const AttentionReader reader{folder};
    const auto answer = serving().post("/v1/attention", {{"model", name}, {"input", "to be or"}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    Json expected = Json::parse(to_json(reader({.text = "to be or"}).front(), {.main_layers = false}));
    expected["model"] = name;
    EXPECT_EQ(answer.json, expected) << name;
    const Json& view = answer.json["views"][0];
    EXPECT_EQ(view["layers"][0]["heads"][0]["weights"].size(), view["query_tokens"].size());
  }
  const auto pair = serving().post(
      "/v1/attention",
      {{"model", "words"}, {"input", "to be"}, {"pair", "or not"}, {"layers", {0}}, {"heads", {1}}, {"top_k", 2}});
  ASSERT_EQ(pair.status, 200) << pair.body;
  ASSERT_EQ(pair.json["views"][0]["layers"].size(), 1u);
  EXPECT_EQ(pair.json["views"][0]["layers"][0]["heads"][0]["head"], 1);
  EXPECT_EQ(pair.json["views"][0]["layers"][0]["heads"][0]["rows"][0].size(), 2u);
  const auto written = serving().post("/v1/attention", {{"model", "gpt2"}, {"input", "To be"}, {"max_tokens", 3}});
  EXPECT_EQ(written.json["generated"], 3) << written.body;
  EXPECT_EQ(
      serving().post("/v1/attention", {{"model", "words"}, {"input", "x"}, {"layers", {99}}}).json["error"]["code"],
      "invalid_value");
  const std::string long_text(400, 'x');
  EXPECT_EQ(serving().post("/v1/attention", {{"model", "gpt2"}, {"input", long_text}}).status, 400);
  const auto cut = serving().post("/v1/attention", {{"model", "gpt2"}, {"input", long_text}, {"long", "truncate"}});
  EXPECT_GT(cut.json["truncated"], 0) << cut.body;
}

TEST(LongTexts, AreRefusedCutOrSplitAsAsked) {
  std::string text = "to be or not to be";
  for (int i = 0; i < 6; ++i) text += " " + text;
  const auto refused = serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", {"x", text}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json["error"]["code"], "input_too_long");
  EXPECT_NE(refused.json["error"]["message"].get<std::string>().find("input 1"), std::string::npos);
  const auto cut = serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", text}, {"long", "truncate"}});
  EXPECT_EQ(cut.status, 200) << cut.body;
  EXPECT_GT(cut.json["data"][0]["truncated"], 0);
  EXPECT_EQ(serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", text}, {"long", "split"}}).status, 200);
}

TEST(Lessons, GiveTheirNumbers) {
  const auto positions = serving().get("/v1/lessons/positions?width=8&length=3");
  ASSERT_EQ(positions.status, 200) << positions.body;
  ASSERT_EQ(positions.json["values"].size(), 3u);
  EXPECT_NEAR(positions.json["values"][1][0].get<double>(), std::sin(1.0), 1e-6);
  const auto pooling = serving().get("/v1/lessons/pooling?width=0.5&points=20&seed=3");
  ASSERT_EQ(pooling.status, 200) << pooling.body;
  for (const char* key : {"x", "y", "truth", "query", "fit", "average"})
    EXPECT_EQ(pooling.json[key].size(), 20u) << key;
  double sum = 0, fit = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const double weight = pooling.json["weights"][4][i].get<double>();
    sum += weight, fit += weight * pooling.json["y"][i].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_NEAR(fit, pooling.json["fit"][4].get<double>(), 1e-5);
  EXPECT_EQ(serving().get("/v1/lessons/positions?width=wide").json["error"]["param"], "width");
  EXPECT_EQ(serving().get("/v1/lessons/pooling?points=1000000").status, 400);
}

}  // namespace
}  // namespace attend::test
