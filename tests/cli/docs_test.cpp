// The README and docs/ hold true: every flag that they mention exists, and the commands of their console blocks print
// what the blocks show.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ATTEND_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> files = {kSource / "README.md", kSource / "bench/README.md"};
  for (const fs::directory_entry& entry : fs::directory_iterator(kSource / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string name_of(const fs::path& file) { return fs::relative(file, kSource).string(); }

/// A piece of code in a document: a line of a block (with the lines that a backslash joins to it), or `inline` code.
struct Code {
  std::string language, text;  // the language behind the block's ```; "inline", or "" for an indented block
  int line = 0, block = 0;
};

std::vector<Code> code_of(const fs::path& file) {
  std::vector<Code> all;
  std::ifstream in(file);
  std::string fence, language;
  int number = 0, block = 0;
  bool joined = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("```")) {
      fence = fence.empty() ? "```" : "";
      language = line.substr(3), joined = false, ++block;
      continue;
    }
    const bool indented = fence.empty() && line.starts_with("    ");
    if (!fence.empty() || indented) {
      if (indented) line.erase(0, 4);
      if (joined)
        all.back().text += line;
      else
        all.push_back({fence.empty() ? "" : language, line, number, block});
      joined = line.ends_with('\\');
      if (joined) all.back().text.pop_back();
      continue;
    }
    ++block;  // indented blocks end at the first other line
    static const std::regex inline_code("`([^`]+)`");
    for (std::sregex_iterator at(line.begin(), line.end(), inline_code), end; at != end; ++at)
      all.push_back({"inline", (*at)[1], number, block});
  }
  return all;
}

/// The words of a shell command; quotes keep a text together. Ends at a pipe, a semicolon or a comment.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char c : command) {
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ') {
      end_word();
    } else if (c == '|' || c == ';' || c == '&' || c == ')' || (c == '#' && word.empty())) {
      break;
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

const std::string& help_of(const std::string& verb) {
  static std::map<std::string, std::string> known;
  if (!known.contains(verb)) {
    const test::Outcome outcome = test::run_attend(verb + " --help");
    known[verb] = outcome.code == 0 ? outcome.output : "";
  }
  return known[verb];
}

bool has_flag(const std::string& help, const std::string& flag) {
  for (std::size_t at = help.find(flag); at != std::string::npos; at = help.find(flag, at + 1)) {
    const char after = at + flag.size() < help.size() ? help[at + flag.size()] : ' ';
    const char before = at > 0 ? help[at - 1] : ' ';
    if (before != '-' && !std::isalnum(static_cast<unsigned char>(after)) && after != '-') return true;
  }
  return false;
}

/// "--beam" of "--beam=4,".
std::string flag_in(const std::string& word) {
  static const std::regex flag("^(--[a-z][a-z0-9-]*[a-z0-9])");
  std::smatch match;
  return std::regex_search(word, match, flag) ? match[1].str() : "";
}

const std::vector<std::string>& verbs() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    const auto children = [](const std::string& verb) {
      std::vector<std::string> names;
      static const std::regex row("^  ([a-z][a-z-]+)  +[A-Z].*");
      for (const std::string& line : test::lines_of(help_of(verb)))
        if (std::smatch match; std::regex_match(line, match, row)) names.push_back(match[1]);
      return names;
    };
    for (const std::string& verb : children("")) {
      found.push_back(verb);
      for (const std::string& child : children(verb)) found.push_back(verb + " " + child);
    }
    return found;
  }();
  return all;
}

