// attend translate with a folder that was made here: a small Transformer which knows nothing, but says it in order.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "attend/nn/module.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/tasks/translation/translator.h"
#include "attend/text/training/train_words.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/terminal.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::contents;
using test::lines_of;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class Translate : public testing::Test {
 protected:
  Translate() {
    bool given = false;
    const Tokenizer tokenizer = train_words([&](std::string& line) {
      line = "one two three four five six seven eight Nine . ! ?";
      return !std::exchange(given, true);
    });
    TransformerOptions o;
    o.source_vocabulary = o.target_vocabulary = tokenizer.size();
    o.width = 12, o.encoder_layers = 1, o.decoder_layers = 2, o.encoder_heads = o.decoder_heads = 2;
    o.encoder_inner = o.decoder_inner = 20, o.max_positions = 16;
    o.padding = o.start = *tokenizer.special().padding, o.end = *tokenizer.special().eos;
    Generator generator(3);
    Transformer transformer(o, generator);
    for_each_parameter(transformer, [](const std::string&, Tensor& t) {
      for (std::int64_t i = 0; i < t.numel(); ++i) t.data()[i] *= 2.5f;
    });
    Config config;
    o.write(config);
    config.set("model_type", "attend-transformer");
    config.save(folder_ / "config.json");
    save_parameters(transformer, folder_ / "model.safetensors");
    save_tokenizer(tokenizer, folder_.path());
    generation_defaults(o).save(folder_.path());
  }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  Outcome translate(const std::string& text, const std::string& flags = "") const {
    return run_attend("translate -m " + folder_.path().string() + " -i " + file("in.txt", text) + " " + flags +
                      " 2>/dev/null");
  }
  std::string errors(const std::string& text, const std::string& flags = "") const {
    return run_for_errors("translate -m " + folder_.path().string() + " -i " + file("in.txt", text) + " " + flags)
        .output;
  }

  test::TempFolder folder_;
};

TEST_F(Translate, LinesComeInTheirOrderAndBlankOnesStayBlank) {
  const std::vector<std::string> texts = {"one two three four", "", "five", "  ", "six seven . eight"};
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  const Outcome outcome = translate(all);
  ASSERT_EQ(outcome.code, 0);
  const std::vector<std::string> lines = lines_of(outcome.output);
  ASSERT_EQ(lines.size(), texts.size());
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[3], "");
  for (const std::size_t i : {0u, 2u, 4u}) EXPECT_EQ(translate(texts[i] + "\n").output, lines[i] + "\n");
}

TEST_F(Translate, JsonHasThePromisedKeys) {
  const Outcome outcome = translate("one two three\n\n", "--json --alignments --nbest 3");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<std::string> lines = lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 2u);
  const Json json = Json::parse(lines[0]);
  EXPECT_EQ(json.at("source"), "one two three");
  for (const char* key : {"translation", "score", "ids", "alignments", "hypotheses"})
    EXPECT_TRUE(json.contains(key)) << key;
  ASSERT_EQ(json.at("hypotheses").size(), 3u);
  double before = json.at("score");
  EXPECT_EQ(json.at("hypotheses")[0].at("translation"), json.at("translation"));
  for (const Json& hypothesis : json.at("hypotheses")) {
    EXPECT_LE(hypothesis.at("score"), before);
    before = hypothesis.at("score");
    for (const Json& pair : hypothesis.at("alignments")) EXPECT_LT(pair[0], 3);
  }
  EXPECT_EQ(Json::parse(lines[1]).at("translation"), "");
}

TEST_F(Translate, EachLineHasAsManyLinesAsAskedFor) {
  const std::vector<std::string> lines = lines_of(translate("one two\n\nthree\n", "--nbest 3").output);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_NE(lines[2], "");
  for (const std::size_t i : {3u, 4u, 5u}) EXPECT_EQ(lines[i], "");
  EXPECT_NE(lines[6], "");
}

