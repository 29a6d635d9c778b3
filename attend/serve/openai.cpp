// OpenAI's shapes: completions, chat and embeddings.
#include <algorithm>
#include <charconv>
#include <random>

#include "attend/decode/conversation.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/text/base64.h"

namespace attend::serve {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kUntoldCompletion = 16;  // tokens, as OpenAI has it
constexpr std::int64_t kMostTokens = 1 << 20, kMostTexts = 128, kMostAlternatives = 20;
constexpr std::chrono::milliseconds kLook{50};

std::uint64_t random_number() {
  static std::mutex mutex;
  static std::mt19937_64 generator = [] {
    std::random_device device;
    return std::mt19937_64((std::uint64_t{device()} << 32) | device());
  }();
  const std::lock_guard lock(mutex);
  return generator();
}

std::string new_id(const char* prefix) {
  char digits[17] = {};
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random_number()));
  return std::string(prefix) + digits;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// A request for texts, of either shape.
struct TextRequest {
  ServedModel* model = nullptr;
  bool chat = false;
  std::vector<Ids> prompts;
  std::vector<std::string> prompt_texts;
  GenerateOptions options;
  bool stream = false, include_usage = false, echo = false;
  bool logprobs = false;
  std::int64_t alternatives = 0;  // logprobs of so many tokens beside the one that was said
};

