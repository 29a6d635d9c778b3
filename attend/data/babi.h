// Reads the stories of the bAbI tasks (Weston et al. 2015). A line is a number, a space and a sentence, or a number, a
// space, a question, a tab, the answer, a tab and the numbers of the supporting facts. The number 1 begins a new story:
//
//   1 Mary moved to the bathroom.
//   2 John went to the hallway.
//   3 Where is Mary?<TAB>bathroom<TAB>1
//
// An answer of several words has commas between them: "s,e".
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace attend {

struct StoryQuestion {
  std::string question;             ///< "Where is Mary?"
  std::vector<std::string> answer;  ///< its words, at least one
  std::size_t sentences = 0;        ///< the number of sentences of the story that come before the question
  std::vector<std::size_t> facts;   ///< indices of the sentences that give the answer
};

struct Story {
  int task = 0;
  std::vector<std::string> sentences;
  std::vector<StoryQuestion> questions;
};

/// The words of an answer with commas between them, as in the files.
std::string joined_answer(const std::vector<std::string>& words);

/// Reads a file. A story without questions is kept, since the published files have such stories. Throws InputError,
/// with file and line, for a line of another form, for a question without an answer or without sentences before it, and
/// for a file without questions.
std::vector<Story> read_stories(const std::filesystem::path& file, int task);

/// The files of one task: qaN_NAME_train.txt and qaN_NAME_test.txt.
struct StoryFiles {
  int task = 0;
  std::filesystem::path train, test;  ///< empty: there is no such file
};
/// The files of all tasks in some folders, by task. If several folders have a file, the first one counts, so that a
/// folder can complete another. If a folder has no such files, its subfolders are searched; if several of them have
/// files, "en" is used. Throws InputError if a folder does not exist, if there are no files, and if it is not clear
/// which subfolder is meant.
std::vector<StoryFiles> find_story_files(const std::vector<std::filesystem::path>& folders);

/// The files of the chosen tasks; of all tasks that have a training file if `tasks` is empty. Throws InputError for a
/// task that is not among the files, and for a chosen task without a training file, or without a test file if `test`.
std::vector<StoryFiles> choose_tasks(const std::vector<StoryFiles>& files, const std::vector<int>& tasks,
                                     bool train = true, bool test = false);

}  // namespace attend