/// Checks each call of the program in a line of code. Returns how many there are.
int check_calls(const Code& code, const std::string& where) {
  int calls = 0;
  static const std::regex call("(^|[ |(/])attend ([a-z][a-z-]*)");
  for (std::sregex_iterator at(code.text.begin(), code.text.end(), call), end; at != end; ++at) {
    const std::vector<std::string> words = words_of(code.text.substr(static_cast<std::size_t>(at->position(2))));
    if (words.empty()) continue;
    std::string verb = words[0];
    if (words.size() > 1 && std::ranges::find(verbs(), verb + " " + words[1]) != verbs().end()) verb += " " + words[1];
    if (std::ranges::find(verbs(), verb) == verbs().end()) {
      // Without flags, inline code may be a sentence about attend.
      const bool sentence = code.language == "inline" &&
                            std::ranges::all_of(words, [](const std::string& word) { return flag_in(word).empty(); });
      EXPECT_TRUE(sentence) << where << ": there is no verb \"" << verb << "\": " << code.text;
      continue;
    }
    ++calls;
    for (const std::string& word : words)
      if (const std::string flag = flag_in(word); !flag.empty()) {
        EXPECT_TRUE(has_flag(help_of(verb), flag) || has_flag(help_of(""), flag))
            << where << ": attend " << verb << " has no flag " << flag << ": " << code.text;
      }
  }
  return calls;
}

TEST(Docs, EveryFlagThatACommandShowsIsInTheHelpOfItsVerb) {
  ASSERT_GE(verbs().size(), 25u);
  int calls = 0;
  for (const fs::path& file : documents())
    for (const Code& code : code_of(file)) calls += check_calls(code, name_of(file) + ":" + std::to_string(code.line));
  EXPECT_GE(calls, 60);
}

TEST(Docs, EveryFlagThatTheTextNamesIsInTheHelpOfSomeVerb) {
  std::string all = help_of("");
  for (const std::string& verb : verbs()) all += help_of(verb);
  int flags = 0;
  for (const fs::path& file : documents()) {
    if (file.parent_path().filename() == "bench") continue;  // the flags of its scripts
    for (const Code& code : code_of(file)) {
      if (code.language != "inline" || !code.text.starts_with("--")) continue;
      for (const std::string& word : words_of(code.text))
        if (const std::string flag = flag_in(word); !flag.empty()) {
          ++flags;
          EXPECT_TRUE(has_flag(all, flag)) << name_of(file) << ":" << code.line << ": no verb has the flag " << flag;
        }
    }
  }
  EXPECT_GE(flags, 100);
}

TEST(Docs, EveryLinkLeadsToAFile) {
  static const std::regex link("\\]\\(([^)#]+)(#[^)]*)?\\)");
  for (const fs::path& file : documents()) {
    const std::string text = test::contents(file);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
      if (const std::string target = (*at)[1]; target.find("://") == std::string::npos) {
        EXPECT_TRUE(fs::exists(file.parent_path() / target)) << name_of(file) << ": " << target;
      }
  }
}

/// One name has one meaning in the whole program. Two meanings mostly take two kinds of values, which the help names:
/// `--from DIR` and `--from LANGUAGE`.
TEST(Docs, AFlagTakesTheSameKindOfValueInEveryVerb) {
  // What these take depends on the verb: a file, a folder or either; a folder with or without a name; a file or none;
  // the memory of the computer or that of a network.
  const std::vector<std::string> several = {"--output", "--model", "--adapter", "--attention", "--memory"};
  static const std::regex row(
      "^  (?:-[a-z], )?(--[a-z][a-z0-9-]*)(?:, --[a-z-]+)*(?: ([^ .]+))?(?: \\.\\.\\.)?(?:,.*|  .*|)$");
  std::map<std::string, std::map<std::string, std::string>> kinds;  // of each flag: the kind, and a verb that takes it
  for (const std::string& verb : verbs())
    for (const std::string& line : test::lines_of(help_of(verb)))
      if (std::smatch match; std::regex_match(line, match, row)) kinds[match[1]].emplace(match[2], verb);
  EXPECT_GT(kinds.size(), 100u);
  for (const auto& [flag, found] : kinds)
    if (std::ranges::find(several, flag) == several.end()) {
      std::string all;
      for (const auto& [kind, verb] : found) all += "\n  attend " + verb + " " + flag + " " + kind;
      EXPECT_EQ(found.size(), 1u) << flag << " has several meanings:" << all;
    }
}

