#include "attend/text/chat_template.h"

#include <map>

#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/core/json.h"
#include "attend/text/template/machine.h"
#include "attend/text/template/python_text.h"
#include "attend/text/tokenizer_config.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using jinja::Value;

// A template of a real model takes about a thousand steps for each message.
constexpr std::int64_t kMostSteps = 10'000'000, kMostBytes = 256 << 20;
constexpr std::string_view kContinue = "CONTINUE_FINAL_MESSAGE_TAG";

std::string file_text(const fs::path& path) {
  const MappedFile file = map_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

Value value_of(const JsonValue& json, jinja::Budget& budget) {
  budget.steps();
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.boolean();
  if (json.is_integer()) return json.integer();
  if (json.is_number()) return json.number();
  if (json.is_string()) return std::string(json.string());
  if (json.is_array()) {
    std::vector<Value> items;
    json.each_element([&](const JsonValue& item) { items.push_back(value_of(item, budget)); });
    return Value::list(std::move(items));
  }
  auto dict = std::make_shared<jinja::Dict>();
  json.each_member([&](std::string_view key, const JsonValue& value) {
    dict->set(std::string(key), value_of(value, budget), budget);
  });
  return {jinja::Kind::dict, std::move(dict)};
}

/// A list of the input, or none.
Value read_list(const std::string& text, const char* what, jinja::Budget& budget) {
  if (text.empty()) return {};
  const JsonDocument document(text, what, "chat");
  const JsonValue root = document.root();
  if (root.is_null()) return {};
  if (!root.is_array()) root.fail_kind("a list");
  root.each_element([](const JsonValue& item) {
    if (!item.is_object()) item.fail_kind("an object");
  });
  return value_of(root, budget);
}

/// The text that a message with this content ends with: the content, or its last part of the type "text".
Value* final_text(Value& content) {
  if (content.is(jinja::Kind::string)) return &content;
  if (!content.is(jinja::Kind::list)) return nullptr;
  auto& parts = content.object<jinja::Sequence>().items;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->is(jinja::Kind::dict)) continue;
    for (auto& [key, value] : part->object<jinja::Dict>().items)
      if (key.is(jinja::Kind::string) && key.string() == "text" && value.is(jinja::Kind::string)) return &value;
  }
  return nullptr;
}

}  // namespace

struct ChatTemplate::Source {
  std::string name, text;
  jinja::Syntax syntax;

  [[noreturn]] void fail(jinja::Place place, const std::string& what) const {
    attend::fail<InputError>("template", name, ":", place.line, ":", place.column, ": ", what);
  }
  static std::shared_ptr<const Source> parse(std::string name, std::string text) {
    auto source = std::make_shared<Source>();
    source->name = std::move(name);
    source->text = std::move(text);
    try {
      source->syntax = jinja::parse(source->text);
    } catch (const jinja::SyntaxProblem& problem) {
      source->fail(problem.place, problem.what());
    }
    return source;
  }
};

ChatTemplate::ChatTemplate(std::string source, std::string name)
    : main_(Source::parse(std::move(name), std::move(source))) {}

ChatTemplate ChatTemplate::of_file(const fs::path& file) { return ChatTemplate(file_text(file), file.string()); }

const std::string& ChatTemplate::source(bool with_tools) const { return (with_tools && tools_ ? tools_ : main_)->text; }

std::optional<ChatTemplate> ChatTemplate::of_folder(const fs::path& path, const Tokenizer* tokenizer) {
  const fs::path folder = current_folder(path);
  std::map<std::string, std::pair<std::string, std::string>> templates;  // by name: where it is, and its text
  const fs::path file = folder / "chat_template.jinja", config = folder / "tokenizer_config.json",
                 more = folder / "additional_chat_templates";
  if (fs::exists(file)) templates["default"] = {file.string(), file_text(file)};
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(more, missing))
    if (entry.path().extension() == ".jinja")
      templates[entry.path().stem().string()] = {entry.path().string(), file_text(entry.path())};
  if (templates.empty() && fs::exists(config)) {
    const std::string text = file_text(config);
    const JsonDocument document(text, config.string(), "tokenizer");
    if (const auto found = document.root().find("chat_template")) {
      const auto add = [&](const std::string& name, const JsonValue& value) {
        templates[name] = {value.place(), std::string(value.string())};
      };
      if (found->is_string()) add("default", *found);
      if (found->is_array())
        found->each_element([&](const JsonValue& one) { add(std::string(one["name"].string()), one["template"]); });
      if (found->is_object())
        found->each_member([&](std::string_view name, const JsonValue& one) { add(std::string(name), one); });
    }
  }
  if (templates.empty()) return {};
  if (!templates.contains("default"))
    fail<InputError>("template", folder.string(), ": there are chat templates, but none with the name \"default\"");
  const auto& [name, text] = templates["default"];
  ChatTemplate chat(text, name);
  if (const auto tools = templates.find("tool_use"); tools != templates.end())
    chat = chat.with_tool_template(tools->second.second, tools->second.first);
  return chat.with_tokens_of(folder, tokenizer);
}

