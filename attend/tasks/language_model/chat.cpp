#include "attend/tasks/language_model/chat.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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
  const auto turns = static_cast<std::size_t>(std::ranges::count_if(messages, begins_turn));
  const auto make = [&](std::size_t left_out) {
    const Json kept = left_out == 0 ? messages : shortened(messages, left_out);
    ChatInput shorter = input;
    shorter.messages = kept.dump();
    ChatPrompt prompt;
    const std::string text = chat.render(shorter);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(kCut, begin), text.size());
      const std::string part = text.substr(begin, end - begin);
      const std::vector<std::int32_t> ids = tokenize ? tokenize(part) : tokenizer.ids(part);
      prompt.ids.insert(prompt.ids.end(), ids.begin(), ids.end());
      begin = end == text.size() ? end + 1 : end + kCut.size();
    }
    prompt.text = without_cuts(text);
    prompt.dropped = messages.size() - kept.size();
    return prompt;
  };
  ChatPrompt prompt = make(0);
  if (std::ssize(prompt.ids) <= most || turns < 2) return prompt;
  // The fewest turns that must leave. Without more turns, a prompt is shorter: so they are found by halving.
  std::size_t least = 1, largest = turns - 1;
  prompt = make(largest);
  while (least < largest) {
    const std::size_t middle = (least + largest) / 2;
    ChatPrompt other = make(middle);
    if (std::ssize(other.ids) <= most) {
      prompt = std::move(other);
      largest = middle;
    } else {
      least = middle + 1;
    }
  }
  return prompt;
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
  constexpr std::pair<std::string_view, ToolCallStyle> kSigns[] = {{"<tool_call>", ToolCallStyle::hermes},
                                                                   {"[TOOL_CALLS]", ToolCallStyle::mistral},
                                                                   {"<|python_tag|>", ToolCallStyle::llama},
                                                                   {"\"parameters\": ", ToolCallStyle::llama}};
  for (const auto& [sign, style] : kSigns)
    if (chat.source(true).find(sign) != std::string::npos) return style;
  return ToolCallStyle::none;
}

ChatReply parse_tool_calls(const std::string& reply, ToolCallStyle style) {
  ChatReply parsed;
  if (style == ToolCallStyle::hermes) {
    const std::string begin = "<tool_call>", end = "</tool_call>";
    std::string text;
    for (std::size_t at = 0; at < reply.size();) {
      const std::size_t open = std::min(reply.find(begin, at), reply.size());
      text += reply.substr(at, open - at);
      if (open == reply.size()) break;
      const std::size_t inside = open + begin.size(), close = std::min(reply.find(end, inside), reply.size());
      at = std::min(close + end.size(), reply.size());
      if (!add_calls(trimmed(reply.substr(inside, close - inside)), parsed.calls))
        text += reply.substr(open, at - open);
    }
    parsed.text = text;
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

}  // namespace attend
