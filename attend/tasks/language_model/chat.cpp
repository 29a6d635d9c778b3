#include "attend/tasks/language_model/chat.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "attend/formats/gguf.h"
#include "attend/formats/gguf_file.h"
#include "attend/text/grammar/json_schema.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

/// A noncharacter of Unicode. It stands inside the text of a special token that a user has typed: there the prompt is
/// cut before it becomes tokens, so that no special token is found.
constexpr std::string_view kCut = "\xEF\xB7\x90";  // U+FDD0

std::string without_cuts(std::string text) {
  for (std::size_t at = 0; (at = text.find(kCut, at)) != std::string::npos;) text.erase(at, kCut.size());
  return text;
}

class TypedText {
 public:
  explicit TypedText(const Tokenizer& tokenizer) {
    for (const AddedToken& token : tokenizer.parts().added_tokens)
      if (token.special && !token.content.empty()) tokens_.push_back(token.content);
  }
  /// Marks the special tokens in a text.
  std::string marked(std::string text) const {
    text = without_cuts(std::move(text));
    for (const std::string& token : tokens_) {
      std::size_t first = 1;  // byte of the second letter
      while (first < token.size() && (static_cast<unsigned char>(token[first]) & 0xC0) == 0x80) ++first;
      const std::string cut = token.substr(0, first) + std::string(kCut) + token.substr(first);
      for (std::size_t at = 0; (at = text.find(token, at)) != std::string::npos; at += cut.size())
        text.replace(at, token.size(), cut);
    }
    return text;
  }

 private:
  std::vector<std::string> tokens_;
};

bool stays(const Json& message) {
  const auto role = message.find("role");
  return role != message.end() && (*role == "system" || *role == "developer");
}
bool begins_turn(const Json& message) {
  const auto role = message.find("role");
  return role != message.end() && *role == "user";
}

/// The messages without the first turns.
Json shortened(const Json& messages, std::size_t turns) {
  Json kept = Json::array();
  std::size_t begun = 0;
  for (const Json& message : messages) {
    begun += begins_turn(message) ? 1 : 0;
    if (begun > turns || stays(message)) kept.push_back(message);
  }
  return kept;
}

/// The messages, with the special tokens that users and tools have typed marked.
Json marked_messages(const ChatInput& input, const Tokenizer& tokenizer) {
  const TypedText typed(tokenizer);
  Json messages = Json::parse(input.messages, nullptr, false);
  if (!messages.is_array()) fail<InputError>("chat", "messages: expected a JSON list");
  for (Json& message : messages) {
    if (!message.is_object()) fail<InputError>("chat", "messages: expected a list of objects");
    const Json role = message.value("role", Json());
    if ((role != "user" && role != "tool") || !message.contains("content")) continue;
    Json& content = message["content"];
    if (content.is_string()) content = typed.marked(content.get<std::string>());
    if (content.is_array())
      for (Json& part : content)
        if (part.is_object() && part.contains("text") && part["text"].is_string())
          part["text"] = typed.marked(part["text"].get<std::string>());
  }
  return messages;
}

std::string rendered(const ChatTemplate& chat, const ChatInput& input, const Json& messages, bool generation_prompt) {
  ChatInput other = input;
  other.messages = messages.dump(), other.generation_prompt = generation_prompt;
  return chat.render(other);
}

/// Calls take(where it begins, part) for each part of a text between the marks.
void each_part(const std::string& text, const std::function<void(std::size_t, const std::string&)>& take) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(kCut, begin), text.size());
    take(begin, text.substr(begin, end - begin));
    begin = end == text.size() ? end + 1 : end + kCut.size();
  }
}

/// make(kept, number of messages that were left out) with the fewest turns left out so that there are at most `most`
/// ids; the last turn stays.
template <typename Made>
Made fitting(const Json& messages, std::int64_t most, const std::function<Made(const Json&, std::size_t)>& make) {
  const auto turns = static_cast<std::size_t>(std::ranges::count_if(messages, begins_turn));
  const auto without = [&](std::size_t left_out) {
    const Json kept = left_out == 0 ? messages : shortened(messages, left_out);
    return make(kept, messages.size() - kept.size());
  };
  Made made = without(0);
  if (std::ssize(made.ids) <= most || turns < 2) return made;
  // Without more turns, a text is shorter: so their number is found by halving.
  std::size_t least = 1, largest = turns - 1;
  made = without(largest);
  while (least < largest) {
    const std::size_t middle = (least + largest) / 2;
    Made other = without(middle);
    if (std::ssize(other.ids) <= most) {
      made = std::move(other);
      largest = middle;
    } else {
      least = middle + 1;
    }
  }
  return made;
}

