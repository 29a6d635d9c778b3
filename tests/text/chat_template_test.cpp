// Chat templates: prompts equal to those of transformers (tests/golden/chat_templates.py), errors with their place, and
// templates that want too much.
#include "attend/text/chat_template.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

std::string rendered(const std::string& source, const std::string& arguments = "") {
  return ChatTemplate(source).render(
      {.messages = R"([{"role": "user", "content": "Hi"}])", .arguments = arguments, .generation_prompt = false});
}

TEST(ChatTemplate, GivesThePromptsOfTransformers) {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/text/fixtures/chat_templates.json");
  const Json golden = Json::parse(file);
  ChatInput input{
      .messages = golden["messages"].dump(), .tools = golden["tools"].dump(), .arguments = golden["arguments"].dump()};
  std::tm now{};
  std::istringstream(golden["now"].get<std::string>()) >> std::get_time(&now, "%Y-%m-%d %H:%M:%S");
  now.tm_isdst = -1;
  input.now = std::mktime(&now);
  int prompts = 0;
  for (const auto& [name, one] : golden["cases"].items()) {
    const std::string source = one["template"];
    if (one.contains("prompt")) {
      EXPECT_EQ(ChatTemplate(source).render(input), one["prompt"].get<std::string>()) << name;
      ++prompts;
    } else {
      EXPECT_THROW(ChatTemplate(source).render(input), InputError) << name;
    }
  }
  EXPECT_GT(prompts, 30);
}

TEST(ChatTemplate, NamesThePlaceOfAnError) {
  EXPECT_ERROR(rendered("a\nb {{ messages[0].nothing.x }}"), "[template] chat template:2:25: 'dict object' has no");
  EXPECT_ERROR(rendered("{{ raise_exception('é no') }}"), "chat template:1:19: é no");
  EXPECT_ERROR(rendered("é{% if true %}"), "1:15: the template ends where \"endif\" was expected");
  EXPECT_ERROR(rendered("{{ 'x' | unknown }}"), "there is no filter \"unknown\"");
  EXPECT_ERROR(rendered("{{ 9223372036854775807 + 1 }}"), "larger than 64 bits");
}

TEST(ChatTemplate, HostileTemplatesEndWithAnError) {
  const std::string loops = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
  EXPECT_ERROR(rendered(loops), "the template ");
  EXPECT_ERROR(rendered("{{ 'a' * 99999999999 }}"), "too much text");
  EXPECT_ERROR(rendered("{{ [1] * 99999999999 }}"), "too much text");
  EXPECT_ERROR(
      rendered("{% set n = namespace(t='aaaaaaaa') %}{% for i in range(99) %}{% set n.t = n.t + n.t %}{% endfor %}"),
      "too much text");
  EXPECT_ERROR(rendered("{% set n = namespace(t=[]) %}{% for i in range(999) %}{% set n.t = [n.t] %}{% endfor %}"),
               "nested deeper");
  EXPECT_ERROR(
      rendered("{% set n = namespace(t='') %}{% for i in range(999) %}{% set n.t = cycler(n.t) %}{% endfor %}"),
      "nested deeper");
  EXPECT_ERROR(
      rendered("{% set n = namespace(t=[1]) %}{% for i in range(60) %}{% set n.t = [n.t, n.t] %}{% endfor %}{{ n.t }}"),
      "too ");
  EXPECT_ERROR(rendered("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "too deep");
  EXPECT_ERROR(rendered("{{ '%999999d' % 1 }}"), "wider than");
  EXPECT_ERROR(rendered("{{ '{:>999999}'.format(1) }}"), "wider than");
  EXPECT_ERROR(rendered("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}"), "nested too deep");
  EXPECT_ERROR(rendered("{{ " + std::string(5000, '-') + "1 }}"), "nested too deep");
  std::string sum = "1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  EXPECT_ERROR(rendered("{{ " + sum + " }}"), "nested too deep");
  EXPECT_ERROR(rendered(std::string((1 << 20) + 1, 'x')), "more than 1 MB");
}

TEST(ChatTemplate, ValuesThatHoldThemselvesAreFreed) {
  EXPECT_EQ(rendered("{% set n = namespace() %}{% set n.n = n %}{% set n.l = [n] %}{% macro m() %}x{% endmacro %}"
                     "{% set n.m = m %}{% for i in range(2) %}{% macro k() %}{{ i }}{% endmacro %}{% set n.k = k %}"
                     "{% set n.loop = loop %}{% endfor %}{{ n.n.n.m() }}{{ n.k() }}"),
            "x1");
}

TEST(ChatTemplate, ContinuesTheLastMessage) {
  const ChatTemplate chat("{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}");
  const auto continued = [&](const std::string& content) {
    return chat.render({.messages = R"([{"role": "assistant", "content": )" + Json(content).dump() + "}]",
                        .generation_prompt = false,
                        .continue_final_message = true});
  };
  EXPECT_EQ(continued("Well"), "<assistant>Well");
  EXPECT_EQ(continued("Well, "), "<assistant>Well,");
  EXPECT_ERROR(ChatTemplate("x").render({.messages = R"([{"role": "user", "content": "a"}])",
                                         .generation_prompt = false,
                                         .continue_final_message = true}),
               "cannot be continued");
}

TEST(ChatTemplate, RefusesInputThatIsNoConversation) {
  const ChatTemplate chat("{{ messages | length }}");
  EXPECT_ERROR(chat.render({.messages = "{}"}), "messages: got an object, expected a list");
  EXPECT_ERROR(chat.render({.messages = "[1]"}), "messages: [0]: got 1, expected an object");
  EXPECT_ERROR(chat.render({.messages = "["}), "is not valid JSON");
  EXPECT_ERROR(chat.render({.messages = ""}), "expected a list");
  EXPECT_ERROR(chat.render({.messages = "[]", .tools = "[\"x\"]"}), "tools: [0]");
  EXPECT_ERROR(chat.render({.messages = "[]", .arguments = "[]"}), "arguments of the template: got a list");
}

/// A folder with templates.
class TemplateFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string prompt(const std::string& tools = "") const {
    return ChatTemplate::of_folder(folder_.path()).value().render({.messages = "[]", .tools = tools});
  }
  const test::TempFolder folder_;
};

TEST_F(TemplateFolder, ReadsATemplateOfTheConfiguration) {
  EXPECT_FALSE(ChatTemplate::of_folder(folder_.path()));
  write(
      "tokenizer_config.json",
      R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}"})");
  EXPECT_EQ(prompt(), "<s>|</s>|");
  write("chat_template.jinja", "file {{ bos_token }}");
  EXPECT_EQ(prompt(), "file <s>");
}

TEST_F(TemplateFolder, ReadsNamedTemplates) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})");
  EXPECT_EQ(prompt(), "d");
  EXPECT_EQ(prompt("[]"), "t");
  write("chat_template.jinja", "D");
  write("additional_chat_templates/tool_use.jinja", "T");
  EXPECT_EQ(prompt(), "D");
  EXPECT_EQ(prompt("[]"), "T");
}

TEST_F(TemplateFolder, ATemplateThatIsNotValidIsNamed) {
  write("chat_template.jinja", "{{");
  EXPECT_ERROR(prompt(), "chat_template.jinja:1:1: the tag does not end");
  write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  std::filesystem::remove(folder_ / "chat_template.jinja");
  EXPECT_ERROR(prompt(), "none with the name \"default\"");
}

}  // namespace
}  // namespace attend