TEST_F(Translate, FlagsWinOverTheFolder) {
  const std::string text = "one two three four\n";
  EXPECT_EQ(translate(text, "--greedy").output, translate(text, "--beam 1").output);
  const auto ids = [&](const std::string& flags) {
    return Json::parse(translate(text, "--json " + flags).output).at("ids");
  };
  EXPECT_EQ(ids("--max-new-tokens 3 --min-new-tokens 3").size(), 3u);
  EXPECT_TRUE(contains(translate(text, "--prefix 'seven eight'").output, "seven eight"));
  const std::string word = lines_of(translate(text, "--min-new-tokens 5").output)[0].substr(0, 3);
  const std::string longest = translate(text, "--min-new-tokens 12 --no-repeat-ngram 1 --greedy").output;
  std::istringstream words(longest);
  std::vector<std::string> seen;
  for (std::string w; words >> w; seen.push_back(w)) EXPECT_EQ(std::count(seen.begin(), seen.end(), w), 0) << longest;
  ASSERT_GT(seen.size(), 2u);
  const std::string banned = file("banned.txt", seen[0] + "\n" + seen[1] + "\n");
  const std::string without = translate(text, "--min-new-tokens 6 --bad-words " + banned).output;
  EXPECT_FALSE(contains(" " + without, " " + seen[0] + " ")) << without;
  for (const char* stop : {"yes", "no", "never"})
    EXPECT_EQ(translate(text, std::string("--early-stopping ") + stop).code, 0);
}

TEST_F(Translate, SamplesFollowTheirSeed) {
  const std::string text = "one two three four\nfive six\n", sample = "--sample --temperature 1.5 --top-k 0 --nbest 4 ";
  const std::string first = translate(text, sample + "--seed 1").output;
  EXPECT_EQ(lines_of(first).size(), 8u);
  EXPECT_EQ(translate(text, sample + "--seed 1").output, first);
  EXPECT_NE(translate(text, sample + "--seed 2").output, first);
  EXPECT_EQ(translate("five six\n", sample + "--seed 1").output,
            first.substr(first.size() - translate("five six\n", sample + "--seed 1").output.size()));
  EXPECT_EQ(translate(text, "--sample --beam 4").code, 2);
  EXPECT_EQ(translate(text, "--temperature 0.5").code, 2);
}

TEST_F(Translate, ALongLineIsSplitCutOrRefusedAsAskedAndThatIsSaid) {
  const std::string sentence = "one two three four five six seven eight one two !",
                    text = sentence + " Nine " + sentence;
  const std::string lines = "one\n" + text + "\n";
  EXPECT_EQ(translate(lines).code, 0);
  const std::string whole = "--sentences whole ";
  EXPECT_TRUE(contains(errors(lines, whole), "translated in parts")) << errors(lines, whole);
  EXPECT_EQ(Json::parse(lines_of(translate(lines, whole + "--json").output)[1]).at("pieces"), 2);
  EXPECT_EQ(Json::parse(lines_of(translate(lines, whole + "--json --long truncate").output)[1]).at("truncated"), 8);
  EXPECT_TRUE(contains(errors(lines, whole + "--long truncate"), "too long"));
  EXPECT_EQ(translate(lines, whole + "--long error").code, 2);
  EXPECT_TRUE(contains(errors(lines, whole + "--long error"), "in.txt, line 2")) << errors(lines, "--long error");
  EXPECT_FALSE(contains(errors(lines), "in parts")) << "its sentences fit";
  std::string endless;
  for (int i = 0; i < 50; ++i) endless += "one ";
  EXPECT_TRUE(contains(errors(endless + "\n"), "a sentence that was too long"));
}

TEST_F(Translate, AttentionOfALayerAndHeadIsDrawn) {
  const std::string page = (folder_ / "look.html").string();
  ASSERT_EQ(translate("one two\nthree\n", "--layer 0 --head 1 --attention " + page).code, 0);
  EXPECT_TRUE(contains(contents(page), "three"));
  EXPECT_EQ(translate("one two\n", "--layer 7 --attention " + page).code, 2);
  EXPECT_TRUE(contains(errors("", "--layer 99 --alignments"), "no such layer: got 99, expected 0 to 1"));
  EXPECT_TRUE(contains(errors("", "--head 99 --alignments"), "no such head: got 99, expected 0 to 1"));
  EXPECT_TRUE(contains(errors("one\n", "--layer 0"), "--layer"));  // of which nothing would be seen
  EXPECT_EQ(translate("one\n", "--head 0").code, 2);
  EXPECT_EQ(translate("one two\n", "--attention look.txt").code, 2);
}

