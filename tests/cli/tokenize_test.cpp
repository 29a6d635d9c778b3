// attend train tokenizer and attend tokenize, run as a user runs them; and what all verbs that read lines share.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using nlohmann::json;
using test::contains;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class Tokenize : public testing::Test {
 protected:
  Tokenize() {
    write("text", "the men read the book\nthe women read the books\nthe naïve reader reads\n");
    train("--type words");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// Trains on "text" into the folder "model".
  Outcome train(const std::string& flags) const {
    return run_attend("train tokenizer " + flags + " --input " + file("text") + " --output " + file("model") + " 2>&1");
  }
  /// Through the shell: `input` is written by printf.
  Outcome tokenize(const std::string& input, const std::string& flags = "") const {
    return run_attend("tokenize --model " + file("model") + ' ' + flags, "printf '" + input + "' |");
  }
  Outcome tokenize_for_errors(const std::string& input, const std::string& flags = "") const {
    return tokenize(input, flags + " 2>&1 >/dev/null");
  }

  test::TempFolder folder_;
};

TEST_F(Tokenize, ALineGivesTokensATabAndIds) {
  const Outcome outcome = tokenize("the men read\\n\\nxyz\\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "the men read </s>\t4 8 5 3\n</s>\t3\n<unk> </s>\t1 3\n");
}

TEST_F(Tokenize, IdsComeBackAsText) {
  const Outcome ids = tokenize("the men read\\nthe women\\n", "--ids");
  EXPECT_EQ(ids.output, "4 8 5 3\n4 12 3\n");
  EXPECT_EQ(tokenize("4 8 5 3\\n4,12,3\\n[4, 12]\\n{\"ids\": [8]}\\n", "--decode").output,
            "the men read\nthe women\nthe women\nmen\n");
  EXPECT_EQ(tokenize("4 8 3\\n", "--decode --keep-special").output, "the men </s>\n");
  const json object = json::parse(tokenize("4 8 3\\n", "--decode --json").output);
  EXPECT_EQ(object, json({{"ids", {4, 8, 3}}, {"text", "the men"}}));
}

TEST_F(Tokenize, JsonHasTextTokensIdsAndWhereTheyStand) {
  const Outcome outcome = tokenize("the naïve \"reader\"\\n", "--json --offsets");
  const json object = json::parse(outcome.output);
  EXPECT_EQ(object.at("text"), "the naïve \"reader\"");
  EXPECT_EQ(object.at("tokens"), json({"the", "naïve", "<unk>", "reader", "<unk>", "</s>"}));
  EXPECT_EQ(object.at("ids").size(), 6u);
  EXPECT_EQ(object.at("offsets"), json::parse("[[0,3],[4,9],[10,11],[11,17],[17,18],null]"));
  EXPECT_EQ(object.at("words"), json::parse("[0,1,2,3,4,null]"));
  EXPECT_FALSE(object.contains("truncated"));
}

TEST_F(Tokenize, SpecialTokensCanStayAway) {
  EXPECT_EQ(tokenize("the men\\n", "--no-special").output, "the men\t4 8\n");
}

TEST_F(Tokenize, PairsHaveATabBetweenThem) {
  const json object = json::parse(tokenize("the men\\tread\\n", "--pairs --json --offsets").output);
  EXPECT_EQ(object.at("text"), "the men");
  EXPECT_EQ(object.at("text_pair"), "read");
  EXPECT_EQ(object.at("tokens"), json({"the", "men", "</s>", "read", "</s>"}));
  EXPECT_EQ(object.at("types"), json({0, 0, 0, 1, 1}));
  EXPECT_EQ(object.at("offsets"), json::parse("[[0,3],[4,7],null,[0,4],null]"));
  const Outcome outcome = tokenize_for_errors("a\\tb\\nno tab\\n", "--pairs");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "standard input, line 2")) << outcome.output;
}

TEST_F(Tokenize, ALongTextIsAnErrorCutOrSplitAndNeverSilentlyCut) {
  const std::string text = "the men read the book\\n";
  const Outcome refused = tokenize_for_errors("the\\n" + text, "--max-tokens 4");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output, "standard input, line 2")) << refused.output;
  EXPECT_EQ(tokenize(text, "--max-tokens 4 --long truncate 2>/dev/null").output, "the men read </s>\t4 8 5 3\n");
  EXPECT_TRUE(contains(tokenize_for_errors(text, "--max-tokens 4 --long truncate").output,
                       "line 1: cut to 4 tokens, 2 dropped"));
  EXPECT_EQ(json::parse(tokenize(text, "--max-tokens 4 --long truncate --json 2>/dev/null").output).at("truncated"), 2);
  EXPECT_EQ(tokenize(text, "--max-tokens 4 --long split --overlap 1 --ids").output, "4 8 5 3\n5 4 6 3\n");
}

