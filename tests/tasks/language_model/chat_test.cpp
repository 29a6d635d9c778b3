// Conversations with a chat template: prompts that fit, special tokens that are typed, and calls of tools.
#include "attend/tasks/language_model/chat.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/text/tokenizer.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer one = load_tokenizer(ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer");
  return one;
}
const ChatTemplate& chat() {
  static const ChatTemplate one(
      "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}<|endoftext|>{% endfor %}{% if add_generation_prompt "
      "%}a:{% endif %}");
  return one;
}
std::string message(const std::string& role, const std::string& content) {
  return R"({"role": ")" + role + R"(", "content": ")" + content + "\"}";
}

TEST(ChatPrompt, OldTurnsLeaveAndTheSystemMessageStays) {
  std::string messages = "[" + message("system", "be");
  for (int turn = 0; turn < 20; ++turn) {
    messages += ", " + message("user", "u" + std::to_string(turn));
    if (turn < 19) messages += ", " + message("assistant", "r" + std::to_string(turn));
  }
  messages += "]";
  const ChatPrompt all = chat_prompt(chat(), tokenizer(), {.messages = messages}, 1000);
  EXPECT_EQ(all.dropped, 0u);
  const auto size = std::ssize(all.ids);
  for (const std::int64_t most : {size, size - 1, size / 2, std::int64_t{30}}) {
    const ChatPrompt prompt = chat_prompt(chat(), tokenizer(), {.messages = messages}, most);
    EXPECT_LE(std::ssize(prompt.ids), most);
    EXPECT_EQ(prompt.dropped % 2, 0u);
    EXPECT_EQ(prompt.dropped == 0, most == size);
    EXPECT_TRUE(prompt.text.starts_with("s:be<|endoftext|>u:")) << prompt.text;
    EXPECT_TRUE(prompt.text.ends_with("u:u19<|endoftext|>a:")) << prompt.text;
    // One turn more would not have fitted.
    if (prompt.dropped > 0) {
      EXPECT_GT(std::ssize(prompt.ids) + 12, most);
    }
  }
  EXPECT_EQ(chat_prompt(chat(), tokenizer(), {.messages = messages}, 1).dropped, 38u);  // the last turn stays
}

TEST(ChatPrompt, SpecialTokensOfTheTemplateAreIdsAndTypedOnesAreText) {
  const std::int32_t end = tokenizer().special().eos.value();
  const ChatPrompt prompt =
      chat_prompt(chat(), tokenizer(), {.messages = "[" + message("user", "x<|endoftext|>y") + "]"}, 1000);
  EXPECT_EQ(std::ranges::count(prompt.ids, end), 1);
  EXPECT_EQ(prompt.text, "u:x<|endoftext|>y<|endoftext|>a:");
  EXPECT_EQ(tokenizer().decode(prompt.ids, /*skip_special=*/false), prompt.text);
  // What the assistant has said is the model's own.
  const ChatPrompt own =
      chat_prompt(chat(), tokenizer(), {.messages = "[" + message("assistant", "<|endoftext|>") + "]"}, 1000);
  EXPECT_EQ(std::ranges::count(own.ids, end), 2);
}

TEST(ChatPrompt, TheTokenAfterAReplyEndsIt) {
  EXPECT_EQ(end_of_reply(chat(), tokenizer()), tokenizer().special().eos);
  EXPECT_EQ(end_of_reply(ChatTemplate("{{ messages[0].content }}"), tokenizer()), std::nullopt);
  EXPECT_EQ(end_of_reply(ChatTemplate("{{ raise_exception('no') }}"), tokenizer()), std::nullopt);
}

/// The replies of all examples, as text, and how many tokens come before each.
std::vector<std::string> replies_of(const std::vector<ChatExample>& examples) {
  std::vector<std::string> texts;
  for (const ChatExample& example : examples)
    for (const Span& reply : example.replies)
      texts.push_back(tokenizer().decode(
          std::span(example.ids)
              .subspan(static_cast<std::size_t>(reply.begin), static_cast<std::size_t>(reply.end - reply.begin)),
          /*skip_special=*/false));
  return texts;
}

TEST(ChatExamples, HaveTheRepliesWithTheTokenThatEndsThem) {
  const std::string talk = "[" + message("system", "s") + ", " + message("user", "one<|endoftext|>") + ", " +
                           message("assistant", "two") + ", " + message("user", "three") + ", " +
                           message("assistant", "four five") + ", " + message("user", "six") + "]";
  const std::vector<ChatExample> examples = chat_examples(chat(), tokenizer(), {.messages = talk}, 1000);
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(replies_of(examples), (std::vector<std::string>{"two<|endoftext|>", "four five<|endoftext|>"}));
  EXPECT_EQ(tokenizer().decode(examples[0].ids, false),
            "s:s<|endoftext|>u:one<|endoftext|><|endoftext|>a:two<|endoftext|>u:three<|endoftext|>"
            "a:four five<|endoftext|>u:six<|endoftext|>");
  EXPECT_EQ(std::ranges::count(examples[0].ids, tokenizer().special().eos.value()), 6);  // what was typed is text
  EXPECT_FALSE(examples[0].cut);
  EXPECT_TRUE(chat_examples(chat(), tokenizer(), {.messages = "[" + message("user", "x") + "]"}, 1000).empty());
}