TEST_F(Translate, APageHasEveryViewOfEveryHypothesis) {
  const std::string page = (folder_ / "look.html").string(), picture = (folder_ / "look.svg").string();
  ASSERT_EQ(translate("one two\n", "--beam 3 --nbest 2 --attention " + page).code, 0);
  const std::string html = contents(page);
  const std::size_t begin = html.find("id='maps'>") + 10;
  const Json maps = Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  ASSERT_EQ(maps.size(), 2u);
  for (const Json& map : maps) {
    EXPECT_EQ(map.at("views").size(), 3u);
    EXPECT_EQ(map.at("views")[map.at("main").get<std::size_t>()].at("name"), "cross");
  }
  ASSERT_EQ(translate("one two\n", "--attention " + picture).code, 0);
  EXPECT_TRUE(contains(contents(picture), "Cross attention"));
}

TEST_F(Translate, APageShowsTheFirstLinesAndSaysHowManyItLeavesOut) {
  std::string lines = "\n";
  for (int i = 0; i < 150; ++i) lines += "one two\n\nthree\n";
  const std::string page = (folder_ / "look.html").string(), output = (folder_ / "output.txt").string();
  const std::string said = errors(lines, "--greedy --threads 1 --output " + output + " --attention " + page);
  EXPECT_TRUE(contains(said, "100 texts are not in")) << said;
  EXPECT_EQ(contents(output), translate(lines, "--greedy --threads 1").output);
  const std::string html = contents(page);
  const std::size_t begin = html.find("id='maps'>") + 10;
  EXPECT_EQ(Json::parse(html.substr(begin, html.find("</script>", begin) - begin)).size(), 200u);
}

TEST_F(Translate, MoreTokensThanTheModelHasPositionsForAreWarnedOf) {
  const std::string wanted = "--max-new-tokens 17 --prefix 'one two' --min-new-tokens 17";
  EXPECT_TRUE(contains(errors("one\n", wanted), "--max-new-tokens 17: the model has positions for 14"))
      << errors("one\n", wanted);
  EXPECT_EQ(Json::parse(translate("one\n", "--json " + wanted).output).at("ids").size(), 16u);
  EXPECT_FALSE(contains(errors("one\n", "--max-new-tokens 16"), "positions"));
}