TEST_F(Tokenize, InvalidUtf8IsReplacedCountedAndSaid) {
  const Outcome outcome = tokenize_for_errors("the\\377\\377 men\\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output,
                       "2 byte sequences could not be decoded and became U+FFFD, the first in standard input, line 1"))
      << outcome.output;
  EXPECT_EQ(json::parse(tokenize("the\\377\\n", "--json 2>/dev/null").output).at("text"), "the\uFFFD");
}

TEST_F(Tokenize, WrongIdsAreBadInput) {
  for (const char* line : {"4 nine", "100000", "-1", "[4", "{}", "99999999999"}) {
    const Outcome outcome = tokenize_for_errors(std::string("4\\n") + line + "\\n", "--decode");
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_TRUE(contains(outcome.output, "line 2")) << outcome.output;
  }
}

TEST_F(Tokenize, ManyLinesKeepTheirOrderOnManyThreads) {
  std::string text, expected;
  for (int i = 0; i < 20000; ++i) {
    text += i % 3 ? "men\n" : "the book\n";
    expected += i % 3 ? "8\n" : "4 6\n";
  }
  write("many", text);
  const Outcome outcome =
      run_attend("tokenize --threads 4 --ids --no-special --model " + file("model") + " --input " + file("many"));
  EXPECT_EQ(outcome.output, expected);
}

TEST_F(Tokenize, FilesFollowOneAnotherAndLineEndsAreNotText) {
  write("a", "\xEF\xBB\xBFthe\r\nmen");
  write("b", "book\n");
  const Outcome outcome = run_attend(
      "tokenize --ids --no-special --model " + file("model") + " --input " + file("a") + " - --input " + file("b"),
      "printf 'read' |");
  EXPECT_EQ(outcome.output, "4\n8\n5\n6\n");
}

TEST_F(Tokenize, AMissingFileFolderOrModelIsBadInput) {
  EXPECT_EQ(tokenize_for_errors("", "--input " + file("missing")).code, 2);
  EXPECT_EQ(tokenize_for_errors("", "--input " + folder_.path().string()).code, 2);
  EXPECT_EQ(tokenize_for_errors("a", "--output " + file("missing/out")).code, 2);
  EXPECT_EQ(run_for_errors("tokenize --model " + file("missing")).code, 2);
}

TEST_F(Tokenize, AFileAppearsOnlyWhenAllOfItIsThere) {
  EXPECT_EQ(tokenize("the\\n", "--ids --output " + file("out")).code, 0);
  EXPECT_EQ(read("out"), "4 3\n");
  EXPECT_EQ(tokenize("4\\nwrong\\n", "--decode --output " + file("out") + " 2>/dev/null").code, 2);
  EXPECT_EQ(read("out"), "4 3\n");
  EXPECT_EQ(
      run_attend("tokenize --ids --model model --input text --output out", "cd " + folder_.path().string() + " &&")
          .code,
      0);
  EXPECT_TRUE(contains(read("out"), "4 8 5 4 6 3\n"));
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) ++files;
  EXPECT_EQ(files, 3) << "text, model, out";
}

TEST_F(Tokenize, AFullDiskIsAnErrorAndAClosedPipeAQuietOne) {
  EXPECT_EQ(tokenize("the\\n", ">/dev/full 2>/dev/null").code, 1);
  EXPECT_EQ(tokenize("the\\n", "--output /dev/full 2>/dev/null").code, 1);
  run_attend("tokenize --model " + file("model") + " 2>" + file("errors") + " | true", "yes |");
  EXPECT_EQ(read("errors"), "");
}

TEST_F(Tokenize, WhoTypesIsAnsweredLineByLine) {
  // The second line is sent only after the answer to the first was read.
  write("talk.sh", "mkfifo in out; " ATTEND_PROGRAM
                   " tokenize --ids --model model <in >out &\n"
                   "exec 3>in 4<out; echo the >&3; read -r first <&4; echo men >&3; read -r second <&4\n"
                   "echo $first, $second");
  const std::string talk = "cd '" + folder_.path().string() + "' && timeout 30 bash talk.sh #";
  EXPECT_EQ(run_attend("", talk).output, "4 3, 8 3\n");
}

TEST_F(Tokenize, AnInterruptEndsItWithNoFileLeftBehind) {
  const Outcome outcome = run_attend("tokenize --model " + file("model") + " --output " + file("out") +
                                         " & verb=$!; sleep 0.5; kill -TERM $verb; wait $verb; exit $?",
                                     "yes |");
  EXPECT_EQ(outcome.code, 143);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_FALSE(contains(entry.path().string(), ".part-")) << entry.path();
}