/// Whether a line is as shown; "…" stands for any text.
bool matches(const std::string& line, const std::string& shown) {
  static const std::string any = "…";
  std::size_t at = 0, from = 0;
  for (std::size_t mark; (mark = shown.find(any, from)) != std::string::npos; from = mark + any.size()) {
    const std::string part = shown.substr(from, mark - from);
    at = from == 0 ? (line.starts_with(part) ? 0 : std::string::npos) : line.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  const std::string rest = shown.substr(from);
  return from == 0 ? line == shown : line.size() >= at + rest.size() && line.ends_with(rest);
}

/// Whether an output is as shown; a line "…" stands for any lines.
bool matches(const std::vector<std::string>& lines, const std::vector<std::string>& shown, std::size_t l = 0,
             std::size_t s = 0) {
  for (; s < shown.size(); ++l, ++s) {
    if (shown[s] == "…") {
      for (std::size_t from = l; from <= lines.size(); ++from)
        if (matches(lines, shown, from, s + 1)) return true;
      return false;
    }
    if (l >= lines.size() || !matches(lines[l], shown[s])) return false;
  }
  return l == lines.size();
}

/// Runs the commands of a document's console blocks ("$ command", with the output below it), one after the other, in
/// one empty folder. A command without output may print anything; all must succeed.
class ConsoleBlocks : public testing::TestWithParam<fs::path> {};

TEST_P(ConsoleBlocks, PrintWhatTheyShow) {
  const test::TempFolder folder;
  fs::create_directories(folder / "work"), fs::create_directories(folder / "bin");
  fs::create_symlink(ATTEND_PROGRAM, folder / "bin" / "attend");
  const std::vector<Code> code = code_of(GetParam());
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].language != "console" || !code[i].text.starts_with("$ ")) continue;
    const std::string command = code[i].text.substr(2);
    std::vector<std::string> shown;
    for (std::size_t j = i + 1; j < code.size() && code[j].block == code[i].block && !code[j].text.starts_with("$ ");
         ++j)
      if (code[j].language == "console") shown.push_back(code[j].text);
    while (!shown.empty() && shown.back().empty()) shown.pop_back();
    std::ofstream(folder / "step.sh") << "set -e\ncd " << (folder / "work").string()
                                      << "\nPATH=" << (folder / "bin").string() << ":$PATH\n"
                                      << command << '\n';
    const test::Outcome outcome = test::run_shell("bash " + (folder / "step.sh").string() + " 2>/dev/null");
    const std::string where = name_of(GetParam()) + ":" + std::to_string(code[i].line) + ": " + command;
    ASSERT_EQ(outcome.code, 0) << where << '\n' << outcome.output;
    // The demo marks its mistakes. Rounding differs between processors, so that one of its twelve sentences may be
    // wrong.
    const std::string mistake = "(should be: ";
    const std::size_t first = outcome.output.find(mistake);
    EXPECT_TRUE(first == std::string::npos || outcome.output.find(mistake, first + 1) == std::string::npos)
        << outcome.output;
    EXPECT_TRUE(shown.empty() || matches(test::lines_of(outcome.output), shown)) << where << '\n' << outcome.output;
  }
}

std::vector<fs::path> with_console_blocks() {
  std::vector<fs::path> files = documents();
  std::erase_if(files, [](const fs::path& file) { return !test::contains(test::contents(file), "```console"); });
  return files;
}

INSTANTIATE_TEST_SUITE_P(Docs, ConsoleBlocks, testing::ValuesIn(with_console_blocks()), [](const auto& test_case) {
  std::string name = test_case.param.parent_path().filename().string() == "docs" ? "docs_" : "";
  for (const char c : test_case.param.stem().string()) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(Docs, AnOutputMatchesWhatIsShownUpToEllipses) {
  EXPECT_TRUE(matches("BLEU 98.7.", "BLEU ….") && matches("a b c", "a … c") && matches("abc", "abc"));
  EXPECT_FALSE(matches("BLEU 98.7", "BLEU ….") || matches("abc", "ab") || matches("x b c", "a … c"));
  using Lines = std::vector<std::string>;
  EXPECT_TRUE(matches(Lines{"1", "2", "3", "4"}, Lines{"1", "…", "4"}) && matches(Lines{}, Lines{"…"}));
  EXPECT_FALSE(matches(Lines{"1", "2"}, Lines{"1"}) || matches(Lines{"1", "2"}, Lines{"…", "3"}));
}

}  // namespace
}  // namespace attend