TEST(ChatExamples, WhatFollowsTheEndOfAReplyIsNotLearned) {
  const ChatTemplate lines(
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}<|endoftext|>\n{% endfor %}{% if add_generation_prompt "
      "%}<assistant>{% endif %}");
  const std::string talk = "[" + message("user", "a") + ", " + message("assistant", "b") + ", " + message("user", "c") +
                           ", " + message("assistant", "d") + "]";
  EXPECT_EQ(replies_of(chat_examples(lines, tokenizer(), {.messages = talk}, 1000)),
            (std::vector<std::string>{"b<|endoftext|>", "d<|endoftext|>"}));
  // Without such a token, a reply ends where the next message begins.
  const ChatTemplate plain(
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% "
      "endif %}");
  EXPECT_EQ(replies_of(chat_examples(plain, tokenizer(), {.messages = talk}, 1000)),
            (std::vector<std::string>{"b\n", "d\n"}));
}

TEST(ChatExamples, ATemplateThatChangesEarlierRepliesGivesAnExampleForEach) {
  // As Qwen3: only the last reply has its thoughts.
  const ChatTemplate thoughts(
      "{% for m in messages %}{{ m.role[0] }}:{% if m.role == 'assistant' and loop.last %}(think){% endif %}"
      "{{ m.content }}<|endoftext|>{% endfor %}{% if add_generation_prompt %}a:{% endif %}");
  const std::string talk = "[" + message("user", "1") + ", " + message("assistant", "2") + ", " + message("user", "3") +
                           ", " + message("assistant", "4") + "]";
  EXPECT_EQ(replies_of(chat_examples(thoughts, tokenizer(), {.messages = talk}, 1000)).back(), "(think)4<|endoftext|>");
  const ChatTemplate prefilled(
      "{% for m in messages %}{{ m.role[0] }}:{% if m.role == 'assistant' and loop.last %}(think){% endif %}"
      "{{ m.content }}<|endoftext|>{% endfor %}{% if add_generation_prompt %}a:(think){% endif %}");
  const std::vector<ChatExample> each = chat_examples(prefilled, tokenizer(), {.messages = talk}, 1000);
  ASSERT_EQ(each.size(), 2u);
  EXPECT_EQ(replies_of(each), (std::vector<std::string>{"2<|endoftext|>", "4<|endoftext|>"}));
  EXPECT_EQ(tokenizer().decode(each[1].ids, false),
            "u:1<|endoftext|>a:2<|endoftext|>u:3<|endoftext|>a:(think)4<|endoftext|>");
}

TEST(ChatExamples, AReplyThatDoesNotFollowItsPromptIsAnError) {
  const ChatTemplate other(
      "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}?{% endif %}");
  const std::string talk = "[" + message("user", "1") + ", " + message("assistant", "2") + "]";
  EXPECT_ERROR(chat_examples(other, tokenizer(), {.messages = talk}, 1000),
               "the template does not begin the reply in message 2 as it ends the prompt for it");
}

TEST(ChatExamples, OldTurnsLeaveAndThenTheBeginningOfTheLast) {
  std::string talk = "[" + message("system", "be");
  for (int turn = 0; turn < 6; ++turn)
    talk +=
        ", " + message("user", "u" + std::to_string(turn)) + ", " + message("assistant", "r" + std::to_string(turn));
  talk += "]";
  const auto cut = [&](std::int64_t most) {
    const std::vector<ChatExample> examples = chat_examples(chat(), tokenizer(), {.messages = talk}, most);
    EXPECT_LE(std::ssize(examples.at(0).ids), most);
    EXPECT_TRUE(examples.at(0).cut);
    return examples;
  };
  const auto all = std::ssize(chat_examples(chat(), tokenizer(), {.messages = talk}, 1000).at(0).ids);
  const std::vector<ChatExample> shorter = cut(all - 1);
  EXPECT_EQ(replies_of(shorter).size(), 5u);
  EXPECT_EQ(replies_of(shorter).front(), "r1<|endoftext|>");
  EXPECT_TRUE(tokenizer().decode(shorter[0].ids, false).starts_with("s:be<|endoftext|>u:u1"));
  const std::vector<ChatExample> least = cut(3);
  ASSERT_EQ(replies_of(least).size(), 1u);
  EXPECT_TRUE(std::string("r5<|endoftext|>").ends_with(replies_of(least).front()));
}

