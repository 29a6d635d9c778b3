// Conversations with a model that has a chat template: prompts that fit its context, conversations to learn from, and
// the calls of tools in replies.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/language_model/language_model.h"
#include "attend/text/chat_template.h"

namespace attend {

struct ChatPrompt {
  std::string text;               ///< what the template made
  std::vector<std::int32_t> ids;  ///< special tokens of the template are single ids
  std::size_t dropped = 0;        ///< messages that were left out, the oldest first
};

/// text -> ids, with special tokens in the text as their ids, and without further ones.
using ChatTokenizer = std::function<std::vector<std::int32_t>(const std::string& text)>;

/// The prompt of a conversation. If it has more than `most` tokens, the oldest turns are left out: a message of the
/// user with all that follows it, up to the next one. System messages and the last turn stay. The text of special
/// tokens in messages of users and tools is plain text to the model. Throws as ChatTemplate::render.
ChatPrompt chat_prompt(const ChatTemplate& chat, const Tokenizer& tokenizer, const ChatInput& input, std::int64_t most,
                       const ChatTokenizer& tokenize = {});

/// The chat template of a model, or none: that of the adapter's folder, if there is one, or that of the model's folder
/// or GGUF file.
std::optional<ChatTemplate> chat_template_of(const ModelFolder& folder);

/// The special token that the template puts after a reply, if there is one. It ends the model's replies, whether or not
/// the folder's generation_config.json knows it.
std::optional<std::int32_t> end_of_reply(const ChatTemplate& chat, const Tokenizer& tokenizer);

/// A conversation to learn from.
struct ChatExample {
  std::vector<std::int32_t> ids;
  std::vector<Span> replies;  ///< the ids of each reply of the assistant, up to the token that ends it
  bool cut = false;           ///< the beginning of the conversation was left out
};

/// Renders a conversation with all its replies. A reply begins where the prompt that the template makes of the messages
/// before it ends, and ends with end_of_reply(), or where the conversation and its part up to this reply begin to
/// differ. There is one example, or one for each reply if the template changes earlier replies, as those that leave out
/// the thoughts of all but the last one do. An example with more than `most` tokens loses its oldest turns, as in
/// chat_prompt(), and then the beginning of the last one. Throws InputError if a reply does not begin with its prompt.
std::vector<ChatExample> chat_examples(const ChatTemplate& chat, const Tokenizer& tokenizer, const ChatInput& input,
                                       std::int64_t most);

struct ToolCall {
  std::string name;
  std::string arguments;  ///< a JSON object
};
/// A reply: its text, and the tools that it calls.
struct ChatReply {
  std::string text;
  std::vector<ToolCall> calls = {};
};

/// How a family of models writes the calls of tools.
enum class ToolCallStyle : std::uint8_t {
  none,
  /// <tool_call>…</tool_call> around {"name": …, "arguments": …}: Hermes, Qwen and many more; around
  /// <function=NAME><parameter=KEY>VALUE</parameter>…</function>: Qwen3-Coder; around
  /// NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…: GLM
  hermes,
  minimax,   ///< <minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter>…</invoke>…
  minicpm,   ///< <function name="NAME"><param name="KEY">VALUE</param>…</function>
  nemotron,  ///< <TOOLCALL>[{"name": …, "arguments": …}]</TOOLCALL>
  mistral,   ///< [TOOL_CALLS][{"name": …, "arguments": …}], or [TOOL_CALLS]name[ARGS]{…}
  llama,     ///< {"name": …, "parameters": …}, perhaps after <|python_tag|>: Llama 3
};
/// The style of the models that this template was made for.
ToolCallStyle tool_call_style(const ChatTemplate& chat);
/// Splits a reply, which still has its special tokens. What cannot be read as a call remains text. `tools` (JSON, as in
/// ChatInput) tells which values between tags are strings; without it, those that are not JSON are.
ChatReply parse_tool_calls(const std::string& reply, ToolCallStyle style, const std::string& tools = {});

/// Makes a reply a call of a tool that conforms to its parameters.
struct ForcedToolCall {
  std::string begin;    ///< the text that the reply begins with, which may have special tokens
  std::string grammar;  ///< of the rest of the reply (GBNF): one call, as JSON also where the template writes tags
};
/// `only`: the name of the only tool that may be called; empty: all of them. Throws InputError as tool_call_grammar().
ForcedToolCall force_tool_call(ToolCallStyle style, const std::string& tools, const std::string& only = {});

}  // namespace attend