TEST_F(Translate, WeightsThatLoadingRoundsAreNamed) {
  EXPECT_FALSE(contains(errors("one\n"), "F64"));
  // The last tensor of the file, in double precision.
  const std::string file = contents(folder_ / "model.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  Json header = Json::parse(file.substr(8, size));
  std::string data = file.substr(8 + size);
  for (auto& [name, tensor] : header.items()) {
    if (name == "__metadata__" || tensor.at("data_offsets")[1] != data.size()) continue;
    const std::size_t begin = tensor.at("data_offsets")[0], count = (data.size() - begin) / sizeof(float);
    std::vector<float> single(count);
    std::memcpy(single.data(), data.data() + begin, count * sizeof(float));
    const std::vector<double> twice(single.begin(), single.end());
    data.resize(begin);
    data.append(reinterpret_cast<const char*>(twice.data()), count * sizeof(double));
    tensor["dtype"] = "F64", tensor["data_offsets"][1] = data.size();
    break;
  }
  const std::string before = translate("one two three\n").output, text = header.dump();
  size = text.size();
  std::ofstream(folder_ / "model.safetensors", std::ios::binary)
      << std::string_view(reinterpret_cast<const char*>(&size), sizeof size) << text << data;
  EXPECT_TRUE(contains(errors("one\n"), "is F64 and is rounded to float32")) << errors("one\n");
  EXPECT_EQ(translate("one two three\n").output, before);
}

TEST_F(Translate, TheFolderDoesNotChangeHowManyLinesThereAre) {
  Config generation(folder_ / "generation_config.json");
  generation.set("num_return_sequences", 3);
  generation.save(folder_ / "generation_config.json");
  EXPECT_EQ(lines_of(translate("one two\nthree\n").output).size(), 2u);
  EXPECT_EQ(lines_of(translate("one two\nthree\n", "--nbest 2").output).size(), 4u);
}

TEST_F(Translate, EverySentenceOfALineIsTranslated) {
  const std::string first = "one two three !", second = "Nine four .";
  const auto json = [&](const std::string& text, const std::string& flags = "") {
    return Json::parse(lines_of(translate(text + "\n", "--json " + flags).output)[0]);
  };
  const Json whole = json(first + " " + second, "--alignments"), a = json(first, "--alignments"),
             b = json(second, "--alignments");
  EXPECT_EQ(whole.at("translation"),
            a.at("translation").get<std::string>() + " " + b.at("translation").get<std::string>());
  EXPECT_EQ(whole.at("pieces"), 2);
  EXPECT_NEAR(whole.at("score").get<double>(), a.at("score").get<double>() + b.at("score").get<double>(), 1e-4);
  EXPECT_EQ(whole.at("ids").size(), a.at("ids").size() + b.at("ids").size());
  EXPECT_EQ(whole.at("alignments").size(), a.at("alignments").size() + b.at("alignments").size());
  EXPECT_GE(whole.at("alignments").back()[0], 4) << "words are counted over the whole line";
  EXPECT_FALSE(json(first + " " + second, "--sentences whole").contains("pieces"));
  EXPECT_EQ(json(first + " " + second, "--nbest 3").at("hypotheses").size(), 3u);
  const std::string page = (folder_ / "look.html").string();
  ASSERT_EQ(translate(first + " " + second + "\n", "--attention " + page).code, 0);
  const std::string html = contents(page);
  const std::size_t begin = html.find("id='maps'>") + 10;
  EXPECT_EQ(Json::parse(html.substr(begin, html.find("</script>", begin) - begin)).size(), 2u) << "a map a sentence";
}

TEST_F(Translate, TakesTextsAsArguments) {
  const std::string model = "translate -m " + folder_.path().string();
  const Outcome outcome = run_attend(model + " 'one two' 'three four !' 2>/dev/null");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, translate("one two\nthree four !\n").output);
  EXPECT_EQ(run_attend(model + " one --input " + file("in.txt", "two\n") + " 2>/dev/null").code, 2);
}

TEST_F(Translate, ABeamThatDoesNotFitIntoMemoryIsRefused) {
  const std::string said = errors("one two\n", "--beam 1000000000");
  EXPECT_TRUE(contains(said, "a beam of 1,000,000,000 does not fit into memory")) << said;
  EXPECT_TRUE(contains(said, "hypotheses fit")) << said;
  EXPECT_EQ(translate("one two\n", "--beam 1000000000").code, 2);
}

TEST_F(Translate, WithoutASeedSamplesVaryAndTellTheirSeed) {
  const std::string text = "one two three four\n", flags = "--json --sample --temperature 3 --top-k 0 ";
  const Json first = Json::parse(translate(text, flags).output), second = Json::parse(translate(text, flags).output);
  EXPECT_NE(first.at("seed"), second.at("seed"));
  EXPECT_EQ(Json::parse(translate(text, flags + "--seed " + first.at("seed").dump()).output), first);
  EXPECT_FALSE(Json::parse(translate(text, "--json").output).contains("seed"));
}

std::string contents_if_there(const std::string& path) { return std::filesystem::exists(path) ? contents(path) : ""; }

/// Lines for some blocks.
std::string many_lines(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += i % 3 == 0 ? "one two three\n" : i % 3 == 1 ? "four !\n" : "\n";
  return all;
}

