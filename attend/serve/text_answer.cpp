#include "attend/serve/text_answer.h"

#include <algorithm>
#include <cmath>

#include "attend/decode/sampling.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/large_reply.h"

namespace attend::serve {
namespace {

std::string new_id(const char* prefix) {
  char digits[17] = {};
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random_seed()));
  return std::string(prefix) + digits;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// Collects the texts of a request and writes them in OpenAI's format.
class TextAnswer {
 public:
  TextAnswer(TextRequest request, const ServedModel::Patience& patience)
      : request_(std::move(request)),
        id_(new_id(request_.chat ? "chatcmpl-" : "cmpl-")),
        created_(now()),
        samples_(static_cast<std::size_t>(request_.options.search.nbest.value_or(1))),
        choices_(request_.prompts.size() * samples_) {
    const StopCheck check([&patience] { patience.check(); });
    std::vector<GenerationTask> tasks =
        GenerationTask::make(*request_.model->language_model, request_.prompts, request_.options);
    for (const GenerationTask& task : tasks) prompt_tokens_ += std::ssize(task.request.input.prompt);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const std::string& prompt = request_.prompt_texts[i / samples_];
      choices_[i].offset = code_points(prompt);
      if (request_.echo) choices_[i].text = prompt;
    }
    if (request_.echo && request_.logprobs) echo_tokens(patience);
    std::optional<std::int64_t> alternatives;  // without it, single tokens are not reported
    if (request_.stream || request_.logprobs) alternatives = request_.alternatives;
    events_ = request_.model->generate(std::move(tasks), alternatives);
  }
  ~TextAnswer() {
    if (events_) events_->abandoned = true;
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
      if (request_.chat) {
        Json message{{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
        if (!choice.calls.empty()) {
          if (choice.text.empty()) message["content"] = nullptr;
          message["tool_calls"] = choice.calls;
        }
        one = {{"index", i},
               {"message", std::move(message)},
               {"logprobs", std::move(logprobs)},
               {"finish_reason", choice.finish}};
      } else {
        one = {
            {"text", choice.text}, {"index", i}, {"logprobs", std::move(logprobs)}, {"finish_reason", choice.finish}};
      }
      choices.push_back(std::move(one));
    }
    Json json = head(request_.chat ? "chat.completion" : "text_completion");
    json["choices"] = std::move(choices), json["usage"] = usage();
    return json;
  }

  /// Never throws: an error becomes an event of the stream.
  void stream(const Reply::Write& write, const ServedModel::Patience& patience) {
    const auto send = [&](const Json& json) {
      if (!write("data: " + dump(json) + "\n\n")) throw ApiError(499, "hung_up", "the client has hung up");
    };
    try {
      for (std::size_t i = 0; i < choices_.size(); ++i)
        if (request_.chat)
          send(chunk(i, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
        else if (!choices_[i].text.empty())
          send(chunk(i, choices_[i].text, request_.logprobs ? logprobs_json(choices_[i].tokens) : Json(), nullptr));
      while (left() > 0) {
        const StreamEvent event = next(patience);
        const std::size_t first = event.prompt * samples_;
        std::vector<std::size_t> before;
        for (std::size_t s = 0; s < samples_; ++s) before.push_back(choices_[first + s].text.size());
        take(event);
        if (event.done.empty()) {
          const std::size_t i = first + event.sample;
          const std::string text = may_call() ? "" : choices_[i].text.substr(before[event.sample]);
          const Json logprobs = request_.logprobs && event.token ? logprobs_json({choices_[i].tokens.back()}) : Json();
          if (!text.empty() || !logprobs.is_null()) send(chunk(i, text_delta(text), logprobs, nullptr));
          continue;
        }
        for (std::size_t s = 0; s < samples_; ++s) {
          const std::string text = choices_[first + s].text.substr(may_call() ? 0 : before[s]);
          if (!text.empty()) send(chunk(first + s, text_delta(text), nullptr, nullptr));
          Json calls = choices_[first + s].calls;
          for (std::size_t c = 0; c < calls.size(); ++c) {
            Json call{{"index", c}};
            call.update(calls[c]);
            send(chunk(first + s, {{"tool_calls", Json::array({std::move(call)})}}, nullptr, nullptr));
          }
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
      const char* texts = request_.chat ? "messages" : "prompt";
      write("data: " + dump(failure_of(std::current_exception(), texts).json) + "\n\n");
    }
  }

 private:
  struct Token {
    StreamEvent::Token event;
    std::int64_t offset;  // in code points
  };
  struct Choice {
    std::string text = {};
    std::vector<Token> tokens = {};
    std::int64_t offset = 0;  // of the next token
    std::int64_t count = 0;
    Json finish = {};
    Json calls = Json::array();  // of tools
  };

  /// Whether a reply may call tools. Then its text is known only at its end.
  bool may_call() const { return request_.tool_calls != ToolCallStyle::none; }

  /// The tokens of an echoed prompt, with their log-probabilities.
  void echo_tokens(const ServedModel::Patience& patience) {
    for (std::size_t p = 0; p < request_.prompts.size(); ++p) {
      const auto scored =
          std::make_shared<TextLikelihood>();  // outlives this object if the client closes the connection
      const auto run = [scored, model = request_.model, ids = request_.prompts[p], most = request_.alternatives] {
        *scored =
            model->language_model->score(std::vector<std::vector<std::int32_t>>{ids}, {.alternatives = most}).front();
        return std::string();
      };
      // A prompt that does not fit into the context is scored in many calls.
      const bool is_long = std::ssize(request_.prompts[p]) > request_.model->language_model->positions();
      request_.model->ask(run, patience, is_long);
      std::vector<Token> tokens;
      std::int64_t offset = 0;
      for (std::size_t t = 0; t < scored->ids.size(); ++t) {
        Token& token = tokens.emplace_back(Token{{scored->ids[t], scored->logprobs[t], {}}, offset});
        for (const NextToken& next : scored->best[t]) token.event.best.emplace_back(next.id, next.log_probability);
        offset += code_points(token_text(scored->ids[t]));
      }
      for (std::size_t s = 0; s < samples_; ++s) choices_[p * samples_ + s].tokens = tokens;
    }
  }

  std::size_t left() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(choices_, [](const Choice& c) { return c.finish.is_null(); }));
  }

  StreamEvent next(const ServedModel::Patience& patience) {
    for (;;) {
      patience.check();  // also while events keep coming
      if (auto event = events_->pop(kPollInterval)) return std::move(*event);
    }
  }

  void take(const StreamEvent& event) {
    const std::size_t first = event.prompt * samples_;
    if (event.done.empty()) {
      Choice& choice = choices_[first + event.sample];
      choice.text += event.text;
      if (!event.token || !request_.logprobs) return;
      choice.tokens.push_back({*event.token, choice.offset});
      choice.offset += code_points(token_text(event.token->id));
      return;
    }
    for (std::size_t s = 0; s < samples_; ++s) {
      Choice& choice = choices_[first + s];
      const Generation& made = event.done[std::min(s, event.done.size() - 1)];
      if (s == 0) reused_tokens_ += made.reused;
      choice.text = (request_.echo ? request_.prompt_texts[event.prompt] : "") + made.text;
      choice.count = std::ssize(made.ids);
      choice.finish = made.finish == Finish::length ? "length" : "stop";
      if (may_call()) take_calls(made, choice);
    }
  }

  /// Some models write their calls with special tokens, which the text of a reply does not have.
  void take_calls(const Generation& made, Choice& choice) const {
    std::span<const std::int32_t> ids = made.ids;
    if (made.finish == Finish::eos) ids = ids.first(ids.size() - 1);
    ChatReply reply = parse_tool_calls(request_.model->tokenizer->decode(ids, /*skip_special=*/false),
                                       request_.tool_calls, request_.tools);
    if (reply.calls.empty()) return;
    choice.text = std::move(reply.text);
    choice.finish = "tool_calls";
    for (const ToolCall& call : reply.calls)
      choice.calls.push_back({{"id", new_id("call_")},
                              {"type", "function"},
                              {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }

  std::string token_text(std::int32_t id) const {
    return request_.model->tokenizer->decode(std::span(&id, 1), /*skip_special=*/false);
  }

  Json logprobs_json(const std::vector<Token>& tokens) const {
    if (request_.chat) {
      Json content = Json::array();
      for (const Token& token : tokens) {
        Json best = Json::array();
        for (const auto& [id, logprob] : token.event.best)
          best.push_back({{"token", token_text(id)}, {"logprob", logprob}, {"bytes", nullptr}});
        content.push_back({{"token", token_text(token.event.id)},
                           {"logprob", token.event.log_probability},
                           {"bytes", nullptr},
                           {"top_logprobs", std::move(best)}});
      }
      return {{"content", std::move(content)}, {"refusal", nullptr}};
    }
    Json texts = Json::array(), logprobs = Json::array(), best = Json::array(), offsets = Json::array();
    for (const Token& token : tokens) {
      texts.push_back(token_text(token.event.id));
      logprobs.push_back(token.event.log_probability);
      Json of_token = Json::object();
      // Of tokens with the same text (parts of a character) the most likely one.
      for (const auto& [id, logprob] : token.event.best) of_token.emplace(token_text(id), logprob);
      best.push_back(std::isnan(token.event.log_probability) ? Json() : std::move(of_token));
      offsets.push_back(token.offset);
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(logprobs)},
            {"top_logprobs", std::move(best)},
            {"text_offset", std::move(offsets)}};
  }

  Json head(const char* object) const {
    Json json{{"id", id_}, {"object", object}, {"created", created_}, {"model", request_.model->name}};
    if (request_.dropped_messages > 0) json["dropped_messages"] = request_.dropped_messages;
    return json;
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
            {"total_tokens", prompt_tokens_ + completion},
            {"prompt_tokens_details", {{"cached_tokens", reused_tokens_}}}};
  }

  TextRequest request_;
  std::string id_;
  std::int64_t created_;
  std::size_t samples_;
  std::vector<Choice> choices_;
  std::int64_t prompt_tokens_ = 0, reused_tokens_ = 0;
  std::shared_ptr<EventStream> events_;
};

/// Estimate of the memory that the texts of a request need until they are sent.
double text_bytes(const TextRequest& request) {
  const double samples = static_cast<double>(request.options.search.nbest.value_or(1));
  double tokens = samples * static_cast<double>(request.prompts.size()) *
                  static_cast<double>(request.options.search.max_new_tokens.value_or(0));
  double prompt_bytes = 0;
  for (std::size_t i = 0; request.echo && i < request.prompts.size(); ++i) {
    prompt_bytes += samples * static_cast<double>(request.prompt_texts[i].size());
    if (request.logprobs) tokens += samples * static_cast<double>(request.prompts[i].size());
  }
  double each = 32;                                     // an id and some letters
  if (request.stream || request.logprobs) each += 200;  // an event that waits to be sent
  if (request.logprobs) each += 400 + 250 * static_cast<double>(request.alternatives);  // its JSON
  double bad_words = 0;  // bytes; each is tokenised with and without a space before it
  for (const std::string& word : request.options.search.bad_words.value_or(std::vector<std::string>()))
    bad_words += 2 * static_cast<double>(word.size());
  return tokens * each + 3 * prompt_bytes + kBytesToTokenize * bad_words;
}

}  // namespace

Reply answer(TextRequest request, const ServedModel::Patience& patience) {
  const bool stream = request.stream;
  patience.reserve(text_bytes(request));
  const auto answer = std::make_shared<TextAnswer>(std::move(request), patience);
  if (!stream) return json_reply(dump(answer->whole(patience)), patience);
  Reply reply{.type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
  reply.stream = [answer, patience](const Reply::Write& write) { answer->stream(write, patience); };
  return reply;
}

}  // namespace attend::serve
