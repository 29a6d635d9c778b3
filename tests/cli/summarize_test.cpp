// attend summarize with the fixture of an untrained T5 model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::contents;
using test::lines_of;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

const std::string kSummarize =
    "summarize --model " ATTEND_SOURCE_DIR "/tests/models/fixtures/t5_tokenizer --max-tokens 5 ";

TEST(Summarize, EachLineIsADocumentAndGivesOneLine) {
  const Outcome outcome = run_attend(kSummarize + "'To be. Or not to be.' ''  'That is the question.' 2>&1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "1 empty text")) << outcome.output;
}

TEST(Summarize, JsonHasTheSentencesWithTheirWeights) {
  const Outcome outcome = run_attend(kSummarize + "--json 'Tò be. Or not to be.' 2>/dev/null");
  const auto json = nlohmann::json::parse(outcome.output);
  for (const char* key : {"text", "summary", "score", "ids"}) EXPECT_TRUE(json.contains(key)) << key;
  ASSERT_EQ(json["sentences"].size(), 2u);
  EXPECT_EQ(json["sentences"][0]["end"], 6) << "in characters";
  EXPECT_NEAR(json["sentences"][0]["weight"].get<double>() + json["sentences"][1]["weight"].get<double>(), 1, 1e-4);
}

TEST(Summarize, JsonHasTheSeedThatRepeatsASample) {
  const std::string command = kSummarize + "--json --sample --temperature 3 'To be. Or not to be.' ";
  const auto json = nlohmann::json::parse(run_attend(command + "2>/dev/null").output);
  const std::string seed = "--seed " + std::to_string(json["seed"].get<std::uint64_t>());
  EXPECT_EQ(nlohmann::json::parse(run_attend(command + seed + " 2>/dev/null").output), json);
  EXPECT_FALSE(contains(run_attend(kSummarize + "--json 'To be.' 2>/dev/null").output, "\"seed\""));
}

TEST(Summarize, AFileIsOneDocumentWhoseSentencesAreHighlighted) {
  const test::TempFolder folder;
  std::ofstream(folder / "a.txt") << "To be.\nOr not to be.\nThat is the question.\n";
  const std::string file = " --files " + (folder / "a.txt").string();
  const Outcome outcome = run_attend(kSummarize + "--highlight" + file + " 2>/dev/null");
  EXPECT_TRUE(contains(outcome.output, " Or not to be.\n")) << outcome.output;
  const std::string page = (folder / "a.html").string();
  EXPECT_EQ(run_attend(kSummarize + "--highlight=" + page + file + " 2>/dev/null").code, 0);
  EXPECT_TRUE(contains(contents(page), ">Or not to be.</span>"));
}

TEST(Summarize, InvalidUtf8InAFileIsSaid) {
  const test::TempFolder folder;
  std::ofstream(folder / "a.txt") << "To be.\nOr not \xff to be.\n";
  const Outcome outcome = run_attend(kSummarize + "--files " + (folder / "a.txt").string() + " 2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "1 byte sequence could not be decoded")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "a.txt, line 2")) << outcome.output;
}

TEST(Summarize, HighlightsKeepTheLinesAndParagraphsOfADocument) {
  const test::TempFolder folder;
  std::ofstream(folder / "a.txt") << "To be. Or not to be.\nThat is the question.\n\n\nHe had no hair.\n";
  const std::string file = " --files " + (folder / "a.txt").string();
  const std::string page = (folder / "a.html").string();
  EXPECT_EQ(run_attend(kSummarize + "--highlight=" + page + file + " 2>/dev/null").code, 0);
  const std::string html = contents(page);
  EXPECT_TRUE(contains(html, "To be.</span> <span")) << html;
  EXPECT_TRUE(contains(html, "be.</span> <br><span")) << html;
  EXPECT_TRUE(contains(html, "question.</span> <br><br><span")) << html;
  const std::string shown = run_attend(kSummarize + "--highlight" + file + " 2>/dev/null").output;
  EXPECT_TRUE(contains(shown, " Or not to be.\n0.")) << shown;
  EXPECT_TRUE(contains(shown, " That is the question.\n\n0.")) << shown;
  EXPECT_TRUE(shown.ends_with("He had no hair.\n\n")) << "documents are apart";
}

TEST(Summarize, LongDocumentsAreReadInPartsAndThatIsSaid) {
  std::string document;
  for (int i = 0; i < 20; ++i) document += "Once upon a time there was a king. ";
  const Outcome outcome = run_attend(kSummarize + "--max-source-tokens 40 '" + document + "' 2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "documents summarized in parts because they were too long: 1"))
      << outcome.output;
  const Outcome refused = run_for_errors(kSummarize + "--max-source-tokens 40 --long error '" + document + "'");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output, "the text is too long: got ")) << refused.output;
}

TEST(Summarize, BadFlagsAndModelsAreErrors) {
  for (const std::string& arguments :
       {kSummarize + "--files no-such-file.txt", kSummarize + "--files a.txt --input b.txt",
        kSummarize + "--highlight=a.png x",
        std::string("summarize --model " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer x")})
    EXPECT_EQ(run_for_errors(arguments).code, 2) << arguments;
}

}  // namespace
}  // namespace attend