// ---- conversations to learn from ----

Json first_messages(const Json& messages, std::size_t count) {
  return Json(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count));
}

/// The indices of the assistant's messages.
std::vector<std::size_t> replies_in(const Json& messages) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].value("role", Json()) == "assistant") found.push_back(i);
  return found;
}

/// Whether the whole conversation begins with the prompt of each reply.
bool begins_with_prompts(const ChatTemplate& chat, const ChatInput& input, const Json& messages) {
  const std::string text = rendered(chat, input, messages, false);
  return std::ranges::all_of(replies_in(messages), [&](std::size_t reply) {
    return text.starts_with(rendered(chat, input, first_messages(messages, reply), true));
  });
}

/// The bytes of the replies in the text of a conversation.
std::vector<Span> reply_texts(const ChatTemplate& chat, const ChatInput& input, const Json& messages,
                              const std::string& text, bool last_only) {
  std::vector<std::size_t> replies = replies_in(messages);
  if (last_only) replies.erase(replies.begin(), replies.end() - 1);
  std::vector<Span> spans;
  for (const std::size_t reply : replies) {
    const std::string prompt = rendered(chat, input, first_messages(messages, reply), true);
    if (!text.starts_with(prompt))
      fail<InputError>("chat", "the template does not begin the reply in message ", reply + 1,
                       " as it ends the prompt for it; train with arguments such as {\"enable_thinking\": false} "
                       "(--template-args), ",
                       "or with another template (--template)");
    const std::string part = rendered(chat, input, first_messages(messages, reply + 1), false);
    const std::ptrdiff_t end = std::ranges::mismatch(text, part).in1 - text.begin();
    spans.push_back({std::ssize(prompt), end});
  }
  return spans;
}

/// The tokens of a text, and which of them belong to the replies.
ChatExample with_replies(const std::string& text, const std::vector<Span>& replies, const Tokenizer& tokenizer,
                         std::optional<std::int32_t> end) {
  ChatExample example;
  std::vector<Span> places;  // of each token, in bytes of `text`
  each_part(text, [&](std::size_t begin, const std::string& part) {
    const Encoding encoded = tokenizer.encode(part, {.special_tokens = false});
    std::ranges::copy(encoded.ids, std::back_inserter(example.ids));
    const auto shift = static_cast<std::int64_t>(begin);
    for (const Span& span : encoded.spans) places.push_back({span.begin + shift, span.end + shift});
  });
  std::size_t token = 0;
  for (const Span& reply : replies) {
    while (token < places.size() && places[token].end <= reply.begin) ++token;
    const std::size_t first = token;
    for (bool ended = false; !ended && token < places.size() && places[token].begin < reply.end; ++token)
      ended = example.ids[token] == end;
    if (token > first) example.replies.push_back({static_cast<std::int64_t>(first), static_cast<std::int64_t>(token)});
  }
  return example;
}

/// Keeps the last `most` tokens.
void cut_front(ChatExample& example, std::int64_t most) {
  const std::int64_t more = std::ssize(example.ids) - most;
  if (more <= 0) return;
  example.cut = true;
  example.ids.erase(example.ids.begin(), example.ids.begin() + more);
  for (Span& reply : example.replies)
    reply = {std::max<std::int64_t>(reply.begin - more, 0), std::max<std::int64_t>(reply.end - more, 0)};
  std::erase_if(example.replies, [](const Span& reply) { return reply.end <= reply.begin; });
}

/// One call: an object with a name and arguments.
bool add_call(const Json& json, std::vector<ToolCall>& calls) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return false;
  const char* key = json.contains("arguments") ? "arguments" : "parameters";
  Json arguments = json.value(key, Json::object());
  if (arguments.is_string()) arguments = Json::parse(arguments.get<std::string>(), nullptr, false);
  if (!arguments.is_object()) return false;
  calls.push_back({json["name"].get<std::string>(), arguments.dump(-1, ' ', false, Json::error_handler_t::replace)});
  return true;
}

