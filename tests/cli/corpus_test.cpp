// attend corpus: formats in, clean files out, counts that add up, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::contents;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class Corpus : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  test::TempFolder folder_;
};

TEST_F(Corpus, ConvertsTmxToTsvOnStandardOutput) {
  const std::string tmx =
      write("m.tmx",
            "<tmx><header srclang='en'/><body><tu><tuv xml:lang='en-US'><seg>one</seg></tuv><tuv xml:lang='it'>"
            "<seg>u\nno</seg></tuv></tu></body></tmx>");
  const Outcome outcome = run_attend("corpus convert " + tmx + " --target-lang it 2>" + path("report"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "one\tu no\n");
  EXPECT_TRUE(contains(contents(folder_ / "report"), "1 texts had line breaks or tabs"))
      << contents(folder_ / "report");
}

TEST_F(Corpus, ConvertsCsvByNameToParallelLinesAndBack) {
  const std::string csv = write("a.csv", "id,english,italian\n1,\"one, two\",\"uno, due\"\n2,three,tre\n");
  EXPECT_EQ(run_attend("corpus convert " + csv +
                       " --columns english,italian --as lines --source-lang en --target-lang it -o " + path("t"))
                .code,
            0);
  EXPECT_EQ(contents(folder_ / "t.en"), "one, two\nthree\n");
  EXPECT_EQ(contents(folder_ / "t.it"), "uno, due\ntre\n");
  EXPECT_EQ(run_attend("corpus convert " + path("t.en") + ' ' + path("t.it") + " --as jsonl 2>/dev/null").output,
            "{\"source\":\"one, two\",\"target\":\"uno, due\"}\n{\"source\":\"three\",\"target\":\"tre\"}\n");
}

TEST_F(Corpus, CleansWithCountsThatAddUpAndKeepsWhatItDropped) {
  const std::string tsv =
      write("a.tsv", "hello\tciao\n hello \tciao\nsame\tsame\nempty\t\n<b>x</b>\ty\n%s a\tb\ngood day\tbuongiorno\n");
  const Outcome outcome = run_attend("corpus clean " + tsv + " --source-lang en --target-lang it --json -o " +
                                     path("c.tsv") + " --rejected " + path("r.tsv"));
  ASSERT_EQ(outcome.code, 0);
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("read"), 7);
  EXPECT_EQ(json.at("kept"), 2);
  for (const char* reason : {"duplicate", "identical", "empty", "markup", "placeholders"})
    EXPECT_EQ(json.at("dropped").at(reason), 1) << reason;
  EXPECT_EQ(contents(folder_ / "c.tsv"), "hello\tciao\ngood day\tbuongiorno\n");
  EXPECT_TRUE(contains(contents(folder_ / "r.tsv"), "identical\t" + tsv + ":3\tsame\tsame\n"))
      << contents(folder_ / "r.tsv");
}

TEST_F(Corpus, RulesCanBeSwitchedOff) {
  const std::string tsv = write("a.tsv", "same\tsame\n<b>x</b>\t<b>y</b>\nsame\tsame\n");
  EXPECT_EQ(run_attend("corpus clean " + tsv + " --identical keep --markup strip --duplicates keep 2>/dev/null").output,
            "same\tsame\nx\ty\nsame\tsame\n");
}

TEST_F(Corpus, SplitsExactlyIntoAFolder) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "source " + std::to_string(i) + "\ttarget\n";
  const std::string tsv = write("a.tsv", text);
  const Outcome outcome =
      run_attend("corpus split " + tsv + " --validation-size 50 --test-size 10% -o " + path("parts") + " --json");
  ASSERT_EQ(outcome.code, 0);
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("written")[1].at("records"), 50);
  std::size_t size = 0;
  for (const char* part : {"train", "validation", "test"})
    size += contents(folder_ / ("parts/" + std::string(part) + ".tsv")).size();
  EXPECT_EQ(size, text.size());
}

