#include "attend/data/babi.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/data/text_stream.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty()) parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

/// The whole text as a number of at most six digits.
std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > 999'999) return {};
  return number;
}

/// Reads the lines of one file.
class StoryParser {
 public:
  StoryParser(const fs::path& file, int task) : stream_(TextStream::open(file)), task_(task) {}

  std::vector<Story> all() {
    for (std::string line; stream_.line(line);)
      if (!trimmed(line).empty()) add(line);
    if (std::ranges::all_of(stories_, [](const Story& story) { return story.questions.empty(); }))
      fail<InputError>("stories", stream_.name(), ": has no questions; a question is a line such as ",
                       "\"3 Where is Mary?<TAB>bathroom<TAB>1\"");
    return std::move(stories_);
  }

 private:
  void add(std::string_view line) {
    const std::string_view text = trimmed(line);
    const std::size_t space = text.find(' ');
    const std::optional<int> number = number_of(text.substr(0, space));
    if (!number || *number < 1 || space == text.npos)
      refuse("expected a number, a space and a sentence: got \"" + std::string(text.substr(0, 60)) + "\"");
    if (*number == 1) {
      stories_.push_back({.task = task_, .sentences = {}, .questions = {}});
      numbers_.clear();
    }
    if (stories_.empty()) refuse("the first line of a story has the number 1: got " + std::to_string(*number));
    const std::string_view rest = trimmed(text.substr(space));
    if (const std::size_t tab = rest.find('\t'); tab != rest.npos) {
      add_question(rest.substr(0, tab), rest.substr(tab + 1));
    } else {
      numbers_[*number] = stories_.back().sentences.size();
      stories_.back().sentences.emplace_back(rest);
    }
  }

  void add_question(std::string_view question, std::string_view rest) {
    Story& story = stories_.back();
    const std::size_t tab = rest.find('\t');
    StoryQuestion added{.question = std::string(trimmed(question)),
                        .answer = split_at(rest.substr(0, tab), ','),
                        .sentences = story.sentences.size(),
                        .facts = {}};
    if (added.question.empty() || added.answer.empty()) refuse("a question needs its text, a tab and an answer");
    if (story.sentences.empty()) refuse("a question needs sentences of a story before it");
    if (tab != rest.npos)
      for (const std::string& fact : split_at(rest.substr(tab + 1), ' ')) {
        const std::optional<int> number = number_of(fact);
        const auto found = number ? numbers_.find(*number) : numbers_.end();
        if (found == numbers_.end())
          refuse("supporting facts are numbers of sentences before the question: got \"" + fact + "\"");
        added.facts.push_back(found->second);
      }
    story.questions.push_back(std::move(added));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail<InputError>("stories", stream_.name(), ", line ", stream_.lines(), ": ", why);
  }

  TextStream stream_;
  int task_;
  std::vector<Story> stories_;
  std::map<int, std::size_t> numbers_;  // the sentences of the current story, by the numbers of their lines
};

struct FileName {
  int task = 0;
  bool test = false;
};
/// qaN_NAME_train.txt, qaN_train.txt, and the same with "test".
std::optional<FileName> parse_name(std::string_view name) {
  if (!name.starts_with("qa")) return {};
  const bool train = name.ends_with("_train.txt"), test = name.ends_with("_test.txt");
  const std::optional<int> task = number_of(name.substr(2, name.find('_') - 2));
  if (!task || *task < 1 || (!train && !test)) return {};
  return FileName{*task, test};
}

using ByTask = std::map<int, StoryFiles>;

ByTask files_in(const fs::path& folder) {
  ByTask all;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths)
    if (const auto name = parse_name(path.filename().string())) {
      StoryFiles& files = all[name->task];
      files.task = name->task;
      (name->test ? files.test : files.train) = path;
    }
  return all;
}

/// The files of a folder, or of the subfolder that is meant.
ByTask files_below(const fs::path& folder) {
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown))
    fail<InputError>("stories", folder.string(), ": there is no such folder; expected one with files such as ",
                     "qa1_single-supporting-fact_train.txt");
  if (ByTask here = files_in(folder); !here.empty()) return here;
  std::vector<fs::path> found;
  auto entries = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
  for (const auto& entry : entries) {
    if (entries.depth() >= 2) entries.disable_recursion_pending();
    if (entry.is_directory(unknown) && !files_in(entry.path()).empty()) found.push_back(entry.path());
  }
  if (found.empty())
    fail<InputError>("stories", folder.string(),
                     ": has no files of stories, such as qa1_single-supporting-fact_train.txt");
  std::ranges::sort(found);
  const auto english = std::ranges::find(found, "en", [](const fs::path& path) { return path.filename(); });
  if (found.size() > 1 && english == found.end()) {
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const fs::path& path : found) names.push_back(path.string());
    fail<InputError>("stories", folder.string(), ": several folders in it have stories; choose one of ", listed(names));
  }
  return files_in(english == found.end() ? found.front() : *english);
}

}  // namespace

std::string joined_answer(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ",") + word;
  return joined;
}

std::vector<Story> read_stories(const fs::path& file, int task) { return StoryParser(file, task).all(); }

std::vector<StoryFiles> find_story_files(const std::vector<fs::path>& folders) {
  ByTask all;
  for (const fs::path& folder : folders)
    for (const auto& [task, files] : files_below(folder)) {
      StoryFiles& known = all[task];
      known.task = task;
      if (known.train.empty()) known.train = files.train;
      if (known.test.empty()) known.test = files.test;
    }
  if (all.empty()) fail<InputError>("stories", "no folder with stories is given");
  std::vector<StoryFiles> list;
  for (const auto& [task, files] : all) list.push_back(files);
  return list;
}

std::vector<StoryFiles> choose_tasks(const std::vector<StoryFiles>& files, const std::vector<int>& tasks, bool train,
                                     bool test) {
  std::vector<StoryFiles> chosen;
  std::vector<std::string> known;
  known.reserve(files.size());
  for (const StoryFiles& one : files) known.push_back(std::to_string(one.task));
  for (const int task : tasks) {
    const auto found = std::ranges::find(files, task, &StoryFiles::task);
    if (found == files.end())
      fail<InputError>("stories", "there are no files of task ", task, "; the folder has the tasks ", listed(known));
    if (std::ranges::find(chosen, task, &StoryFiles::task) == chosen.end()) chosen.push_back(*found);
  }
  if (tasks.empty()) chosen = files;
  for (const StoryFiles& one : chosen) {
    if (train && one.train.empty())
      fail<InputError>("stories", "task ", one.task, " has no training file: expected qa", one.task,
                       "_…_train.txt beside ", one.test.string(), "; choose other tasks, or name a second folder");
    if (test && one.test.empty())
      fail<InputError>("stories", "task ", one.task, " has no test file: expected qa", one.task, "_…_test.txt beside ",
                       one.train.string());
  }
  return chosen;
}

}  // namespace attend
