// OpenAI's completions and chat: reads the requests. text_answer.h answers them.
#include <algorithm>

#include "attend/core/stop.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/generation_fields.h"
#include "attend/serve/text_answer.h"
#include "attend/tasks/language_model/chat.h"
#include "attend/tasks/language_model/conversation.h"

namespace attend::serve {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kDefaultCompletion = 16;  // tokens, as in OpenAI's API
constexpr std::int64_t kMostTokens = 1 << 20, kMostPrompts = 128, kMostAlternatives = 20;
constexpr std::size_t kMostMessages = 4096;

/// OpenAI's "response_format", and whether a grammar or a schema can be used.
void read_response_format(Fields& fields, const LanguageModel& model, GenerationOptions& options) {
  if (const Json* given = fields.find("response_format")) {
    Fields format(*given, "response_format.");
    const std::string type = format.text("type");
    if (type == "json_object") {
      options.json_schema = R"({"type": "object"})";
    } else if (type == "json_schema") {
      Fields named(format.required("json_schema"), "response_format.json_schema.");
      options.json_schema = named.required("schema").dump();
      for (const char* key : {"name", "description", "strict"}) named.ignore(key);
      named.refuse_others();
    } else if (type != "text") {
      throw invalid_value("response_format.type",
                          "expected \"text\", \"json_object\" or \"json_schema\": got \"" + type + "\"");
    }
    format.refuse_others();
  }
  try {
    model.grammar(options);
  } catch (const InputError& error) {
    throw invalid_value(options.json_schema ? "response_format" : "grammar", error.what());
  }
}

/// Reads the options that both endpoints share.
void read_options(Fields& fields, TextRequest& request) {
  GenerationOptions& o = request.options.search;
  o = read_generation_options(fields, generation_fields("completions"), request.model->tokenizer->size());
  read_response_format(fields, *request.model->language_model, o);
  if (fields.choice("long", {"error", "slide"}) == "slide") request.options.long_context = LongContext::slide;
  const std::int64_t n = o.nbest.value_or(1);
  if (o.temperature == 0 && n > 1 && !o.beam)
    throw invalid_value("n", "a temperature of 0 is greedy search, which gives one text: got " + std::to_string(n));
  if (o.beam && o.samples())
    throw invalid_value("beam", "beam search does not sample: leave out temperature, top_k, top_p and min_p");
  if (o.beam && n > *o.beam) throw invalid_value("n", "cannot be more than \"beam\"");
  request.stream = fields.flag("stream").value_or(false);
  if (const Json* options = fields.find("stream_options")) {
    Fields of_stream(*options, "stream_options.");
    request.include_usage = of_stream.flag("include_usage").value_or(false);
    of_stream.ignore("include_obfuscation");
    of_stream.refuse_others();
  }
  for (const char* key : {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"})
    fields.ignore(key);
  if (request.logprobs && o.beam) throw invalid_value("logprobs", "are not available with a beam");
}

/// A text, texts, ids, or arrays of ids.
void read_prompts(Fields& fields, TextRequest& request, const Patience& patience) {
  const Tokenizer& tokenizer = *request.model->tokenizer;
  const Json& prompt = fields.required("prompt");
  const bool several = prompt.is_array() && !prompt.empty() && !prompt.front().is_number();
  if (several && std::ssize(prompt) > kMostPrompts)  // before any of them is read
    throw invalid_value("prompt", "too many prompts: got " + std::to_string(prompt.size()) + ", expected at most " +
                                      std::to_string(kMostPrompts));
  const auto ids_of = [&](const Json& array) {
    Ids ids;
    for (const Json& id : array) {
      if (!id.is_number_integer() || id < 0 || id >= tokenizer.size())
        throw invalid_value(
            "prompt", "there is no token " + id.dump() + ", expected 0 to " + std::to_string(tokenizer.size() - 1));
      ids.push_back(id.get<std::int32_t>());
    }
    request.prompt_texts.push_back(tokenizer.decode(ids));
    return ids;
  };
  if (prompt.is_array() && !prompt.empty() && prompt.front().is_number()) {
    request.prompts.push_back(ids_of(prompt));
  } else if (prompt.is_array() && !prompt.empty() && prompt.front().is_array()) {
    for (const Json& one : prompt) {
      if (!one.is_array()) throw invalid_value("prompt", "arrays of tokens and texts cannot be mixed");
      request.prompts.push_back(ids_of(one));
    }
  } else {
    request.prompt_texts = fields.texts("prompt");
    for (const std::string& text : request.prompt_texts) request.prompts.push_back(request.model->ids(text, patience));
  }
}

/// The content of a message: a text, or parts that are texts.
std::string content_of(Fields& message) {
  const Json& content = message.required("content");
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) throw invalid_value(message.name("content"), "the content of a message is a text");
  for (const Json& part : content) {
    Fields fields(part, message.name("content[]."));
    if (fields.text("type") != "text")
      throw invalid_value(message.name("content"), "only parts of the type \"text\" are understood");
    text += fields.text("text");
  }
  return text;
}

/// The role of a message, one of those that are allowed.
std::string role_of(Fields& message, const std::vector<std::string>& allowed) {
  const std::string role = message.text("role");
  if (std::ranges::find(allowed, role) != allowed.end()) return role;
  std::string names;
  for (const std::string& one : allowed) names += (names.empty() ? "\"" : ", \"") + one + "\"";
  throw invalid_value(message.name("role"), "expected one of the roles " + names + ": got \"" + role + "\"");
}

/// The calls of tools in a message, as templates expect them: with arguments that are objects.
Json tool_calls_of(Fields& message) {
  const Json* given = message.find("tool_calls");
  if (!given) return {};
  if (!given->is_array()) throw invalid_value(message.name("tool_calls"), "expected an array");
  Json calls = *given;
  for (Json& call : calls) {
    if (!call.is_object() || !call.contains("function") || !call["function"].is_object())
      throw invalid_value(message.name("tool_calls"), "expected objects with a \"function\"");
    Json& arguments = call["function"]["arguments"];
    if (!arguments.is_string()) continue;
    Json parsed = Json::parse(arguments.get<std::string>(), nullptr, false);
    if (parsed.is_object()) arguments = std::move(parsed);
  }
  return calls;
}

/// A message for the template: parts of a content are joined, and other fields are as they were sent.
Json message_for_template(const Json& given, const std::string& path) {
  Fields fields(given, path);
  const std::string role = role_of(fields, {"system", "developer", "user", "assistant", "tool"});
  Json message = given;
  const bool may_be_empty = role == "assistant" && !fields.find("content");
  message["content"] = may_be_empty ? "" : content_of(fields);
  if (Json calls = tool_calls_of(fields); !calls.is_null())
    message["tool_calls"] = std::move(calls);
  else
    message.erase("tool_calls");
  for (const char* key :
       {"name", "refusal", "tool_call_id", "reasoning_content", "function_call", "audio", "annotations"})
    fields.ignore(key);
  fields.refuse_others();
  return message;
}

/// Which tools a reply calls.
struct ToolChoice {
  std::string tools = {};  ///< a JSON list; empty: none
  bool required = false;
  std::string only = {};  ///< the name of the tool that it must call
};

/// "tools" and "tool_choice".
ToolChoice read_tools(Fields& fields) {
  ToolChoice read;
  const Json* tools = fields.find("tools");
  bool none = false;
  if (const Json* choice = fields.find("tool_choice")) {
    if (choice->is_object()) {
      Fields named(*choice, "tool_choice.");
      if (const std::string type = named.text("type"); type != "function")
        throw invalid_value("tool_choice.type", "expected \"function\": got \"" + type + "\"");
      Fields function(named.required("function"), "tool_choice.function.");
      read.only = function.text("name");
      function.refuse_others(), named.refuse_others();
    } else if (*choice != "none" && *choice != "auto" && *choice != "required") {
      throw invalid_value("tool_choice", "expected \"none\", \"auto\", \"required\" or a function");
    }
    none = *choice == "none", read.required = choice->is_object() || *choice == "required";
  }
  if (!tools || tools->empty()) {
    if (read.required) throw invalid_value("tool_choice", "there are no tools to call");
    return read;
  }
  if (none) return read;
  if (!tools->is_array()) throw invalid_value("tools", "expected an array");
  for (const Json& tool : *tools)
    if (!tool.is_object() || tool.value("type", "") != "function" || !tool.contains("function") ||
        !tool["function"].is_object())
      throw invalid_value("tools", "expected objects with the type \"function\" and a \"function\"");
  read.tools = dump(*tools);
  return read;
}

/// Makes the reply a call of a tool.
void require_call(TextRequest& request, const ToolChoice& choice, const Patience& patience) {
  GenerateOptions& options = request.options;
  if (request.tool_calls == ToolCallStyle::none)
    throw invalid_value("tool_choice", "the model's chat template has no calls of tools");
  if (options.search.grammar || options.search.json_schema)
    throw invalid_value("tool_choice", "a reply that must call a tool cannot also conform to a format or grammar");
  try {
    ForcedToolCall forced = force_tool_call(request.tool_calls, choice.tools, choice.only);
    options.search.grammar = std::move(forced.grammar);
    request.model->language_model->grammar(options.search);
    options.begin = request.model->ids(std::move(forced.begin), patience);
  } catch (const InputError& error) {
    throw invalid_value("tools", error.what());
  }
}

const Json& checked_messages(Fields& fields) {
  const Json& messages = fields.required("messages");
  if (!messages.is_array() || messages.empty())
    throw invalid_value("messages", "expected an array with a message at least");
  if (messages.size() > kMostMessages)
    throw invalid_value("messages", "too many messages: got " + std::to_string(messages.size()) +
                                        ", expected at most " + std::to_string(kMostMessages));
  return messages;
}

/// The prompt that the model's chat template makes.
std::vector<std::int32_t> read_with_template(Fields& fields, TextRequest& request, std::int64_t most,
                                             const Patience& patience) {
  ServedModel& model = *request.model;
  const ChatTemplate& chat = *model.chat_template;
  ChatInput input;
  const Json& given = checked_messages(fields);
  Json messages = Json::array();
  for (std::size_t i = 0; i < given.size(); ++i)
    messages.push_back(message_for_template(given[i], "messages[" + std::to_string(i) + "]."));
  input.messages = dump(messages);
  const ToolChoice choice = read_tools(fields);
  input.tools = request.tools = choice.tools;
  if (!choice.tools.empty()) request.tool_calls = tool_call_style(chat);
  if (choice.required) require_call(request, choice, patience);
  most -= std::ssize(request.options.begin);
  if (const Json* arguments = fields.find("chat_template_kwargs")) {
    if (!arguments->is_object()) throw invalid_value("chat_template_kwargs", "expected an object");
    input.arguments = dump(*arguments);
  }
  if (model.end_of_reply) request.options.ends.push_back(*model.end_of_reply);
  const StopCheck check([&patience] { patience.check(); });
  patience.reserve(16 * static_cast<double>(input.messages.size() + input.tools.size()));
  try {
    ChatPrompt prompt = chat_prompt(chat, *model.tokenizer, input, most,
                                    [&](const std::string& text) { return model.ids(text, patience); });
    request.dropped_messages = prompt.dropped;
    return std::move(prompt.ids);
  } catch (const InputError& error) {  // of the template, which may refuse a conversation
    throw invalid_value("messages", error.what());
  }
}

/// Without a template, the end-of-text token ends each turn.
std::vector<std::int32_t> read_turns(Fields& fields, TextRequest& request, std::int64_t most,
                                     const Patience& patience) {
  fields.refuse("tools", {Json::array()}, "the model calls no tools");
  fields.refuse("tool_choice", {"none", "auto"}, "the model calls no tools");
  fields.refuse("chat_template_kwargs", {Json::object()}, "the model has no chat template");
  const Json& messages = checked_messages(fields);
  Conversation conversation(request.model->language_model->end());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Fields message(messages[i], "messages[" + std::to_string(i) + "].");
    role_of(message, {"user", "assistant"});
    conversation.add(request.model->ids(content_of(message), patience));
    for (const char* key : {"name", "refusal", "tool_calls", "function_call", "audio", "annotations"})
      message.ignore(key);
    message.refuse_others();
  }
  request.dropped_messages = conversation.shorten(static_cast<std::size_t>(most));
  return conversation.ids();
}

void read_messages(Fields& fields, TextRequest& request, const Patience& patience) {
  const LanguageModel& model = *request.model->language_model;
  const std::int64_t most = model.positions() + 1 - *request.options.search.max_new_tokens;
  if (most < 1)
    throw ApiError(400, "input_too_long",
                   "max_tokens leaves no room for the messages: got " +
                       std::to_string(*request.options.search.max_new_tokens) + ", the model sees " +
                       std::to_string(model.positions()) + " tokens",
                   "max_tokens");
  request.prompts.push_back(request.model->chat_template ? read_with_template(fields, request, most, patience)
                                                         : read_turns(fields, request, most, patience));
  request.prompt_texts.emplace_back();
}

}  // namespace

