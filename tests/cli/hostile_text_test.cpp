// Control characters from a model's folder do not reach the terminal.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/terminal.h"

namespace attend {
namespace {

using test::contents;
using test::run_attend;
using test::run_for_errors;

/// A classifier whose labels clear the screen.
class HostileText : public testing::Test {
 protected:
  HostileText() {
    std::filesystem::copy(ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels", model());
    std::string config = contents(model() + "/config.json");
    for (const std::string label : {"sport", "weather", "art"})
      for (std::size_t at = 0; (at = config.find('"' + label + '"', at)) != config.npos; at += 20)
        config.replace(at + 1, label.size(), "\\u001b[2J" + label);
    std::ofstream(model() + "/config.json") << config;
  }
  std::string model() const { return (folder_ / "model").string(); }
  test::TempFolder folder_;
};

TEST_F(HostileText, ALabelIsVisibleOnATerminalAndUnchangedInAPipe) {
  test::Terminal terminal({"classify", "-m", model(), "the king is here"});
  ASSERT_EQ(terminal.wait(), 0);
  EXPECT_EQ(terminal.written().find("\x1b[2J"), std::string::npos) << terminal.written();
  EXPECT_NE(terminal.written().find("\\x1B[2J"), std::string::npos) << terminal.written();
  EXPECT_TRUE(run_attend("classify -m " + model() + " 'the king is here'").output.starts_with("\x1b[2J"));
}

TEST_F(HostileText, AnErrorMessageHasNoControlCharactersAndIsShort) {
  std::ofstream(model() + "/config.json") << R"({"model_type": "\u001b[2J)" << std::string(100'000, 'a') << "\"}";
  const test::Outcome outcome = run_for_errors("classify -m " + model() + " x");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.output.find("\\x1B[2J"), std::string::npos);
  EXPECT_LT(outcome.output.size(), 5000u);
}

}  // namespace
}  // namespace attend