TEST(ToolCalls, AreReadInTheStyleOfEachFamily) {
  const auto expect = [](const std::string& text, ToolCallStyle style, const std::string& rest, std::size_t calls) {
    const ChatReply reply = parse_tool_calls(text, style);
    EXPECT_EQ(reply.text, rest) << text;
    ASSERT_EQ(reply.calls.size(), calls) << text;
    for (const ToolCall& call : reply.calls) {
      EXPECT_EQ(call.name, "f") << text;
      EXPECT_EQ(call.arguments, R"({"x":1})") << text;
    }
  };
  const std::string call = R"({"name": "f", "arguments": {"x": 1}})";
  const std::string hermes = "<tool_call>\n" + call + "\n</tool_call>";
  expect(hermes, ToolCallStyle::hermes, "", 1);
  expect("Let me see. " + hermes + "\n" + hermes, ToolCallStyle::hermes, "Let me see.", 2);
  expect("<tool_call>\n" + call, ToolCallStyle::hermes, "", 1);
  expect("<tool_call>{\"name\": </tool_call>", ToolCallStyle::hermes, "<tool_call>{\"name\": </tool_call>", 0);
  expect("plain", ToolCallStyle::hermes, "plain", 0);
  expect("[TOOL_CALLS] [" + call + ", " + call + "]", ToolCallStyle::mistral, "", 2);
  expect("[TOOL_CALLS]f[ARGS]{\"x\": 1}[TOOL_CALLS]f[CALL_ID]abc[ARGS]{\"x\": 1}", ToolCallStyle::mistral, "", 2);
  expect("[TOOL_CALLS]f[ARGS]{\"x\"", ToolCallStyle::mistral, "[TOOL_CALLS]f[ARGS]{\"x\"", 0);
  expect(R"({"name": "f", "parameters": {"x": 1}})", ToolCallStyle::llama, "", 1);
  expect(R"(<|python_tag|>{"name": "f", "parameters": "{\"x\": 1}"})", ToolCallStyle::llama, "", 1);
  expect(R"({"x": 1})", ToolCallStyle::llama, R"({"x": 1})", 0);
  expect(call, ToolCallStyle::none, call, 0);
}

TEST(ToolCalls, BetweenTagsHaveTheTypesOfTheTool) {
  const std::string tools = R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
    "properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
                   "m": {"type": ["string", "null"]}}}}}, {"type": "function", "function": {"name": "g"}}])";
  const auto expect = [&](const std::string& text, ToolCallStyle style, const std::string& arguments,
                          const std::string& rest = "") {
    const ChatReply reply = parse_tool_calls(text, style, tools);
    ASSERT_EQ(reply.calls.size(), 1u) << text;
    EXPECT_EQ(reply.calls[0].name, "f");
    EXPECT_EQ(reply.calls[0].arguments, arguments);
    EXPECT_EQ(reply.text, rest);
  };
  // As the templates of Qwen3-Coder, GLM, MiniMax-M2 and MiniCPM5 write them.
  expect(
      "Well.\n<tool_call>\n<function=f>\n<parameter=s>\n12\n13\n</parameter>\n<parameter=n>\n4\n</parameter>\n"
      "<parameter=b>\nTrue\n</parameter>\n</function>\n</tool_call>",
      ToolCallStyle::hermes, R"({"s":"12\n13","n":4,"b":true})", "Well.");
  expect(
      "<tool_call>f<arg_key>s</arg_key><arg_value>true</arg_value>\n<arg_key>m</arg_key>\n"
      "<arg_value>7</arg_value></tool_call>",
      ToolCallStyle::hermes, R"({"s":"true","m":"7"})");
  expect(
      "<minimax:tool_call>\n<invoke name=\"f\"><parameter name=\"s\">a < b</parameter><parameter name=\"n\">[1]"
      "</parameter></invoke>\n</minimax:tool_call>",
      ToolCallStyle::minimax, R"({"s":"a < b","n":[1]})");
  expect(
      "<function name=\"f\"><param name=\"s\"><![CDATA[\n<x>\n]]></param><param name=\"other\">word</param>"
      "</function> Done.",
      ToolCallStyle::minicpm, R"({"s":"\n<x>\n","other":"word"})", "Done.");
  expect("<TOOLCALL>[{\"name\": \"f\", \"arguments\": {\"n\": 1}}]</TOOLCALL>", ToolCallStyle::nemotron, R"({"n":1})");
  EXPECT_EQ(parse_tool_calls("<tool_call>g</tool_call>", ToolCallStyle::hermes, tools).calls.size(), 1u);
  for (const char* text : {"<tool_call>never</tool_call>", "<tool_call><function=f</tool_call>", "<function name=\"f",
                           "<tool_call>f<arg_key>s</arg_value></tool_call>", "<tool_call>"})
    for (const ToolCallStyle style : {ToolCallStyle::hermes, ToolCallStyle::minicpm}) {
      const ChatReply reply = parse_tool_calls(text, style, tools);
      EXPECT_TRUE(reply.calls.empty()) << text;
      EXPECT_EQ(reply.text, text);
    }
}

TEST(ToolCalls, TheTemplateTellsTheStyle) {
  EXPECT_EQ(tool_call_style(ChatTemplate("<tool_call>")), ToolCallStyle::hermes);
  EXPECT_EQ(tool_call_style(ChatTemplate("[TOOL_CALLS]")), ToolCallStyle::mistral);
  EXPECT_EQ(tool_call_style(ChatTemplate("<|python_tag|>")), ToolCallStyle::llama);
  EXPECT_EQ(tool_call_style(chat()), ToolCallStyle::none);
}

}  // namespace
}  // namespace attend