TEST_F(Corpus, ASplitThatLeavesNothingForTrainingIsAnErrorAndKeepsTheFilesOfBefore) {
  const std::string tsv = write("a.tsv", "one\tuno\ntwo\tdue\nthree\ttre\n");
  std::filesystem::create_directories(folder_ / "parts");
  write("parts/train.tsv", "before\n");
  for (const std::string sizes : {"--test-size 1000", "--validation-size 3", "--validation-size 2 --test-size 2"}) {
    const Outcome outcome = run_for_errors("corpus clean " + tsv + ' ' + sizes + " -o " + path("parts"));
    EXPECT_EQ(outcome.code, 2) << sizes;
    EXPECT_TRUE(contains(outcome.output, "nothing is left for training: of 3 records validation takes"))
        << outcome.output;
  }
  EXPECT_EQ(contents(folder_ / "parts/train.tsv"), "before\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "parts/test.tsv"));
}

TEST_F(Corpus, FilesThatCannotGiveWhatWasAskedForAreErrorsAndKeepTheFileOfBefore) {
  const std::string english = write("english.txt", "one\ntwo\n"), italian = write("italian.txt", "uno\ndue\n");
  const std::string tsv = write("a.tsv", "one\tuno\n"), json = write("a.jsonl", "{\"en\": \"one\"}\n");
  const std::string output = write("out.tsv", "before\n");
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {english + ' ' + italian, "add --format parallel if line N of " + italian},
           {english + " --source-lang en --target-lang it", "needs pairs, but " + english + " is read as lines"},
           {english + " --columns 1,2", "add --format tsv"},
           {tsv + " --columns 1,9", "a.tsv: no row has column 9: got 2 columns at most"},
           {tsv + " --columns one,due", "a.tsv: the first row has no column \"due\""},
           {json + " --columns en,it", "a.jsonl: no line gives a record: line 1 has no text under \"it\""}}) {
    const Outcome outcome = run_for_errors("corpus clean " + arguments + " -o " + output);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, message)) << outcome.output;
    EXPECT_EQ(contents(output), "before\n") << arguments;
  }
  const std::string both = english + ' ' + italian + " 2>/dev/null";
  EXPECT_EQ(run_attend("corpus clean --format parallel " + both).output, "one\tuno\ntwo\tdue\n");
  EXPECT_EQ(run_attend("corpus clean --format lines " + both).output, "one\ntwo\nuno\ndue\n");
}

TEST_F(Corpus, InvalidUtf8IsCountedWithItsFirstPlace) {
  const std::string tsv = write("a.tsv", "one\tuno\ntwo\tdu\xE9\nthree\xFF\ttre\n");
  const Outcome outcome = run_for_errors("corpus convert " + tsv + " -o " + path("out.tsv"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output,
                       "attend: warning: 2 byte sequences could not be decoded and became U+FFFD, the "
                       "first in " +
                           tsv + ", line 2"))
      << outcome.output;
}

TEST_F(Corpus, GettextReadsFoldersAndRemovesMenuMarks) {
  std::filesystem::create_directories(folder_ / "po");
  write("po/it.po", "msgid \"_File\"\nmsgstr \"_Documento\"\n\n#, fuzzy\nmsgid \"old\"\nmsgstr \"vecchio\"\n");
  write("po/de.po", "msgid \"_File\"\nmsgstr \"_Datei\"\n");
  EXPECT_EQ(run_attend("corpus gettext --target-lang it " + path("po") + " 2>" + path("report")).output,
            "File\tDocumento\n");
  EXPECT_TRUE(contains(contents(folder_ / "report"), "skipped: fuzzy")) << contents(folder_ / "report");
  EXPECT_EQ(run_attend("corpus gettext --source-lang de --target-lang it " + path("po") + " 2>/dev/null").output,
            "Datei\tDocumento\n");
}