TEST_F(Tokenize, ATerminalSeesABarThatGoesAway) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminals here";
  ASSERT_EQ(::grantpt(terminal) + ::unlockpt(terminal), 0);
  const std::string name = ::ptsname(terminal);
  const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);  // what is written stays readable
  if (other_end < 0) GTEST_SKIP() << name << " cannot be opened";
  const Outcome outcome =
      run_attend("tokenize --model " + file("model") + " --output /dev/null 2>" + name,
                 "TERM=xterm; export TERM; (for i in 1 2 3 4 5 6 7 8 9 10; do echo the; sleep 0.3; done) |");
  EXPECT_EQ(outcome.code, 0);
  // The terminal hands on what was written in pieces, and a moment later.
  std::string seen;
  for (pollfd waiting{terminal, POLLIN, 0}; ::poll(&waiting, 1, 500) > 0 && (waiting.revents & POLLIN);) {
    char piece[4096];
    const ssize_t size = ::read(terminal, piece, sizeof piece);
    if (size <= 0) break;
    seen.append(piece, static_cast<std::size_t>(size));
  }
  EXPECT_TRUE(contains(seen, "Tokenizing")) << seen;
  EXPECT_TRUE(contains(seen, "B/s")) << seen;
  EXPECT_TRUE(seen.ends_with("\r\x1b[K")) << seen;
  ::close(other_end);
  ::close(terminal);
}

TEST_F(Tokenize, EveryTypeIsTrainedToldAndUsed) {
  for (const std::string type :
       {"bpe", "bpe --letters --eos", "wordpiece", "unigram", "sentencepiece-bpe", "characters", "words"}) {
    const std::string size = type == "bpe" ? "270" : type == "wordpiece" ? "60" : "40";
    const Outcome trained = train("--type " + type + " --vocab-size " + size);
    EXPECT_EQ(trained.code, 0) << type << trained.output;
    EXPECT_TRUE(contains(trained.output, "tokens\nText        3 lines, 71 B")) << trained.output;
    EXPECT_TRUE(contains(trained.output, file("model"))) << trained.output;
    const Outcome ids = tokenize("the men read the book\\n", "--ids");
    EXPECT_EQ(ids.code, 0) << type;
    EXPECT_EQ(tokenize(ids.output.substr(0, ids.output.size() - 1) + "\\n", "--decode").output,
              "the men read the book\n")
        << type;
    std::filesystem::remove_all(folder_ / "model");
  }
}

TEST_F(Tokenize, TrainingSpeaksJsonToo) {
  const Outcome outcome =
      run_attend("train tokenizer --json --vocab-size 270 --input " + file("text") + " --output " + file("model"));
  const json object = json::parse(outcome.output);
  EXPECT_EQ(object.at("type"), "bpe");
  EXPECT_EQ(object.at("tokens"), 270);
  EXPECT_EQ(object.at("lines"), 3);
}

TEST_F(Tokenize, APairOfLanguagesGivesMariansFiles) {
  const Outcome outcome = train("--type unigram --vocab-size 30 --target-input " + file("text"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const char* name : {"source.spm", "target.spm", "vocab.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "model" / name)) << name;
  EXPECT_EQ(tokenize("the book\\n", "--side target").code, 0);
}

TEST_F(Tokenize, TrainingSaysWhatDoesNotGoTogether) {
  EXPECT_EQ(train("--type bpe --target-input " + file("text")).code, 2);
  EXPECT_EQ(train("--type words --letters").code, 2);
  EXPECT_EQ(train("--type bpee").code, 2);
  EXPECT_TRUE(contains(train("--vocab-size 100").output, "expected at least 257"));
  EXPECT_TRUE(contains(train("--vocab-size 5000").output, "warning: the text gives only"));
}

TEST(NestedVerbs, AreListedByTheirParent) {
  const Outcome outcome = run_attend("train --help");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.output, "tokenizer")) << outcome.output;
  const Outcome alone = run_for_errors("train");
  EXPECT_EQ(alone.code, 2);
  EXPECT_TRUE(contains(alone.output, "Usage: attend train")) << alone.output;
}

TEST(NestedVerbs, AnUnknownOneIsToldTheNearest) {
  const Outcome outcome = run_for_errors("train tokenzier");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "there is no verb \"train tokenzier\"; did you mean \"train tokenizer\"?"))
      << outcome.output;
}

}  // namespace
}  // namespace attend
