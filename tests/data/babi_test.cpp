#include "attend/data/babi.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class Babi : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::vector<Story> read(const std::string& text) const { return read_stories(write("qa1_x_train.txt", text), 1); }

  test::TempFolder folder_;
};

constexpr const char* kStory =
    "1 Mary moved to the bathroom.\n2 John went to the hallway.\n3 Where is Mary? \tbathroom\t1\n"
    "4 Mary took the milk.\r\n5 What is Mary carrying?\tmilk,apple\t4 1\n\n1 Sam is here.\n2 Where is Sam?\there\t1\n";

TEST_F(Babi, StoriesHaveSentencesQuestionsAnswersAndFacts) {
  const std::vector<Story> stories = read(kStory);
  ASSERT_EQ(stories.size(), 2u);
  EXPECT_EQ(stories[0].task, 1);
  EXPECT_EQ(stories[0].sentences, (std::vector<std::string>{"Mary moved to the bathroom.", "John went to the hallway.",
                                                            "Mary took the milk."}));
  ASSERT_EQ(stories[0].questions.size(), 2u);
  const StoryQuestion &first = stories[0].questions[0], &second = stories[0].questions[1];
  EXPECT_EQ(first.question, "Where is Mary?");
  EXPECT_EQ(first.answer, std::vector<std::string>{"bathroom"});
  EXPECT_EQ(first.sentences, 2u);
  EXPECT_EQ(first.facts, std::vector<std::size_t>{0});
  EXPECT_EQ(second.answer, (std::vector<std::string>{"milk", "apple"}));
  EXPECT_EQ(joined_answer(second.answer), "milk,apple");
  EXPECT_EQ(second.sentences, 3u);
  EXPECT_EQ(second.facts, (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(stories[1].sentences.size(), 1u);
}

TEST_F(Babi, AStoryWithoutAQuestionIsKeptIfOthersHaveQuestions) {
  const std::vector<Story> stories = read("1 Sam is here.\n1 Mary is there.\n2 Where is Mary?\tthere\t1\n");
  ASSERT_EQ(stories.size(), 2u);
  EXPECT_TRUE(stories[0].questions.empty());
}

TEST_F(Babi, BadFilesAreErrorsWithFileAndLine) {
  EXPECT_ERROR(read(""), "qa1_x_train.txt: has no questions");
  EXPECT_ERROR(read("1 Mary is here.\n"), "has no questions");
  EXPECT_ERROR(read("1 Mary is here.\nhello\n"), "line 2: expected a number, a space and a sentence: got \"hello\"");
  EXPECT_ERROR(read("2 Mary is here.\n"), "line 1: the first line of a story has the number 1: got 2");
  EXPECT_ERROR(read("1 Where is Mary?\there\t1\n"), "line 1: a question needs sentences of a story before it");
  EXPECT_ERROR(read("1 Mary is here.\n2 Where is Mary?\t\n3 Where?\t \t1\n"), "a question needs its text");
  EXPECT_ERROR(read("1 Mary is here.\n2 Where is Mary?\there\t9\n"), "line 2: supporting facts are numbers");
  EXPECT_ERROR(read("1 Mary is here.\n2 Where is Mary?\there\tx\n"), "got \"x\"");
  EXPECT_THROW(read("1\n"), InputError);
  EXPECT_THROW(read_stories(folder_ / "missing.txt", 1), InputError);
}

TEST_F(Babi, FilesAreFoundByTaskAlsoInSubfolders) {
  write("tasks/en/qa1_single_train.txt", kStory), write("tasks/en/qa1_single_test.txt", kStory);
  write("tasks/en/qa12_more_train.txt", kStory), write("tasks/en/readme.txt", ""), write("tasks/en/qa_train.txt", "");
  write("tasks/en-10k/qa1_single_train.txt", kStory);
  const std::vector<StoryFiles> files = find_story_files({folder_.path()});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].task, 1);
  EXPECT_EQ(files[0].train, folder_ / "tasks/en/qa1_single_train.txt");
  EXPECT_EQ(files[0].test, folder_ / "tasks/en/qa1_single_test.txt");
  EXPECT_EQ(files[1].task, 12);
  EXPECT_TRUE(files[1].test.empty());
}

TEST_F(Babi, ASecondFolderProvidesWhatTheFirstLacks) {
  write("a/qa1_x_train.txt", kStory), write("a/qa3_x_test.txt", kStory);
  write("b/qa1_x_train.txt", kStory), write("b/qa3_x_train.txt", kStory);
  const std::vector<StoryFiles> files = find_story_files({folder_ / "a", folder_ / "b"});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].train, folder_ / "a/qa1_x_train.txt");
  EXPECT_EQ(files[1].train, folder_ / "b/qa3_x_train.txt");
  EXPECT_EQ(files[1].test, folder_ / "a/qa3_x_test.txt");
}

TEST_F(Babi, MissingFoldersFilesAndTasksAreErrors) {
  EXPECT_ERROR(find_story_files({folder_ / "none"}), "there is no such folder");
  EXPECT_ERROR(find_story_files({folder_.path()}), "has no files of stories");
  write("x/hn/qa1_x_train.txt", kStory), write("x/hn-10k/qa1_x_train.txt", kStory);
  EXPECT_ERROR(find_story_files({folder_.path()}), "several folders in it have stories; choose one of");
  write("y/qa1_x_train.txt", kStory), write("y/qa3_x_test.txt", kStory);
  const std::vector<StoryFiles> files = find_story_files({folder_ / "y"});
  EXPECT_ERROR(choose_tasks(files, {2}), "there are no files of task 2; the folder has the tasks 1, 3");
  EXPECT_ERROR(choose_tasks(files, {}), "task 3 has no training file: expected qa3_…_train.txt");
  EXPECT_ERROR(choose_tasks(files, {1}, true, true), "task 1 has no test file");
  EXPECT_EQ(choose_tasks(files, {1, 1}).size(), 1u);
}

}  // namespace
}  // namespace attend