TEST_F(Translate, AStoppedRunKeepsItsLinesAndIsResumed) {
  const std::string text = many_lines(2500), out = (folder_ / "out.txt").string(), partial = out + ".partial";
  const std::string whole = translate(text).output;
  // The last line is too long, so that the run stops after two blocks of lines.
  std::string broken = text;
  for (int i = 0; i < 40; ++i) broken += "one ";
  const std::string said = errors(broken + "\n", "--long error --output " + out);
  EXPECT_TRUE(contains(said, "2,048 lines are done and kept in")) << said;
  EXPECT_TRUE(contains(said, "--resume")) << said;
  EXPECT_FALSE(std::filesystem::exists(out));
  const std::string kept = contents(partial);
  EXPECT_EQ(lines_of(kept).size(), 2048u);
  EXPECT_TRUE(whole.starts_with(kept));

  const auto refused = [&](const std::string& input, const std::string& flags, const std::string& why) {
    const std::string error = errors(input, flags + " --output " + out);
    EXPECT_TRUE(contains(error, why)) << error;
  };
  refused(text, "--long error", "continue it with --resume");
  refused(text, "--long error --resume --beam 2", "another model or other options");
  refused("five\n" + text, "--long error --resume", "are not those of the run that was stopped");
  refused("one two three\n", "--long error --resume", "but 2,048 are done");
  EXPECT_TRUE(contents(partial) == kept);

  EXPECT_EQ(translate(text, "--long error --resume --output " + out).code, 0);
  EXPECT_TRUE(contents(out) == whole);
  EXPECT_FALSE(std::filesystem::exists(partial));
  EXPECT_FALSE(std::filesystem::exists(partial + ".json"));
  refused(text, "--resume", "there is no run to continue");
  EXPECT_EQ(translate("one\n", "--resume").code, 2) << "only with --output";
}

TEST_F(Translate, AStoppedRunOfSamplesGoesOnWithItsSeed) {
  const std::string text = many_lines(1500), out = (folder_ / "out.txt").string();
  const std::string flags = "--long error --sample --temperature 3 --json --output " + out;
  std::string broken = text;
  for (int i = 0; i < 40; ++i) broken += "one ";
  errors(broken + "\n", flags);
  ASSERT_EQ(translate(text, flags + " --resume").code, 0);
  const std::vector<std::string> lines = lines_of(contents(out));
  ASSERT_EQ(lines.size(), 1500u);
  EXPECT_EQ(Json::parse(lines[0]).at("seed"), Json::parse(lines[1498]).at("seed"));
  EXPECT_EQ(Json::parse(lines[0]).at("translation"), Json::parse(lines[1497]).at("translation")) << "the same text";
}

TEST_F(Translate, CtrlCKeepsFinishedLinesAndSaysHowToGoOn) {
  using std::chrono::milliseconds;
  const std::string out = (folder_ / "out.txt").string();
  test::Terminal terminal({"translate", "-m", folder_.path().string(), "--output", out});
  terminal.type("one two\nthree\n");
  for (int i = 0; i < 100 && !contains(contents_if_there(out + ".partial.json"), "\"lines\": 2"); ++i)
    terminal.read_until_quiet(milliseconds(100));
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 130) << terminal.written();
  EXPECT_TRUE(contains(terminal.written(), "2 lines are done and kept in")) << terminal.written();
  EXPECT_TRUE(contains(terminal.written(), "--resume")) << terminal.written();
  EXPECT_EQ(contents(out + ".partial"), translate("one two\nthree\n").output);
}

TEST_F(Translate, TheProgressBarNeverStandsBesideWhatIsTypedOrTranslated) {
  using std::chrono::milliseconds;
  const std::vector<std::string> typed = {"one two", "three four five", "six"};
  std::vector<std::string> expected;
  test::Terminal terminal({"translate", "-m", folder_.path().string()});
  terminal.read_until_quiet(milliseconds(700));  // longer than it takes a bar to appear
  for (const std::string& line : typed) {
    terminal.type(line + "\n");
    expected.push_back(line);
    expected.push_back(lines_of(translate(line + "\n").output)[0]);
    for (int i = 0; i < 100 && terminal.screen().size() <= expected.size(); ++i)
      terminal.read_until_quiet(milliseconds(100));
    terminal.read_until_quiet(milliseconds(400));
    std::vector<std::string> screen = expected;
    screen.emplace_back();
    EXPECT_EQ(terminal.screen(), screen) << terminal.written();
  }
  terminal.type("\x04");  // the end of the input
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Translate, AConvertedFolderKeepsHowItReadsTexts) {
  record_sentence_mode(folder_.path(), SentenceMode::whole);
  const test::TempFolder converted;
  const std::string to = (converted / "int8").string();
  ASSERT_EQ(run_attend("convert --int8 --model " + folder_.path().string() + " --output " + to + " 2>/dev/null").code,
            0);
  EXPECT_EQ(recorded_sentence_mode(Config(converted / "int8/config.json")), SentenceMode::whole);
  EXPECT_FALSE(
      Json::parse(run_attend("translate --json -m " + to + " 'one two ! Nine four .'").output).contains("pieces"));
}