bool add_calls(const std::string& text, std::vector<ToolCall>& calls) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) return add_call(json, calls);
  return !json.empty() && std::ranges::all_of(json, [&](const Json& one) { return add_call(one, calls); });
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

}  // namespace

ChatPrompt chat_prompt(const ChatTemplate& chat, const Tokenizer& tokenizer, const ChatInput& input, std::int64_t most,
                       const ChatTokenizer& tokenize) {
  return fitting<ChatPrompt>(marked_messages(input, tokenizer), most, [&](const Json& kept, std::size_t dropped) {
    const std::string text = rendered(chat, input, kept, input.generation_prompt);
    ChatPrompt prompt{without_cuts(text), {}, dropped};
    each_part(text, [&](std::size_t, const std::string& part) {
      std::ranges::copy(tokenize ? tokenize(part) : tokenizer.ids(part), std::back_inserter(prompt.ids));
    });
    return prompt;
  });
}

std::vector<ChatExample> chat_examples(const ChatTemplate& chat, const Tokenizer& tokenizer, const ChatInput& input,
                                       std::int64_t most) {
  const Json messages = marked_messages(input, tokenizer);
  const std::optional<std::int32_t> end = end_of_reply(chat, tokenizer);
  const std::vector<std::size_t> replies = replies_in(messages);
  if (replies.empty()) return {};
  const auto example = [&](const Json& all, bool last_reply_only) {
    return fitting<ChatExample>(all, most, [&](const Json& kept, std::size_t dropped) {
      const std::string text = rendered(chat, input, kept, false);
      ChatExample made = with_replies(text, reply_texts(chat, input, kept, text, last_reply_only), tokenizer, end);
      made.cut = dropped > 0;
      return made;
    });
  };
  std::vector<ChatExample> examples;
  if (begins_with_prompts(chat, input, messages)) {
    examples.push_back(example(messages, false));
  } else {
    for (const std::size_t reply : replies) examples.push_back(example(first_messages(messages, reply + 1), true));
  }
  for (ChatExample& one : examples) cut_front(one, most);
  return examples;
}

std::optional<ChatTemplate> chat_template_of(const ModelFolder& folder) {
  const Tokenizer& tokenizer = folder.tokenizer();
  const GgufMetadata* gguf = folder.gguf_metadata();
  if (folder.has_adapter())
    if (const auto own = ChatTemplate::of_folder(folder.adapter_path(), &tokenizer))
      return own->with_tokens_of(folder.path(), &tokenizer);
  if (!gguf) return ChatTemplate::of_folder(folder.path(), &tokenizer);
  if (!gguf->has(kGgufChatTemplate)) return {};
  const auto text = [&](const std::string& key) { return std::pair(gguf->text(key), gguf->file() + ": " + key); };
  const auto [main, name] = text(kGgufChatTemplate);
  ChatTemplate chat(main, name);
  if (gguf->has(kGgufToolTemplate)) {
    const auto [tools, tools_name] = text(kGgufToolTemplate);
    chat = chat.with_tool_template(tools, tools_name);
  }
  return chat.with_tokens_of(folder.path(), &tokenizer);
}

std::optional<std::int32_t> end_of_reply(const ChatTemplate& chat, const Tokenizer& tokenizer) {
  const std::string reply = "REPLY";
  std::string text;
  try {
    text = chat.render(
        {.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ")" + reply + R"("}])",
         .generation_prompt = false});
  } catch (const InputError&) {
    return {};  // a template with needs of its own
  }
  const std::size_t at = text.rfind(reply);
  if (at == std::string::npos) return {};
  const std::size_t after = text.find_first_not_of(" \n", at + reply.size());
  if (after == std::string::npos) return {};
  const std::vector<std::int32_t> ids = tokenizer.ids(text.substr(after));
  return !ids.empty() && tokenizer.is_special(ids.front()) ? std::optional(ids.front()) : std::nullopt;
}

ToolCallStyle tool_call_style(const ChatTemplate& chat) {
  constexpr std::pair<std::string_view, ToolCallStyle> kSigns[] = {
      {"<minimax:tool_call>", ToolCallStyle::minimax}, {"<tool_call>", ToolCallStyle::hermes},
      {"<function name=", ToolCallStyle::minicpm},     {"<TOOLCALL>", ToolCallStyle::nemotron},
      {"[TOOL_CALLS]", ToolCallStyle::mistral},        {"<|python_tag|>", ToolCallStyle::llama},
      {"\"parameters\": ", ToolCallStyle::llama}};
  for (const auto& [sign, style] : kSigns)
    if (chat.source(true).find(sign) != std::string::npos) return style;
  return ToolCallStyle::none;
}