/// What both shapes share.
void read_options(Fields& fields, TextRequest& request) {
  GenerateOptions& o = request.options;
  o.temperature = fields.number("temperature", 0, 100);
  o.top_p = fields.number("top_p", 0, 1);
  o.samples = fields.integer("n", 1, kMostTexts).value_or(1);
  o.stop = fields.optional_texts("stop");
  for (const std::string& stop : o.stop)
    if (stop.empty()) throw invalid_value("stop", "a text cannot stop at nothing: got an empty stop");
  o.presence_penalty = fields.number("presence_penalty", -2, 2);
  fields.refuse("frequency_penalty", {0}, "there are presence_penalty and repetition_penalty");
  fields.refuse("logit_bias", {Json::object()}, "tokens cannot be favoured one by one");
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

/// The texts of a request as they come, in OpenAI's shapes.
class TextAnswer {
 public:
  explicit TextAnswer(TextRequest request)
      : request_(std::move(request)),
        id_(new_id(request_.chat ? "chatcmpl-" : "cmpl-")),
        created_(now()),
        samples_(static_cast<std::size_t>(request_.options.samples)),
        choices_(request_.prompts.size() * samples_) {
    std::vector<GenerationTask> tasks =
        GenerationTask::make(*request_.model->language_model, request_.prompts, request_.options);
    for (const GenerationTask& task : tasks) prompt_tokens_ += task.prompt_tokens();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const std::string& prompt = request_.prompt_texts[i / samples_];
      choices_[i].offset = code_points(prompt);
      if (request_.echo) choices_[i].text = prompt;
    }
    feed_ = request_.model->generate(std::move(tasks), request_.alternatives);
  }
  ~TextAnswer() {
    if (feed_) feed_->abandoned = true;
  }
  TextAnswer(const TextAnswer&) = delete;
  TextAnswer& operator=(const TextAnswer&) = delete;

  Json whole(const ServedModel::Patience& patience) {
    while (left() > 0) take(next(patience));
    Json choices = Json::array();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const Choice& choice = choices_[i];
      Json logprobs = request_.logprobs ? logprobs_json(choice.tokens) : Json();
      Json one;
      if (request_.chat)
        one = {{"index", i},
               {"message", {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}}},
               {"logprobs", std::move(logprobs)},
               {"finish_reason", choice.finish}};
      else
        one = {
            {"text", choice.text}, {"index", i}, {"logprobs", std::move(logprobs)}, {"finish_reason", choice.finish}};
      choices.push_back(std::move(one));
    }
    Json json = head(request_.chat ? "chat.completion" : "text_completion");
    json["choices"] = std::move(choices), json["usage"] = usage();
    return json;
  }

  /// Never throws: what goes wrong is told in the stream.
  void stream(const Reply::Write& write, const ServedModel::Patience& patience) {
    const auto send = [&](const Json& json) {
      if (!write("data: " + dump(json) + "\n\n")) throw ApiError(499, "hung_up", "the client has hung up");
    };
    try {
      for (std::size_t i = 0; i < choices_.size(); ++i)
        if (request_.chat)
          send(chunk(i, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
        else if (!choices_[i].text.empty())
          send(chunk(i, choices_[i].text, nullptr, nullptr));
      while (left() > 0) {
        const FeedEvent event = next(patience);
        const std::size_t first = event.prompt * samples_;
        std::vector<std::size_t> before;
        for (std::size_t s = 0; s < samples_; ++s) before.push_back(choices_[first + s].text.size());
        take(event);
        if (event.done.empty()) {
          const std::size_t i = first + event.sample;
          const std::string text = choices_[i].text.substr(before[event.sample]);
          const Json logprobs = request_.logprobs && event.token ? logprobs_json({choices_[i].tokens.back()}) : Json();
          if (!text.empty() || !logprobs.is_null()) send(chunk(i, text_delta(text), logprobs, nullptr));
          continue;
        }
        for (std::size_t s = 0; s < samples_; ++s) {
          const std::string text = choices_[first + s].text.substr(before[s]);
          if (!text.empty()) send(chunk(first + s, text_delta(text), nullptr, nullptr));
          send(chunk(first + s, request_.chat ? Json::object() : Json(""), nullptr, choices_[first + s].finish));
        }
      }
      if (request_.include_usage) {
        Json json = head(request_.chat ? "chat.completion.chunk" : "text_completion");
        json["choices"] = Json::array(), json["usage"] = usage();
        send(json);
      }
      write("data: [DONE]\n\n");
    } catch (...) {
      Json error = error_json(std::current_exception());
      error.erase("status");
      write("data: " + dump(error) + "\n\n");
    }
  }

 private:
  struct Token {
    FeedEvent::Token said;
    std::int64_t offset;  // in code points
  };
  struct Choice {
    std::string text = {};
    std::vector<Token> tokens = {};
    std::int64_t offset = 0;  // of the next token
    std::int64_t count = 0;
    Json finish = {};
  };

  std::size_t left() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(choices_, [](const Choice& c) { return c.finish.is_null(); }));
  }

  FeedEvent next(const ServedModel::Patience& patience) {
    for (;;) {
      patience.check();  // also of those to whom something comes all the time
      if (auto event = feed_->pop(kLook)) {
        if (event->failed) std::rethrow_exception(event->failed);
        return std::move(*event);
      }
    }
  }

  void take(const FeedEvent& event) {
    const std::size_t first = event.prompt * samples_;
    if (event.done.empty()) {
      Choice& choice = choices_[first + event.sample];
      choice.text += event.text;
      if (!event.token) return;
      if (request_.logprobs) choice.tokens.push_back({*event.token, choice.offset});
      choice.offset += code_points(token_text(event.token->id));
      return;
    }
    for (std::size_t s = 0; s < samples_; ++s) {
      Choice& choice = choices_[first + s];
      const Generation& made = event.done[std::min(s, event.done.size() - 1)];
      choice.text = (request_.echo ? request_.prompt_texts[event.prompt] : "") + made.text;
      choice.count = std::ssize(made.ids);
      choice.finish = made.finish == Finish::length ? "length" : "stop";
    }
  }

  std::string token_text(std::int32_t id) const {
    return request_.model->tokenizer->decode(std::span(&id, 1), /*skip_special=*/false);
  }

  Json logprobs_json(const std::vector<Token>& tokens) const {
    if (request_.chat) {
      Json content = Json::array();
      for (const Token& token : tokens) {
        Json best = Json::array();
        for (const auto& [id, logprob] : token.said.best)
          best.push_back({{"token", token_text(id)}, {"logprob", logprob}, {"bytes", nullptr}});
        content.push_back({{"token", token_text(token.said.id)},
                           {"logprob", token.said.log_probability},
                           {"bytes", nullptr},
                           {"top_logprobs", std::move(best)}});
      }
      return {{"content", std::move(content)}, {"refusal", nullptr}};
    }
    Json texts = Json::array(), logprobs = Json::array(), best = Json::array(), offsets = Json::array();
    for (const Token& token : tokens) {
      texts.push_back(token_text(token.said.id));
      logprobs.push_back(token.said.log_probability);
      Json of_token = Json::object();
      for (const auto& [id, logprob] :
           token.said.best)  // of those that look alike, parts of letters say, the likeliest
        of_token.emplace(token_text(id), logprob);
      best.push_back(std::move(of_token));
      offsets.push_back(token.offset);
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(logprobs)},
            {"top_logprobs", std::move(best)},
            {"text_offset", std::move(offsets)}};
  }

  Json head(const char* object) const {
    return {{"id", id_}, {"object", object}, {"created", created_}, {"model", request_.model->name}};
  }
  Json text_delta(const std::string& text) const { return request_.chat ? Json{{"content", text}} : Json(text); }
  Json chunk(std::size_t index, Json delta, Json logprobs, Json finish) const {
    Json json = head(request_.chat ? "chat.completion.chunk" : "text_completion");
    Json choice{{request_.chat ? "delta" : "text", std::move(delta)},
                {"index", index},
                {"logprobs", std::move(logprobs)},
                {"finish_reason", std::move(finish)}};
    json["choices"] = Json::array({std::move(choice)});
    if (request_.include_usage) json["usage"] = nullptr;
    return json;
  }
  Json usage() const {
    std::int64_t completion = 0;
    for (const Choice& choice : choices_) completion += choice.count;
    return {{"prompt_tokens", prompt_tokens_},
            {"completion_tokens", completion},
            {"total_tokens", prompt_tokens_ + completion}};
  }

  TextRequest request_;
  std::string id_;
  std::int64_t created_;
  std::size_t samples_;
  std::vector<Choice> choices_;
  std::int64_t prompt_tokens_ = 0;
  std::shared_ptr<Feed> feed_;
};