TEST_F(Translate, WrongUsageIsNamed) {
  EXPECT_EQ(translate("one\n", "--beam 2 --nbest 3").code, 2);
  EXPECT_EQ(translate("one\n", "--beam 2 --greedy").code, 2);
  EXPECT_EQ(translate("one\n", "--early-stopping soon").code, 2);
  EXPECT_EQ(
      translate("one\n", "--prefix 'one two three four five six seven eight one two three four five six seven'").code,
      2);
  EXPECT_EQ(run_attend("translate -m /nowhere </dev/null 2>/dev/null").code, 2);
}

TEST(TranslateLanguages, AreChosenByFlags) {
  const std::string folder = ATTEND_SOURCE_DIR "/tests/models/fixtures/mbart50_tokenizer";
  const Config expected(std::filesystem::path(folder) / "translations.json");
  const std::string run = "translate -m " + folder + " 'Nessuno scrive.'";
  EXPECT_EQ(run_attend(run + " --source-lang en --target-lang de_DE").output, expected.text("Nessuno scrive.") + "\n");
  const Outcome unknown = run_for_errors(run + " --target-lang tlh"), missing = run_for_errors(run);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.output, "target language \"tlh\", expected one of af_ZA, ar_AR")) << unknown.output;
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.output, "needs a target language (--target-lang): one of af_ZA, ar_AR"))
      << missing.output;
}

TEST(TranslateLanguages, AreChosenForTheCheckOfAConversionWhichKeepsTheOptionsOfConfigJson) {
  const std::filesystem::path fixture = ATTEND_SOURCE_DIR "/tests/models/fixtures/mbart50_tokenizer";
  const test::TempFolder folder;
  const std::filesystem::path old = folder / "old", int8 = folder / "int8";
  std::filesystem::copy(fixture, old);
  std::filesystem::remove(old / "generation_config.json");
  Config config(old / "config.json");
  config.set("num_beams", 3), config.set("max_length", 9), config.set("forced_bos_token_id", 210);
  config.save(old / "config.json");
  std::ofstream(folder / "lines.txt") << "Nessuno scrive.\n";
  const std::string run =
      "convert --int8 --model " + old.string() + " --output " + int8.string() + " --target-lang de_DE --overwrite";
  const Outcome checked = run_attend(run + " --check " + (folder / "lines.txt").string() + " 2>/dev/null");
  EXPECT_EQ(checked.code, 0);
  EXPECT_TRUE(contains(checked.output, "of 1 translation unchanged")) << checked.output;
  const GenerationConfig before = Translator(old).generation(), after = Translator(int8).generation();
  EXPECT_EQ(after.search.beam, 3);
  EXPECT_EQ(after.search.max_length, 9);
  EXPECT_EQ(after.search.rules.forced_first, 210);
  EXPECT_EQ(after.write().dump(), before.write().dump());
  EXPECT_EQ(run_attend(run + " 2>/dev/null").code, 2) << "without --check there is nothing to translate";
}

TEST_F(Translate, RefusesLanguagesThatTheModelDoesNotHave) {
  const Outcome refused = run_for_errors("translate -m " + folder_.path().string() + " --target-lang de one");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output, "the model has no tokens for languages: got the target language \"de\""))
      << refused.output;
}

}  // namespace
}  // namespace attend