TEST_F(Corpus, GettextPassesOverFilesThatAreNoCatalogues) {
  std::filesystem::create_directories(folder_ / "it");
  write("it/good.po", "msgid \"yes\"\nmsgstr \"si\"\n");
  write("it/bad.mo", "nonsense");
  const Outcome outcome =
      run_attend("corpus gettext --target-lang it " + folder_.path().string() + " -o " + path("out.tsv"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "not read: " + path("it/bad.mo"))) << outcome.output;
  EXPECT_EQ(contents(folder_ / "out.tsv"), "yes\tsi\n");
}

TEST_F(Corpus, WhatIsWrongIsSaidWithCodeTwoAndLeavesNoFile) {
  const std::string csv = write("a.csv", "a,b\n\"c,d\n");
  const Outcome broken = run_for_errors("corpus convert " + csv + " -o " + path("out.tsv"));
  EXPECT_EQ(broken.code, 2);
  EXPECT_TRUE(contains(broken.output, "a.csv:2: a quote opens in this row and never closes")) << broken.output;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.tsv"));
  EXPECT_EQ(run_for_errors("corpus convert " + path("none.tsv")).code, 2);
  EXPECT_EQ(run_for_errors("corpus convert " + csv + " --columns 1,2,3").code, 2);
  EXPECT_EQ(run_for_errors("corpus clean " + csv + " --test-size 5").code, 2);
  EXPECT_EQ(run_for_errors("corpus split " + csv + " --test-size five -o " + path("x")).code, 2);
  EXPECT_EQ(run_for_errors("corpus gettext --target-lang it " + csv.substr(0, csv.size() - 5) + "none").code, 2);
}

TEST_F(Corpus, SingleTextsAreCleanedAlone) {
  const std::string text = write("a.txt", "one\n\none\ntwo\n");
  EXPECT_EQ(run_attend("corpus clean " + text + " 2>/dev/null").output, "one\ntwo\n");
  const std::string tsv = write("a.tsv", "a\tb\n");
  EXPECT_TRUE(contains(run_for_errors("corpus convert " + text + ' ' + tsv).output,
                       "has pairs, but the files before it single texts"));
}

TEST_F(Corpus, GivesThePhraseBookWithoutOverlap) {
  ASSERT_EQ(run_attend("corpus phrase-book --size 300 -o " + path("a.tsv") + " --held-out " + path("b.tsv") +
                       " --held-out-size 40")
                .code,
            0);
  const std::string train = contents(folder_ / "a.tsv"), test = contents(folder_ / "b.tsv");
  EXPECT_EQ(std::ranges::count(train, '\n'), 300);
  EXPECT_EQ(std::ranges::count(test, '\n'), 40);
  EXPECT_TRUE(contains(train, "Buongiorno!\tGood morning!\n"));
  std::istringstream lines(test);
  for (std::string line; std::getline(lines, line);) EXPECT_FALSE(contains(train, line)) << line;
  EXPECT_EQ(run_attend("corpus phrase-book --size 300").output, train) << "what is held out must not change it";
}

TEST_F(Corpus, GivesDescriptionsOfPackagesWithoutOverlap) {
  const std::string packages = "corpus packages --invented --size 200 ";
  ASSERT_EQ(run_attend(packages + "-o " + path("a.tsv") + " --held-out " + path("b.tsv") + " --held-out-size 30").code,
            0);
  const std::string train = contents(folder_ / "a.tsv"), test = contents(folder_ / "b.tsv");
  EXPECT_EQ(std::ranges::count(train, '\n'), 200);
  EXPECT_EQ(std::ranges::count(train, '\t'), 200);
  EXPECT_EQ(std::ranges::count(test, '\n'), 30);
  std::istringstream lines(test);
  for (std::string line; std::getline(lines, line);) EXPECT_FALSE(contains(train, line)) << line;
  EXPECT_EQ(run_attend(packages).output, train) << "what is held out must not change it";
  EXPECT_EQ(std::ranges::count(run_attend("corpus packages --size 200").output, '\n'), 200) << "on any system";
}

}  // namespace
}  // namespace attend