namespace {

/// What stands before and after a call, of styles with tags.
struct Tags {
  std::string_view begin, end;
};
constexpr Tags kHermesTags{"<tool_call>", "</tool_call>"};

std::optional<Tags> tags_of(ToolCallStyle style) {
  switch (style) {
    case ToolCallStyle::hermes:
      return kHermesTags;
    case ToolCallStyle::minimax:
      return Tags{"<minimax:tool_call>", "</minimax:tool_call>"};
    case ToolCallStyle::minicpm:
      return Tags{"<function name=", "</function>"};
    case ToolCallStyle::nemotron:
      return Tags{"<TOOLCALL>", "</TOOLCALL>"};
    default:
      return {};
  }
}

struct Element {
  std::string name, content;
};

/// The elements <TAG=NAME>…</TAG> or <TAG name="NAME">…</TAG> of a text.
std::vector<Element> elements_of(const std::string& text, const std::string& tag) {
  std::vector<Element> all;
  const std::string open = "<" + tag, close = "</" + tag + ">";
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    const std::size_t end = text.find('>', at), last = text.find(close, at);
    if (end == std::string::npos || end > last) return all;
    std::string name = text.substr(at, end - at);
    if (const std::string begin = " name=\"";
        name.starts_with(begin) && name.ends_with('"') && name.size() > begin.size())
      name = name.substr(begin.size(), name.size() - begin.size() - 1);
    else if (name.starts_with('='))
      name.erase(0, 1);
    else
      continue;  // another tag
    if (last == std::string::npos) return all;
    all.push_back({std::move(name), text.substr(end + 1, last - end - 1)});
    at = last + close.size();
  }
  return all;
}

/// The value of an argument that stands between tags. `schema` is that of the argument, or null.
Json argument_of(std::string text, const Json& schema) {
  constexpr std::string_view kBegin = "<![CDATA[", kEnd = "]]>";
  if (text.starts_with(kBegin) && text.ends_with(kEnd)) {
    text = text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size());
  } else {
    if (text.starts_with('\n')) text.erase(0, 1);
    if (text.ends_with('\n')) text.pop_back();
  }
  const Json type = schema.is_object() ? schema.value("type", Json()) : Json();
  if (type == "string") return text;
  for (const auto& [python, value] : {std::pair("True", Json(true)), {"False", false}, {"None", nullptr}})
    if (text == python) return value;
  Json parsed = Json::parse(text, nullptr, false);
  const bool may_be_text = type.is_array() && std::ranges::find(type, Json("string")) != type.end();
  if (parsed.is_discarded() || (may_be_text && !parsed.is_null())) return text;
  return parsed;
}

/// The description of a tool, or null.
Json function_of(const Json& tools, const std::string& name) {
  if (tools.is_array())
    for (const Json& tool : tools)
      if (tool.is_object() && tool.contains("function") && tool["function"].is_object() &&
          tool["function"].value("name", Json()) == name)
        return tool["function"];
  return {};
}

/// A call whose arguments stand between tags.
void add_call_of(const std::string& name, const std::vector<Element>& values, const Json& tools,
                 std::vector<ToolCall>& calls) {
  const Json function = function_of(tools, name);
  const Json::json_pointer properties("/parameters/properties");
  const Json schemas = function.contains(properties) ? function[properties] : Json();
  Json arguments = Json::object();
  for (const Element& one : values)
    arguments[one.name] = argument_of(one.content, schemas.is_object() ? schemas.value(one.name, Json()) : Json());
  add_call({{"name", name}, {"arguments", std::move(arguments)}}, calls);
}