Reply answer(TextRequest request, const ServedModel::Patience& patience) {
  const bool stream = request.stream;
  const auto answer = std::make_shared<TextAnswer>(std::move(request));
  if (!stream) return {.body = dump(answer->whole(patience))};
  Reply reply{.type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
  reply.stream = [answer, patience](const Reply::Write& write) { answer->stream(write, patience); };
  return reply;
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
  if (request.echo && request.logprobs)
    throw invalid_value("echo", "the logprobs of a prompt are not told: leave out one of echo and logprobs");
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

namespace {

/// A vector for each token in its context, in place of one for the text.
Reply embed_tokens(ServedModel& model, const std::vector<std::string>& texts, const ServedModel::Patience& patience) {
  const auto run = [&model, texts] {
    Json data = Json::array();
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const TextStates read = model.encoder->read(texts[i]);
      Json vectors = Json::array();
      for (std::int64_t t = 0; t < read.states.dim(0); ++t)
        vectors.push_back(read.states.view_rows(t, t + 1).to_vector());
      tokens += read.states.dim(0);
      data.push_back(
          {{"object", "embedding"}, {"index", i}, {"tokens", read.tokens}, {"embedding", std::move(vectors)}});
    }
    return dump({{"object", "list"},
                 {"data", std::move(data)},
                 {"model", model.name},
                 {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
  };
  return {.body = model.ask(run, patience)};
}

}  // namespace

Reply embed(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "embed");
  std::vector<std::string> texts = fields.texts("input");
  const bool base64 = fields.choice("encoding_format", {"float", "base64"}) == "base64";
  EmbedOptions options;
  options.long_text = LongText::error;
  if (const auto length = fields.choice("long", {"error", "truncate", "split"}))
    options.long_text = *length == "truncate" ? LongText::truncate
                        : *length == "split"  ? LongText::split
                                              : LongText::error;
  const auto pool = fields.choice("pool", {"mean", "cls", "max", "tokens"});
  if (pool && *pool != "tokens")
    options.pool = *pool == "cls" ? Pooling::cls : *pool == "max" ? Pooling::max : Pooling::mean;
  options.normalize = fields.flag("normalize");
  options.prompt = fields.optional_text("prompt");
  if (const auto prompt = fields.optional_text("prompt_name")) {
    options.prompt = model.encoder->prompt(*prompt);
    if (!options.prompt) throw invalid_value("prompt_name", "the model has no prompt \"" + *prompt + "\"");
  }
  if (const auto size = fields.integer("dimensions", 1, kMostTokens); size && *size != model.encoder->size(options))
    throw invalid_value("dimensions", "the model's vectors have " + std::to_string(model.encoder->size(options)) +
                                          " dimensions, and cannot have others");
  fields.ignore("user");
  fields.refuse_others();
  if (pool == "tokens") return embed_tokens(model, texts, api.patience(call));
  std::int64_t tokens = 0;
  for (const std::string& text : texts) tokens += model.encode(text).size();
  Json key = body;
  for (const char* other : {"input", "model", "user", "encoding_format"}) key.erase(other);
  const std::vector<Embedded> all = model.embed(std::move(texts), options, key.dump(), api.patience(call));

  // By hand: the shortest digits that read back as the same float.
  std::string data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    data += std::string(i ? "," : "") + R"({"object":"embedding","index":)" + std::to_string(i);
    if (all[i].truncated > 0) data += R"(,"truncated":)" + std::to_string(all[i].truncated);
    data += R"(,"embedding":)";
    const std::vector<float>& vector = all[i].vector;
    if (base64) {
      data += '"' + to_base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)}) + '"';
    } else {
      char separator = '[';
      for (const float value : vector) {
        char digits[32];
        data += separator;
        data.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
        separator = ',';
      }
      data += ']';
    }
    data += '}';
  }
  return {.body = R"({"object":"list","data":[)" + data + R"(],"model":)" + dump(model.name) +
                  R"(,"usage":{"prompt_tokens":)" + std::to_string(tokens) + R"(,"total_tokens":)" +
                  std::to_string(tokens) + "}}"};
}

}  // namespace attend::serve