ChatTemplate ChatTemplate::with_tool_template(std::string source, std::string name) const {
  ChatTemplate chat = *this;
  chat.tools_ = Source::parse(std::move(name), std::move(source));
  return chat;
}

ChatTemplate ChatTemplate::with_tokens_of(const fs::path& folder, const Tokenizer* tokenizer) const {
  ChatTemplate chat = *this;
  chat.tokens_.clear();
  const TokenizerConfig config = read_tokenizer_config(current_folder(folder));
  for (std::size_t i = 0; i < kSpecialRoles.size(); ++i) {
    std::optional<std::string> token;
    if (config.roles[i]) {
      token = config.roles[i]->content;
    } else if (tokenizer) {
      if (const auto id = tokenizer->special().*kSpecialRoles[i].id) token = tokenizer->token(*id);
    }
    if (token) chat.tokens_.emplace_back(kSpecialRoles[i].key, std::move(*token));
  }
  return chat;
}

void ChatTemplate::save(const fs::path& folder) const {
  const auto write = [](const fs::path& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  };
  write(folder / "chat_template.jinja", main_->text);
  if (!tools_) return;
  fs::create_directories(folder / "additional_chat_templates");
  write(folder / "additional_chat_templates" / "tool_use.jinja", tools_->text);
}

std::string ChatTemplate::render(const ChatInput& input) const {
  jinja::Budget budget(kMostSteps, kMostBytes);
  Value messages = read_list(input.messages, "messages", budget);
  if (!messages.is(jinja::Kind::list)) fail<InputError>("chat", "messages: got none, expected a list");
  const Value tools = read_list(input.tools, "tools", budget);
  const Value documents = read_list(input.documents, "documents", budget);
  const Source& source = *(tools.is(jinja::Kind::list) && tools_ ? tools_ : main_);

  std::string continued;
  if (input.continue_final_message) {
    if (input.generation_prompt)
      fail<InputError>("chat", "a prompt cannot continue the last message and begin a reply; leave one of them out");
    auto& list = messages.object<jinja::Sequence>().items;
    Value* content = nullptr;
    if (!list.empty())
      for (auto& [key, value] : list.back().object<jinja::Dict>().items)
        if (key.string() == "content") content = final_text(value);
    if (!content) fail<InputError>("chat", "messages: the last one has no content that can be continued");
    continued = content->string();
    *content = continued + std::string(kContinue) + " ";
  }

  jinja::Machine machine(source.syntax, budget, input.now.value_or(std::time(nullptr)));
  for (const auto& [name, token] : tokens_) machine.set(name, token);
  machine.set("messages", std::move(messages));
  machine.set("tools", tools);
  machine.set("documents", documents);
  machine.set("add_generation_prompt", input.generation_prompt);
  if (!input.arguments.empty()) {
    const JsonDocument document(input.arguments, "arguments of the template", "chat");
    if (!document.root().is_object()) document.root().fail_kind("an object");
    document.root().each_member([&](std::string_view name, const JsonValue& value) {
      machine.set(std::string(name), value_of(value, budget));
    });
  }
  std::string prompt;
  try {
    prompt = machine.run();
  } catch (const jinja::Problem& problem) {
    source.fail(machine.place(), problem.what());
  }
  if (input.continue_final_message) {
    const std::size_t tag = prompt.rfind(kContinue);
    if (tag == std::string::npos || prompt.find(jinja::strip(continued, true, true)) == std::string::npos)
      fail<InputError>("chat", "messages: the template leaves the last message out, so it cannot be continued");
    const bool spaced = prompt.compare(tag + kContinue.size(), 1, " ") == 0;
    prompt.resize(tag);
    if (!spaced) prompt.resize(prompt.size() - jinja::trailing_space(prompt));
  }
  return prompt;
}

}  // namespace attend
