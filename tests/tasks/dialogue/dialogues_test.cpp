#include "attend/tasks/dialogue/dialogues.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class Dialogues : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// The messages of all dialogues.
  static std::vector<std::string> read(const std::filesystem::path& path, const DialogueFormat& format = {},
                                       const DialoguePart& part = {}) {
    DialogueReader reader(path, format, part);
    std::vector<std::string> all;
    for (Dialogue dialogue; reader.next(dialogue);) all.push_back(dialogue.messages);
    return all;
  }
  test::TempFolder folder_;
};

TEST_F(Dialogues, TurnsOfALineAreThoseOfUserAndAssistant) {
  const auto path = write("a.txt",
                          "Hi ! __eou__ Hello. __eou__Bye.__eou__\t1\t2 1\n"
                          "\n"
                          "__eou__\n"
                          "Alone\r\n");
  EXPECT_EQ(read(path),
            (std::vector<std::string>{R"([{"role":"user","content":"Hi !"},{"role":"assistant","content":"Hello."},)"
                                      R"({"role":"user","content":"Bye."}])",
                                      "[]", R"([{"role":"user","content":"Alone"}])"}));
  EXPECT_EQ(read(write("tabs.txt", "a\tb\n"), {.separator = "\t"}).front(),
            R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])");
  EXPECT_ERROR(DialogueReader(path, {.separator = ""}), "the separator of turns is empty");
}

TEST_F(Dialogues, BothSpeakersAreReadOneAfterTheOther) {
  const auto path = write("a.txt", "a__eou__b__eou__c\nd__eou__e\n");
  EXPECT_EQ(read(path, {.both_speakers = true}),
            (std::vector<std::string>{
                R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}])",
                R"([{"role":"user","content":"b"},{"role":"assistant","content":"c"}])",
                R"([{"role":"user","content":"d"},{"role":"assistant","content":"e"}])"}));
}

TEST_F(Dialogues, TheSameLinesOfParallelFilesAreHeldOut) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + "__eou__x\n";
  const auto path = write("a.txt", text);
  const auto held_out = read(path, {}, {.held_out = 0.1, .training = false}),
             training = read(path, {}, {.held_out = 0.1, .training = true});
  ASSERT_EQ(held_out.size(), 2u);
  EXPECT_EQ(training.size(), 18u);
  EXPECT_NE(held_out[0].find(R"("9")"), std::string::npos);
  EXPECT_NE(held_out[1].find(R"("19")"), std::string::npos);
  EXPECT_EQ(read(path, {}, {.held_out = 0, .training = true}).size(), 20u);
  EXPECT_ERROR(DialogueReader(path, {}, {.held_out = 1}), "below 1");
}

TEST_F(Dialogues, JsonLinesKeepMessagesAndTools) {
  const auto path =
      write("a.jsonl", R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "ü"}, )"
                       R"({"role": "assistant", "content": null, "tool_calls": [{}]}], "tools": [{"x": 1}]})"
                       "\n"
                       R"({"messages": []})"
                       "\n");
  DialogueReader reader(path);
  Dialogue dialogue;
  ASSERT_TRUE(reader.next(dialogue));
  EXPECT_EQ(dialogue.messages, R"([{"role":"system","content":"s"},{"role":"user","content":"ü"},)"
                               R"({"role":"assistant","content":null,"tool_calls":[{}]}])");
  EXPECT_EQ(dialogue.tools, R"([{"x":1}])");
  EXPECT_EQ(dialogue.place, path.string() + ", line 1");
  ASSERT_TRUE(reader.next(dialogue));
  EXPECT_EQ(dialogue.messages, "[]");
  EXPECT_EQ(dialogue.tools, "");
  EXPECT_FALSE(reader.next(dialogue));
}

TEST_F(Dialogues, ABadLineIsReportedWithItsPlace) {
  const auto expect = [&](const std::string& line, const std::string& message) {
    const auto path = write("bad.jsonl", R"({"messages": []})" + ("\n" + line + "\n"));
    EXPECT_ERROR(read(path), "bad.jsonl, line 2");
    EXPECT_ERROR(read(path), message);
  };
  expect(R"({"messages": [{"role": "bot", "content": "x"}]})",
         "the role is not known: got \"bot\", expected system, developer, user, assistant or tool");
  expect(R"({"messages": [{"role": "user"}]})", "has no content");
  expect(R"({"messages": [{"role": "user", "content": 3}]})", "has no content");
  expect(R"({"messages": [{"content": "x"}]})", "role");
  expect(R"({"messages": ["x"]})", "expected an object with");
  expect(R"({"messages": "x"})", "expected a list of messages");
  expect(R"({"text": "x"})", "messages");
  expect("[1]", "expected an object with");
  expect(R"({"messages": [)", "");
  expect(R"({"messages": )" + std::string(1000, '['), "");
}

TEST_F(Dialogues, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(read(write("a.txt", "a\xFF__eou__b\n")).front(),
            "[{\"role\":\"user\",\"content\":\"a\xEF\xBF\xBD\"},{\"role\":\"assistant\",\"content\":\"b\"}]");
  EXPECT_EQ(read(write("a.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"\xC3\"}]}\n")).front(),
            "[{\"role\":\"user\",\"content\":\"\xEF\xBF\xBD\"}]");
}

}  // namespace
}  // namespace attend