/// The calls inside of tags, and with the tags.
bool add_tagged_calls(const std::string& inside, const std::string& whole, const Json& tools,
                      std::vector<ToolCall>& calls) {
  if (inside.starts_with('{') || inside.starts_with('[')) return add_calls(inside, calls);
  const std::size_t before = calls.size();
  for (const char* tag : {"function", "invoke"})
    for (const Element& call : elements_of(whole, tag)) {
      std::vector<Element> values = elements_of(call.content, "parameter");
      if (values.empty()) values = elements_of(call.content, "param");
      add_call_of(call.name, values, tools, calls);
    }
  if (calls.size() > before) return true;

  const auto between = [&](const std::string& tag, std::size_t& at) -> std::optional<std::string> {
    const std::string open = "<" + tag + ">", close = "</" + tag + ">";
    const std::size_t begin = inside.find(open, at), end = inside.find(close, at);
    if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
    at = end + close.size();
    return inside.substr(begin + open.size(), end - begin - open.size());
  };
  const std::string name = trimmed(inside.substr(0, inside.find("<arg_key>")));
  std::vector<Element> values;
  for (std::size_t at = 0;;) {
    std::optional<std::string> key = between("arg_key", at), value = between("arg_value", at);
    if (!key || !value) break;
    values.push_back({std::move(*key), std::move(*value)});
  }
  if (values.empty() && (inside != name || function_of(tools, name).is_null())) return false;
  add_call_of(name, values, tools, calls);
  return true;
}

}  // namespace

ChatReply parse_tool_calls(const std::string& reply, ToolCallStyle style, const std::string& tools) {
  ChatReply parsed;
  if (const std::optional<Tags> own = tags_of(style)) {
    const Json known = Json::parse(tools, nullptr, false);
    for (std::size_t at = 0; at < reply.size();) {
      std::size_t open = std::min(reply.find(own->begin, at), reply.size());
      const std::size_t of_hermes = reply.find(kHermesTags.begin, at);
      const Tags& tags = of_hermes < open ? kHermesTags : *own;
      open = std::min(open, of_hermes);
      parsed.text += reply.substr(at, open - at);
      if (open == reply.size()) break;
      const std::size_t inside = open + tags.begin.size(), close = std::min(reply.find(tags.end, inside), reply.size());
      at = std::min(close + tags.end.size(), reply.size());
      const std::string whole = reply.substr(open, at - open);
      if (!add_tagged_calls(trimmed(reply.substr(inside, close - inside)), whole, known, parsed.calls))
        parsed.text += whole;
    }
  } else if (style == ToolCallStyle::mistral) {
    const std::string begin = "[TOOL_CALLS]", with = "[ARGS]", id = "[CALL_ID]";
    const std::size_t first = reply.find(begin);
    parsed.text = reply.substr(0, first);
    for (std::size_t at = first; at != std::string::npos;) {
      const std::size_t next = reply.find(begin, at + begin.size());
      const std::string call =
          reply.substr(at + begin.size(), next == std::string::npos ? next : next - at - begin.size());
      const std::size_t arguments = call.find(with);
      const bool read =
          arguments == std::string::npos
              ? add_calls(trimmed(call), parsed.calls)
              : add_call({{"name", trimmed(call.substr(0, std::min(call.find(id), arguments)))},
                          {"arguments", Json::parse(call.substr(arguments + with.size()), nullptr, false)}},
                         parsed.calls);
      if (!read) parsed.text += begin + call;
      at = next;
    }
  } else if (style == ToolCallStyle::llama) {
    const std::string tag = "<|python_tag|>";
    std::string text = trimmed(reply);
    if (text.starts_with(tag)) text = trimmed(text.substr(tag.size()));
    if (!text.starts_with('{') || !add_calls(text, parsed.calls)) parsed.text = reply;
  } else {
    parsed.text = reply;
  }
  if (!parsed.calls.empty()) parsed.text = trimmed(parsed.text);
  return parsed;
}

ForcedToolCall force_tool_call(ToolCallStyle style, const std::string& tools, const std::string& only) {
  ForcedToolCall forced;
  ToolCallFormat format{.begin = "", .end = "", .several = false};
  if (style == ToolCallStyle::llama) {
    format.arguments_key = "parameters";
  } else if (style == ToolCallStyle::mistral || style == ToolCallStyle::nemotron) {
    forced.begin = style == ToolCallStyle::mistral ? "[TOOL_CALLS]" : "<TOOLCALL>";
    format.begin = "[", format.end = "]";
  } else {
    forced.begin = std::string(kHermesTags.begin) + "\n";
  }
  forced.grammar = tool_call_grammar(tools, format, only).gbnf;
  return forced;
}

}  // namespace attend
