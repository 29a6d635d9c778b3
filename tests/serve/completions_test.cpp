// Completions and chat are what the library writes.
#include "attend/tasks/language_model/conversation.h"
#include "attend/tasks/language_model/language_model.h"
#include "tests/serve/serving.h"
#include "tests/support/temp_folder.h"

namespace attend::test {
namespace {

const LanguageModel& language_model() {
  static const LanguageModel model(kGpt2);
  return model;
}

TEST(Models, AreListedWithWhatTheyCanDo) {
  const auto answer = serving().get("/v1/models");
  ASSERT_EQ(answer.status, 200);
  std::map<std::string, Json> models;
  for (const Json& one : answer.json["data"]) models[one["id"]] = one;
  ASSERT_EQ(models.size(), 6u);
  EXPECT_EQ(models["gpt2"]["kind"], "gpt2");
  EXPECT_EQ(models["gpt2"]["layers"], 2);
  EXPECT_EQ(models["gpt2"]["heads"], 5);
  EXPECT_EQ(models["gpt2"]["context"], 24);
  EXPECT_EQ(models["it-en"]["source_language"], "it");
  EXPECT_EQ(models["it-en"]["target_language"], "en");
  EXPECT_FALSE(models["labels"]["labels"].empty());
  const auto can = [&](const char* name, const char* what) {
    const Json& all = models[name]["capabilities"];
    return std::find(all.begin(), all.end(), what) != all.end();
  };
  EXPECT_TRUE(can("gpt2", "generate") && can("gpt2", "chat"));
  EXPECT_TRUE(can("it-en", "translate") && can("sentences", "embed"));
  EXPECT_TRUE(can("words", "fill-mask") && can("labels", "classify"));
  EXPECT_EQ(serving().get("/v1/models/gpt2").json, models["gpt2"]);
  EXPECT_EQ(serving().get("/v1/models/other").json["error"]["code"], "unknown_model");
}

TEST(Completions, AreWhatTheLibraryWrites) {
  const std::vector<std::string> prompts{"The", "once upon a time", "To be or"};
  const Json common{{"model", "gpt2"}, {"prompt", prompts}, {"max_tokens", 8}};
  const auto check = [&](Json body, const GenerateOptions& options) {
    const auto answer = serving().post("/v1/completions", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto expected = language_model().generate(prompts, options);
    std::int64_t tokens = 0;
    ASSERT_EQ(answer.json["choices"].size(),
              prompts.size() * static_cast<std::size_t>(options.search.nbest.value_or(1)));
    for (std::size_t i = 0; i < answer.json["choices"].size(); ++i) {
      const Json& choice = answer.json["choices"][i];
      const auto samples = static_cast<std::size_t>(options.search.nbest.value_or(1));
      const Generation& one = expected[i / samples][i % samples];
      EXPECT_EQ(choice["text"], one.text) << i;
      EXPECT_EQ(choice["index"], i);
      EXPECT_EQ(choice["finish_reason"], one.finish == Finish::length ? "length" : "stop");
      tokens += std::ssize(one.ids);
    }
    EXPECT_EQ(answer.json["usage"]["completion_tokens"], tokens);
    EXPECT_EQ(answer.json["object"], "text_completion");
  };
  check(common, {{.max_new_tokens = 8}});
  Json body = common;
  body["temperature"] = 0, body["n"] = 1;
  check(body, {{.greedy = true, .max_new_tokens = 8}});
  body = common;
  body["temperature"] = 1.5, body["top_p"] = 0.9, body["seed"] = 5, body["n"] = 3;
  check(body, {{.nbest = 3, .temperature = 1.5, .top_p = 0.9, .seed = 5, .max_new_tokens = 8}});
  body = common;
  body["beam"] = 3, body["n"] = 2;
  check(body, {{.beam = 3, .nbest = 2, .max_new_tokens = 8}});
  body = common;
  body["temperature"] = 2, body["seed"] = 1, body["stop"] = {"e", "a"}, body["repetition_penalty"] = 1.2;
  check(body, {{.temperature = 2,
                .seed = 1,
                .max_new_tokens = 8,
                .repetition_penalty = 1.2,
                .stop = std::vector<std::string>{"e", "a"}}});
  body = common;
  body["presence_penalty"] = 0.5, body["frequency_penalty"] = 1.5, body["logit_bias"] = {{"7", -100}, {"9", 4}};
  check(body, {{.max_new_tokens = 8,
                .presence_penalty = 0.5,
                .frequency_penalty = 1.5,
                .biases = std::vector<LogitBias>{{.id = 7, .bias = -100}, {.id = 9, .bias = 4}}}});
  body = common;
  body["ignore_eos"] = true, body["max_tokens"] = 60, body["long"] = "slide";
  check(body, {{.max_new_tokens = 60, .ignore_eos = true}, LongContext::slide});
}

TEST(Completions, AreTheSameForIdsAndEchoThePrompt) {
  const auto ids = language_model().tokenizer().ids("once upon a time");
  const auto of_text = serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", "once upon a time"}});
  const auto of_ids = serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", ids}});
  const auto as_many_as_fit =
      serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", ids}, {"ignore_eos", true}});
  EXPECT_EQ(as_many_as_fit.json["usage"]["completion_tokens"], 24 + 1 - ids.size());
  const auto of_arrays = serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", Json::array({ids, ids})}});
  ASSERT_EQ(of_text.status, 200) << of_text.body;
  ASSERT_EQ(of_ids.status, 200) << of_ids.body;
  EXPECT_EQ(of_text.json["choices"], of_ids.json["choices"]);
  EXPECT_EQ(of_arrays.json["choices"][1]["text"], of_text.json["choices"][0]["text"]);
  EXPECT_EQ(of_text.json["usage"]["prompt_tokens"], ids.size());
  const auto echoed =
      serving().post("/v1/completions", {{"model", "gpt2"}, {"prompt", "once upon a time"}, {"echo", true}});
  EXPECT_EQ(echoed.json["choices"][0]["text"].get<std::string>(),
            "once upon a time" + of_text.json["choices"][0]["text"].get<std::string>());
}

TEST(Completions, StreamsJoinToTheText) {
  for (const int n : {1, 3}) {
    Json body{{"model", "gpt2"},  {"prompt", {"The", "To be"}},
              {"max_tokens", 10}, {"temperature", 1.5},
              {"seed", 3},        {"n", n},
              {"stop", {"q"}}};
    const auto whole = serving().post("/v1/completions", body);
    body["stream"] = true, body["stream_options"] = {{"include_usage", true}};
    const std::vector<std::string> events = serving().stream("/v1/completions", body);
    ASSERT_GT(events.size(), 3u);
    EXPECT_EQ(events.back(), "[DONE]");
    std::map<std::size_t, std::string> texts;
    std::map<std::size_t, Json> finish;
    Json usage;
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      const Json chunk = Json::parse(events[i]);
      EXPECT_EQ(chunk["object"], "text_completion");
      if (chunk["choices"].empty()) usage = chunk["usage"];
      for (const Json& choice : chunk["choices"]) {
        texts[choice["index"]] += choice["text"].get<std::string>();
        if (!choice["finish_reason"].is_null()) finish[choice["index"]] = choice["finish_reason"];
      }
    }
    EXPECT_EQ(usage, whole.json["usage"]);
    for (const Json& choice : whole.json["choices"]) {
      EXPECT_EQ(texts[choice["index"]], choice["text"]);
      EXPECT_EQ(finish[choice["index"]], choice["finish_reason"]);
    }
  }
}

TEST(Completions, TellTheLogprobsOfEveryToken) {
  Json body{{"model", "gpt2"}, {"prompt", "To be"}, {"max_tokens", 6}, {"temperature", 0}, {"logprobs", 4}};
  const auto answer = serving().post("/v1/completions", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json logprobs = answer.json["choices"][0]["logprobs"];
  const Generation expected = language_model()("To be", {{.greedy = true, .max_new_tokens = 6}});
  ASSERT_EQ(logprobs["tokens"].size(), expected.ids.size());
  double sum = 0;
  for (std::size_t i = 0; i < expected.ids.size(); ++i) {
    sum += logprobs["token_logprobs"][i].get<double>();
    EXPECT_LE(logprobs["top_logprobs"][i].size(), 4u);
    EXPECT_GE(logprobs["top_logprobs"][i].size(), 3u);  // some may look alike
    double best = -1e9;
    for (const auto& [token, logprob] : logprobs["top_logprobs"][i].items())
      best = std::max(best, logprob.get<double>());
    EXPECT_EQ(best, logprobs["token_logprobs"][i].get<double>());
  }
  EXPECT_NEAR(sum, expected.log_probability, 1e-9);
  EXPECT_EQ(logprobs["text_offset"][0], 5);
  body["stream"] = true;
  std::size_t told = 0;
  for (const std::string& event : serving().stream("/v1/completions", body))
    if (const Json chunk = Json::parse(event, nullptr, false); !chunk.is_discarded()) {
      const Json& of_chunk = chunk["choices"][0]["logprobs"];
      if (of_chunk.is_null()) continue;
      EXPECT_EQ(of_chunk["tokens"][0], logprobs["tokens"][told++]);
    }
  EXPECT_EQ(told, expected.ids.size());
}

TEST(Completions, AnEchoTellsTheLogprobsOfThePromptToo) {
  const std::string prompt = "once upon a time";
  Json body{{"model", "gpt2"}, {"prompt", prompt}, {"max_tokens", 3}, {"temperature", 0}, {"logprobs", 2}};
  const Json alone = serving().post("/v1/completions", body).json["choices"][0]["logprobs"];
  body["echo"] = true;
  const auto answer = serving().post("/v1/completions", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json logprobs = answer.json["choices"][0]["logprobs"];
  const TextLikelihood expected = language_model().score(std::vector{prompt}, {.alternatives = 2}).front();
  const std::size_t count = expected.ids.size();
  ASSERT_EQ(logprobs["tokens"].size(), count + alone["tokens"].size());
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null());
  EXPECT_TRUE(logprobs["top_logprobs"][0].is_null());
  EXPECT_EQ(logprobs["text_offset"][0], 0);
  for (std::size_t t = 1; t < count; ++t) {
    EXPECT_NEAR(logprobs["token_logprobs"][t].get<double>(), expected.logprobs[t], 1e-6);
    double best = -1e9;
    for (const auto& [token, logprob] : logprobs["top_logprobs"][t].items())
      best = std::max(best, logprob.get<double>());
    EXPECT_NEAR(best, expected.best[t].front().log_probability, 1e-6);
    EXPECT_GE(best, expected.logprobs[t] - 1e-5);
  }
  for (std::size_t t = 0; t < alone["tokens"].size(); ++t) {
    EXPECT_EQ(logprobs["tokens"][count + t], alone["tokens"][t]);
    EXPECT_EQ(logprobs["text_offset"][count + t], alone["text_offset"][t]);
  }
  body["stream"] = true;
  const Json first = Json::parse(serving().stream("/v1/completions", body).front());
  EXPECT_EQ(first["choices"][0]["text"], prompt);
  EXPECT_EQ(first["choices"][0]["logprobs"]["tokens"].size(), count);
}

TEST(Completions, ConformToAFormat) {
  const Json schema{{"type", "object"}, {"properties", {{"a", {{"enum", {1, 2}}}}}}, {"required", {"a"}}};
  Json body{{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 14}, {"temperature", 2}, {"seed", 1}};
  body["response_format"] = {{"type", "json_schema"},
                             {"json_schema", {{"name", "x"}, {"schema", schema}, {"strict", true}}}};
  const auto by_schema = serving().post("/v1/completions", body);
  ASSERT_EQ(by_schema.status, 200) << by_schema.body;
  const Json value = Json::parse(by_schema.json["choices"][0]["text"].get<std::string>());
  EXPECT_TRUE(value["a"] == 1 || value["a"] == 2) << value;
  EXPECT_EQ(by_schema.json["choices"][0]["finish_reason"], "stop");
  body["response_format"] = {{"type", "json_object"}};
  const auto object = serving().post("/v1/completions", body);
  EXPECT_TRUE(Json::parse(object.json["choices"][0]["text"].get<std::string>()).is_object()) << object.body;
  body.erase("prompt"), body["messages"] = {{{"role", "user"}, {"content", "a"}}};
  const auto turn = serving().post("/v1/chat/completions", body);
  EXPECT_TRUE(Json::parse(turn.json["choices"][0]["message"]["content"].get<std::string>()).is_object()) << turn.body;
  body["response_format"] = {{"type", "text"}}, body["grammar"] = "root ::= \"yes\" | \"no\"";
  std::string text;
  body["stream"] = true;
  for (const std::string& event : serving().stream("/v1/chat/completions", body))
    if (event != "[DONE]") text += Json::parse(event)["choices"][0]["delta"].value("content", "");
  EXPECT_TRUE(text == "yes" || text == "no") << text;
}

TEST(Completions, RefuseFormatsThatCannotHold) {
  const auto expect_refused = [](const Json& more, const char* param, const std::string& part) {
    Json body{{"model", "gpt2"}, {"prompt", "The"}, {"max_tokens", 5}};
    body.update(more);
    const auto answer = serving().post("/v1/completions", body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.json["error"]["param"], param ? Json(param) : Json()) << answer.body;
    EXPECT_NE(answer.json["error"]["message"].get<std::string>().find(part), std::string::npos) << answer.body;
  };
  const auto schema = [](const Json& one) {
    return Json{{"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", one}}}}}};
  };
  expect_refused(schema({{"not", {{"type", "null"}}}}), "response_format", "#/not: this keyword is not supported");
  expect_refused(schema({{"minLength", 200}, {"type", "string"}}), nullptr, "the shortest text that conforms");
  expect_refused({{"grammar", "root ::= x"}}, "grammar", "line 1, column 10: the rule \"x\" is not defined");
  expect_refused({{"response_format", {{"type", "xml"}}}}, "response_format.type", "json_schema");
  expect_refused({{"response_format", {{"type", "json_object"}}}, {"grammar", "root ::= \"a\""}}, "response_format",
                 "not to both");
  expect_refused({{"response_format", {{"type", "json_object"}}}, {"ignore_eos", true}}, "response_format",
                 "ignore_eos");
}