Reply complete(Api& api, const Call& call) {
  const Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  TextRequest request;
  request.model = &api.model(fields, "generate");
  const auto logprobs = fields.integer("logprobs", 0, kMostAlternatives);
  request.logprobs = logprobs.has_value(), request.alternatives = logprobs.value_or(0);
  request.echo = fields.flag("echo").value_or(false);
  fields.refuse("suffix", {""}, "the model cannot fill in text");
  fields.refuse("best_of", {1}, "ask for n texts instead");
  read_options(fields, request);
  read_prompts(fields, request, patience);
  fields.refuse_others();
  if (!request.options.search.max_new_tokens) {  // the default, or fewer if the context has less room
    std::int64_t most = kDefaultCompletion;
    if (request.options.long_context == LongContext::refuse)
      for (const Ids& prompt : request.prompts)
        most = std::min(most, request.model->language_model->positions() + 1 - std::ssize(prompt));
    request.options.search.max_new_tokens = std::max<std::int64_t>(most, 1);
  }
  return answer(std::move(request), patience);
}

Reply chat(Api& api, const Call& call) {
  const Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  TextRequest request;
  request.model = &api.model(fields, "chat");
  request.chat = true;
  request.logprobs = fields.flag("logprobs").value_or(false);
  request.alternatives = fields.integer("top_logprobs", 0, kMostAlternatives).value_or(0);
  if (request.alternatives > 0 && !request.logprobs) throw invalid_value("top_logprobs", "needs \"logprobs\": true");
  const std::int64_t default_tokens =
      std::min<std::int64_t>(128, std::max<std::int64_t>(request.model->language_model->positions() / 4, 1));
  fields.refuse("functions", {Json::array()}, "use \"tools\" instead");
  fields.refuse("modalities", {Json{"text"}}, "the model writes plain text");
  fields.ignore("parallel_tool_calls");
  read_options(fields, request);
  std::optional<std::int64_t>& most = request.options.search.max_new_tokens;
  if (const auto newer = fields.integer("max_completion_tokens", 1, kMostTokens)) most = newer;
  if (!most) most = default_tokens;
  read_messages(fields, request, patience);
  fields.refuse_others();
  return answer(std::move(request), patience);
}

}  // namespace attend::serve
