// OpenAI's shapes of completions and chat: what is asked. text_answer.h answers.
#include <charconv>
#include <limits>

#include "attend/tasks/language_model/conversation.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/text_answer.h"

namespace attend::serve {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kUntoldCompletion = 16;  // tokens, as OpenAI has it
constexpr std::int64_t kMostTokens = 1 << 20, kMostTexts = 128, kMostAlternatives = 20;
constexpr std::size_t kMostStops = 16, kMostBiases = 1024;  // what they cost is paid at every token

/// {"50256": -100}: ids of tokens, and what is added to their scores.
std::vector<LogitBias> read_biases(Fields& fields, const Tokenizer& tokenizer) {
  const Json* given = fields.find("logit_bias");
  if (!given) return {};
  if (!given->is_object() || given->size() > kMostBiases)
    throw invalid_value("logit_bias", "expected an object with at most " + std::to_string(kMostBiases) + " tokens");
  std::vector<LogitBias> biases;
  Fields numbers(*given, "logit_bias.");
  for (const auto& [key, value] : given->items()) {
    LogitBias one;
    const char* end = key.data() + key.size();
    const auto [at, error] = std::from_chars(key.data(), end, one.id);
    if (error != std::errc() || at != end || one.id < 0 || one.id >= tokenizer.size())
      throw invalid_value("logit_bias", "there is no token \"" + key + "\", expected the ids 0 to " +
                                            std::to_string(tokenizer.size() - 1));
    one.bias = numbers.number(key.c_str(), -100, 100).value_or(0);
    biases.push_back(one);
  }
  return biases;
}

/// What both shapes share.
void read_options(Fields& fields, TextRequest& request) {
  GenerateOptions& o = request.options;
  o.temperature = fields.number("temperature", 0, 100);
  o.top_p = fields.number("top_p", 0, 1);
  o.samples = fields.integer("n", 1, kMostTexts).value_or(1);
  o.stop = fields.optional_texts("stop");
  for (const std::string& stop : o.stop)
    if (stop.empty()) throw invalid_value("stop", "a text cannot stop at nothing: got an empty stop");
  if (o.stop.size() > kMostStops)
    throw invalid_value("stop", "too many stops: got " + std::to_string(o.stop.size()) + ", expected at most " +
                                    std::to_string(kMostStops));
  o.presence_penalty = fields.number("presence_penalty", -2, 2);
  o.frequency_penalty = fields.number("frequency_penalty", -2, 2);
  o.biases = read_biases(fields, *request.model->tokenizer);
  const auto seed = fields.integer("seed", std::numeric_limits<std::int32_t>::min(), std::int64_t{1} << 53);
  o.seed = seed ? static_cast<std::uint64_t>(*seed) : random_number();
  // Ours.
  o.top_k = fields.integer("top_k", 0, kMostTokens);
  o.min_p = fields.number("min_p", 0, 1);
  o.repetition_penalty = fields.number("repetition_penalty", 0.01, 100);
  o.no_repeat_ngram = fields.integer("no_repeat_ngram", 0, 1024);
  o.min_new_tokens = fields.integer("min_tokens", 0, kMostTokens);
  o.beam = fields.integer("beam", 1, 64);
  o.length_penalty = fields.number("length_penalty", -10, 10);
  o.ignore_eos = fields.flag("ignore_eos").value_or(false);
  if (fields.choice("long", {"error", "slide"}) == "slide") o.long_context = LongContext::slide;
  if (o.temperature == 0) {  // the likeliest token each time: what else is said of chance means nothing
    o.greedy = true, o.temperature = {};
    o.top_k = {}, o.top_p = {}, o.min_p = {};
    if (o.samples > 1 && !o.beam) throw invalid_value("n", "with a temperature of 0 there is one text only");
    if (o.beam) o.greedy = false;
  }
  if (o.beam && (o.temperature || o.top_k || o.top_p || o.min_p))
    throw invalid_value("beam", "a beam draws nothing by chance: leave out temperature, top_k, top_p and min_p");
  if (o.beam && o.samples > *o.beam) throw invalid_value("n", "cannot be more than \"beam\"");
  request.stream = fields.flag("stream").value_or(false);
  if (const Json* options = fields.find("stream_options")) {
    Fields of_stream(*options, "stream_options.");
    request.include_usage = of_stream.flag("include_usage").value_or(false);
    of_stream.ignore("include_obfuscation");
    of_stream.refuse_others();
  }
  for (const char* key : {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"})
    fields.ignore(key);
  if (request.logprobs && o.beam) throw invalid_value("logprobs", "a beam does not tell them");
}

/// A text, texts, ids, or arrays of ids.
void read_prompts(Fields& fields, TextRequest& request) {
  const Tokenizer& tokenizer = *request.model->tokenizer;
  const Json& prompt = fields.required("prompt");
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
    for (const std::string& text : request.prompt_texts) request.prompts.push_back(request.model->ids(text));
  }
  if (std::ssize(request.prompts) > kMostTexts)
    throw invalid_value("prompt", "too many prompts: got " + std::to_string(request.prompts.size()) +
                                      ", expected at most " + std::to_string(kMostTexts));
}

/// What a message says: a text, or parts that are texts.
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

void read_messages(Fields& fields, TextRequest& request) {
  const LanguageModel& model = *request.model->language_model;
  const Json& messages = fields.required("messages");
  if (!messages.is_array() || messages.empty())
    throw invalid_value("messages", "expected an array with a message at least");
  Conversation conversation(model.end());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Fields message(messages[i], "messages[" + std::to_string(i) + "].");
    const std::string role = message.text("role");
    if (role != "user" && role != "assistant")
      throw invalid_value(message.name("role"),
                          "the model knows turns of \"user\" and \"assistant\" only: got \"" + role + "\"");
    conversation.add(request.model->ids(content_of(message)));
    for (const char* key : {"name", "refusal", "tool_calls", "function_call", "audio", "annotations"})
      message.ignore(key);
    message.refuse_others();
  }
  const std::int64_t most = model.positions() + 1 - *request.options.max_new_tokens;
  if (most < 1)
    throw ApiError(400, "input_too_long",
                   "max_tokens leaves no room for what was said: got " +
                       std::to_string(*request.options.max_new_tokens) + ", the model sees " +
                       std::to_string(model.positions()) + " tokens",
                   "max_tokens");
  conversation.shorten(static_cast<std::size_t>(most));
  request.prompts.push_back(conversation.ids());
  request.prompt_texts.emplace_back();
}

}  // namespace