TEST(Chat, AnswersTheLastTurn) {
  const Json messages = {{{"role", "user"}, {"content", "To be"}},
                         {{"role", "assistant"}, {"content", "or not"}},
                         {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "to be"}}}}}};
  Json body{{"model", "gpt2"}, {"messages", messages}, {"max_tokens", 5}};
  const auto answer = serving().post("/v1/chat/completions", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  Conversation conversation(language_model().end());
  for (const char* turn : {"To be", "or not", "to be"}) conversation.add(language_model().tokenizer().ids(turn));
  const auto expected = language_model().generate({conversation.ids()}, {{.max_new_tokens = 5}})[0][0];
  EXPECT_EQ(answer.json["choices"][0]["message"]["content"], expected.text);
  EXPECT_EQ(answer.json["choices"][0]["message"]["role"], "assistant");
  body["stream"] = true, body["logprobs"] = true, body["top_logprobs"] = 2;
  std::string text;
  const auto events = serving().stream("/v1/chat/completions", body);
  for (const std::string& event : events) {
    if (event == "[DONE]") continue;
    const Json chunk = Json::parse(event);
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    text += chunk["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(text, expected.text);
  EXPECT_EQ(Json::parse(events[0])["choices"][0]["delta"]["role"], "assistant");
}

/// A server of a model with a chat template.
class ChatTemplates : public testing::Test {
 protected:
  ChatTemplates() {
    namespace fs = std::filesystem;
    fs::copy(kGpt2, folder_.path());
    std::ofstream(folder_ / "chat_template.jinja")
        << "{% for m in messages %}{% if m.role == 'tool' and tools %}{{ raise_exception('no tools here') }}{% endif %}"
           "{{ m.role[0] }}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments.x }}{% endfor %}"
           "<|endoftext|>{% endfor %}{{ mood }}{# <tool_call> #}";
    ServerOptions options;
    options.models = {{"chat", folder_.path()}};
    options.port = 0, options.connections = 16;
    server_.emplace(options);
  }
  Serving::Answer ask(const Json& messages, const Json& more = Json::object()) const {
    Json body{{"model", "chat"}, {"messages", messages}, {"max_tokens", 4}};
    body.update(more);
    return server_->post("/v1/chat/completions", body);
  }
  /// What the model says after this prompt.
  std::string said(const std::string& prompt) const {
    const LanguageModel model(folder_.path());
    return model.generate({model.tokenizer().ids(prompt)}, {{.max_new_tokens = 4}})[0][0].text;
  }

  const TempFolder folder_;
  std::optional<Serving> server_;
};

TEST_F(ChatTemplates, MakeThePrompt) {
  const std::string end = "<|endoftext|>";
  const Json parts = Json::array({Json{{"type", "text"}, {"text", "a"}}, Json{{"type", "text"}, {"text", "b"}}});
  const Json user{{"role", "user"}, {"content", parts}};
  const auto content = [](const Serving::Answer& answer) {
    return answer.json["choices"][0]["message"]["content"].get<std::string>();
  };
  const auto plain = ask(Json::array({Json{{"role", "system"}, {"content", "x"}}, user}));
  ASSERT_EQ(plain.status, 200) << plain.body;
  EXPECT_EQ(content(plain), said("sx" + end + "uab" + end));
  EXPECT_EQ(content(ask(Json::array({user}), {{"chat_template_kwargs", {{"mood", "m"}}}})), said("uab" + end + "m"));
  // Arguments of a call are objects for the template, and a message that calls a tool may have no content.
  const Json call{{"id", "1"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", R"({"x": "q"})"}}}};
  const Json calls =
      Json::array({user, Json{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}},
                   Json{{"role", "tool"}, {"tool_call_id", "1"}, {"content", "t"}}});
  EXPECT_EQ(content(ask(calls)), said("uab" + end + "aq" + end + "tt" + end));
}

TEST_F(ChatTemplates, ToolsThatCannotBeUsedAreRefused) {
  const Json user{{"role", "user"}, {"content", "a"}};
  const Json tools = Json::array({Json{{"type", "function"}, {"function", {{"name", "f"}}}}});
  EXPECT_EQ(ask(Json::array({user}), {{"tools", tools}}).status, 200);
  EXPECT_EQ(ask(Json::array({user}), {{"tools", tools}, {"tool_choice", "none"}, {"stream", true}}).status, 200);
  EXPECT_EQ(ask(Json::array({user}), {{"tools", tools}, {"stream", true}}).status, 200);
  const auto raised = ask(Json::array({user, Json{{"role", "tool"}, {"content", "t"}}}), {{"tools", tools}});
  EXPECT_EQ(raised.status, 400);
  EXPECT_NE(raised.body.find("no tools here"), std::string::npos) << raised.body;
  EXPECT_EQ(ask(Json::array({Json{{"role", "critic"}, {"content", "a"}}})).json["error"]["param"], "messages[0].role");
  EXPECT_EQ(ask(Json::array({user}), {{"tools", Json::array({1})}}).json["error"]["param"], "tools");
}

TEST(Requests, AreRefusedWithWhatIsWrong) {
  struct Case {
    const char* path;
    Json body;
    int status;
    const char* code;
    const char* param;
  };
  const std::vector<Case> cases{
      {"/v1/completions", {{"prompt", "x"}}, 400, "missing_field", "model"},
      {"/v1/completions", {{"model", "gpt2"}}, 400, "missing_field", "prompt"},
      {"/v1/completions", {{"model", "other"}, {"prompt", "x"}}, 404, "unknown_model", "model"},
      {"/v1/completions", {{"model", "words"}, {"prompt", "x"}}, 400, "wrong_model_kind", "model"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", 5}}, 400, "invalid_value", "prompt"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", {99999}}}, 400, "invalid_value", "prompt"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"temperature", -1}},
       400,
       "invalid_value",
       "temperature"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"temperature", "hot"}},
       400,
       "invalid_value",
       "temperature"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"max_tokens", 1.5}},
       400,
       "invalid_value",
       "max_tokens"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", "x"}, {"max_tokens", 100}}, 400, "input_too_long", "prompt"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"frequency_penalty", 3}},
       400,
       "invalid_value",
       "frequency_penalty"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"logit_bias", {{"99999", 1}}}},
       400,
       "invalid_value",
       "logit_bias"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"logit_bias", {{"5", 101}}}},
       400,
       "invalid_value",
       "logit_bias.5"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"stop", std::vector<std::string>(17, "y")}},
       400,
       "invalid_value",
       "stop"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", "x"}, {"suffix", "y"}}, 400, "invalid_value", "suffix"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", "x"}, {"surprise", 1}}, 400, "invalid_value", "surprise"},
      {"/v1/completions", {{"model", "gpt2"}, {"prompt", "x"}, {"stop", {""}}}, 400, "invalid_value", "stop"},
      {"/v1/completions",
       {{"model", "gpt2"}, {"prompt", "x"}, {"temperature", 0}, {"n", 2}},
       400,
       "invalid_value",
       "n"},
      {"/v1/chat/completions", {{"model", "gpt2"}, {"messages", Json::array()}}, 400, "invalid_value", "messages"},
      {"/v1/chat/completions",
       {{"model", "gpt2"}, {"messages", {{{"role", "system"}, {"content", "x"}}}}},
       400,
       "invalid_value",
       "messages[0].role"},
      {"/v1/embeddings", {{"model", "sentences"}, {"input", Json::array()}}, 400, "invalid_value", "input"},
      {"/v1/embeddings", {{"model", "sentences"}, {"input", {1, 2}}}, 400, "invalid_value", "input"},
      {"/v1/embeddings",
       {{"model", "sentences"}, {"input", "x"}, {"dimensions", 3}},
       400,
       "invalid_value",
       "dimensions"},
      {"/v1/embeddings", {{"model", "gpt2"}, {"input", "x"}}, 400, "wrong_model_kind", "model"},
  };
  for (const Case& one : cases) {
    const auto answer = serving().post(one.path, one.body);
    EXPECT_EQ(answer.status, one.status) << one.body << answer.body;
    EXPECT_EQ(answer.json["error"]["code"], one.code) << one.body << answer.body;
    EXPECT_EQ(answer.json["error"]["param"], one.param) << one.body << answer.body;
    EXPECT_EQ(answer.json["error"]["type"], "invalid_request_error");
  }
}

}  // namespace
}  // namespace attend::test