Reply complete(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  TextRequest request;
  request.model = &api.model(fields, "generate");
  const auto logprobs = fields.integer("logprobs", 0, kMostAlternatives);
  request.logprobs = logprobs.has_value(), request.alternatives = logprobs.value_or(0);
  request.echo = fields.flag("echo").value_or(false);
  fields.refuse("suffix", {""}, "the model writes forwards only");
  fields.refuse("best_of", {1}, "ask for n texts instead");
  request.options.max_new_tokens = fields.integer("max_tokens", 1, kMostTokens);
  read_options(fields, request);
  read_prompts(fields, request);
  fields.refuse_others();
  if (!request.options.max_new_tokens) {  // as many as fit, where nobody says
    std::int64_t most = kUntoldCompletion;
    if (request.options.long_context == LongContext::refuse)
      for (const Ids& prompt : request.prompts)
        most = std::min(most, request.model->language_model->positions() + 1 - std::ssize(prompt));
    request.options.max_new_tokens = std::max<std::int64_t>(most, 1);
  }
  return answer(std::move(request), api.patience(call));
}

Reply chat(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  TextRequest request;
  request.model = &api.model(fields, "chat");
  request.chat = true;
  request.logprobs = fields.flag("logprobs").value_or(false);
  request.alternatives = fields.integer("top_logprobs", 0, kMostAlternatives).value_or(0);
  if (request.alternatives > 0 && !request.logprobs) throw invalid_value("top_logprobs", "needs \"logprobs\": true");
  const std::int64_t untold =
      std::min<std::int64_t>(128, std::max<std::int64_t>(request.model->language_model->positions() / 4, 1));
  auto most = fields.integer("max_tokens", 1, kMostTokens);
  if (const auto newer = fields.integer("max_completion_tokens", 1, kMostTokens)) most = newer;
  request.options.max_new_tokens = most.value_or(untold);
  fields.refuse("tools", {Json::array()}, "the model calls nothing");
  fields.refuse("tool_choice", {"none", "auto"}, "the model calls nothing");
  fields.refuse("functions", {Json::array()}, "the model calls nothing");
  fields.refuse("response_format", {Json{{"type", "text"}}}, "the model writes plain text");
  fields.refuse("modalities", {Json{"text"}}, "the model writes plain text");
  fields.ignore("parallel_tool_calls");
  read_options(fields, request);
  read_messages(fields, request);
  fields.refuse_others();
  return answer(std::move(request), api.patience(call));
}

}  // namespace attend::serve
