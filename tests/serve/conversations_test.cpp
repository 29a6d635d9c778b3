// Conversations: prompts that begin as earlier ones, long conversations, calls of tools, and clients that leave.
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "attend/models/adapter.h"
#include "attend/models/registry.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/text/grammar/grammar.h"
#include "attend/text/grammar/json_schema.h"
#include "tests/serve/raw.h"
#include "tests/serve/serving.h"
#include "tests/support/temp_folder.h"

namespace attend::test {
namespace {

constexpr const char* kTemplate =
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{# <tool_call> #}";

/// A Llama with random weights and a context of 600 tokens.
class Conversations : public testing::Test {
 protected:
  Conversations() {
    const Tokenizer tokenizer = load_tokenizer(kGpt2);
    CausalLmOptions o = CausalLmOptions::of(kLlama);
    o.vocabulary = tokenizer.size(), o.positions = 600, o.width = 16, o.layers = 2, o.heads = 2, o.inner = 24;
    o.deviation = 0.4f, o.start = *tokenizer.special().eos, o.ends = {o.start};
    Generator generator(4);
    CausalLm model(o, generator);
    save_model(model, tokenizer, folder_.path());
    write_template(kTemplate);
  }
  void write_template(const std::string& text) const { std::ofstream(folder_ / "chat_template.jinja") << text; }
  ServerOptions options() const {
    ServerOptions options;
    options.models = {{"chat", folder_.path()}};
    options.port = 0, options.connections = 32;
    return options;
  }
  static Json message(const std::string& role, const std::string& content) {
    return {{"role", role}, {"content", content}};
  }
  static Json chat(Json messages, const Json& more = Json::object()) {
    Json body{{"model", "chat"}, {"messages", std::move(messages)}, {"max_tokens", 8}, {"ignore_eos", true}};
    body.update(more);
    return body;
  }
  static std::int64_t cached(const Json& answer) {
    return answer.at("usage").at("prompt_tokens_details").at("cached_tokens").get<std::int64_t>();
  }
  static std::string content(const Json& answer) {
    return answer.at("choices").at(0).at("message").at("content").get<std::string>();
  }
  /// The value of a metric of the server.
  static double metric(const Serving& serving, const std::string& name) {
    const std::string all = serving.client().Get("/metrics")->body;
    const std::size_t at = all.find("\n" + name);
    EXPECT_NE(at, std::string::npos) << name;
    return at == std::string::npos ? -1 : std::stod(all.substr(all.find(' ', at)));
  }

  const TempFolder folder_;
  const std::string long_text_ = [] {
    std::string text;
    for (int i = 0; i < 70; ++i) text += "the cat " + std::to_string(i) + " ";
    return text;
  }();
};

TEST_F(Conversations, GetTheSameRepliesWithAPrefixCacheAndWithout) {
  ServerOptions without = options();
  without.prefix_cache = 0;
  const Serving plain(without), keeping(options());
  Json messages = Json::array({message("system", long_text_), message("user", "Hello")});
  for (int turn = 0; turn < 3; ++turn) {
    const Json expected = plain.post("/v1/chat/completions", chat(messages)).json;
    const Json reply = keeping.post("/v1/chat/completions", chat(messages)).json;
    EXPECT_EQ(content(reply), content(expected));
    EXPECT_EQ(cached(expected), 0);
    const auto prompt = reply.at("usage").at("prompt_tokens").get<std::int64_t>();
    if (turn == 0)
      EXPECT_EQ(cached(reply), 0);
    else
      EXPECT_GT(cached(reply), prompt - 60) << "all but the last turn";
    messages.push_back(message("assistant", content(reply))), messages.push_back(message("user", "and then?"));
  }
  EXPECT_EQ(metric(plain, "attend_prefix_cache_bytes"), 0);
  EXPECT_GT(metric(keeping, "attend_prefix_cache_bytes"), 0);
  EXPECT_GT(metric(keeping, "attend_cached_prompt_tokens_total"), 300);
}

TEST_F(Conversations, AtTheSameTimeGetTheSameRepliesAsAlone) {
  const Serving serving(options());
  std::vector<std::future<Json>> replies;
  const auto body = [&](int i) {
    return Json{{"model", "chat"},
                {"prompt", long_text_ + std::string(static_cast<std::size_t>(i % 5), 'x')},
                {"max_tokens", 5 + i % 3},
                {"temperature", i % 2 ? 1.0 : 0.0},
                {"seed", 3},
                {"ignore_eos", true}};
  };
  for (int i = 0; i < 12; ++i)
    replies.push_back(std::async(std::launch::async, [&, i] { return serving.post("/v1/completions", body(i)).json; }));
  ServerOptions without = options();
  without.prefix_cache = 0;
  const Serving plain(without);
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].get()["choices"],
              plain.post("/v1/completions", body(i)).json["choices"]);
  EXPECT_GT(metric(serving, "attend_cached_prompt_tokens_total"), 0);
  const std::vector<std::string> events =
      serving.stream("/v1/completions", {{"model", "chat"},
                                         {"prompt", long_text_},
                                         {"max_tokens", 2},
                                         {"stream", true},
                                         {"stream_options", {{"include_usage", true}}}});
  EXPECT_GT(cached(Json::parse(events.at(events.size() - 2))), 100);
}

TEST_F(Conversations, OfAnAdapterUseItsOwnPrefixes) {
  const TempFolder adapter;
  const std::shared_ptr<Model> model = ModelFolder(folder_.path()).model()->share();
  Generator generator(7);
  const AdapterInfo info = AdapterInfo::of({.rank = 2, .targets = {"all-linear"}}, folder_.path(), "CAUSAL_LM");
  for (const auto& [name, tensor] : train_adapters(*model, info, generator))
    init::normal(const_cast<Tensor&>(tensor), 0.5f, generator);
  save_adapter(*model, info, adapter.path());
  ServerOptions both = options();
  both.models.push_back({"adapted", folder_.path(), adapter.path()});
  const Serving serving(both);
  std::map<std::string, std::string> texts;
  for (const bool again : {false, true})
    for (const char* name : {"chat", "adapted"}) {
      const Json answer =
          serving.post("/v1/completions", {{"model", name}, {"prompt", long_text_}, {"max_tokens", 8}}).json;
      EXPECT_EQ(cached(answer) > 0, again) << name;
      const std::string text = answer["choices"][0]["text"];
      EXPECT_EQ(texts.try_emplace(name, text).first->second, text);
    }
  EXPECT_NE(texts["chat"], texts["adapted"]);
}

TEST_F(Conversations, PrefixesLeaveWhenRequestsNeedTheMemory) {
  ServerOptions little = options();
  little.memory = 1 << 20, little.prefix_cache = 1 << 30;
  const Serving serving(little);
  for (int i = 0; i < 12; ++i) {
    const std::string text = std::to_string(i) + long_text_;
    EXPECT_EQ(serving.post("/v1/completions", {{"model", "chat"}, {"prompt", text}, {"max_tokens", 2}}).status, 200);
    EXPECT_LE(metric(serving, "attend_prefix_cache_bytes"), 1 << 20);
  }
  EXPECT_GT(metric(serving, "attend_prefix_cache_bytes"), 0);
}

TEST_F(Conversations, ClientsThatLeaveLeaveNothingBehind) {
  const Serving serving(options());
  const Json expected = serving.post("/v1/completions", {{"model", "chat"}, {"prompt", long_text_}}).json["choices"];
  for (int round = 0; round < 5; ++round) {
    std::vector<Raw> clients;
    for (int i = 0; i < 12; ++i) {
      const Json body{{"model", "chat"},     {"prompt", long_text_ + std::to_string(100 * round + i)},
                      {"max_tokens", 150},   {"n", 4},
                      {"temperature", 1},    {"ignore_eos", true},
                      {"stream", i % 2 == 0}};
      const std::string text = body.dump();
      clients.emplace_back(serving.port())
          .send(
              "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              "Content-Length: " +
              std::to_string(text.size()) + "\r\n\r\n" + text);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * round));
  }
  for (const char* name : {"attend_running_texts", "attend_waiting_requests", "attend_reserved_bytes",
                           "attend_active_requests", "attend_reserved_tokens"}) {
    for (int i = 0; i < 600 && metric(serving, name) != 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(metric(serving, name), 0) << name;
  }
  const Json again = serving.post("/v1/completions", {{"model", "chat"}, {"prompt", long_text_}}).json;
  EXPECT_EQ(again["choices"], expected);
  EXPECT_GT(cached(again), 0);
}

TEST_F(Conversations, LoseTheirOldestTurnsAndSayIt) {
  const Serving serving(options());
  Json messages = Json::array({message("system", "be"), message("user", "one")});
  const Json whole = serving.post("/v1/chat/completions", chat(messages)).json;
  EXPECT_FALSE(whole.contains("dropped_messages"));
  for (int i = 0; i < 4; ++i) {
    messages.push_back(message("assistant", long_text_));
    messages.push_back(message("user", "two"));
  }
  const Json cut = serving.post("/v1/chat/completions", chat(messages)).json;
  const auto dropped = cut.at("dropped_messages").get<std::size_t>();
  EXPECT_EQ(dropped % 2, 0u);
  Json kept = Json::array({messages[0]});
  kept.insert(kept.end(), messages.begin() + 1 + static_cast<std::ptrdiff_t>(dropped), messages.end());
  const Json of_rest = serving.post("/v1/chat/completions", chat(kept)).json;
  EXPECT_FALSE(of_rest.contains("dropped_messages"));
  EXPECT_EQ(content(cut), content(of_rest));
  const std::vector<std::string> events = serving.stream("/v1/chat/completions", chat(messages, {{"stream", true}}));
  EXPECT_EQ(Json::parse(events.at(0)).at("dropped_messages"), dropped);
}

/// Tools as OpenAI's API describes them.
Json tools() {
  const Json weather{
      {"type", "object"},
      {"properties",
       {{"city", {{"enum", {"Rome", "Paris"}}}}, {"days", {{"type", "integer"}, {"minimum", 1}, {"maximum", 9}}}}},
      {"required", {"city", "days"}},
      {"additionalProperties", false}};
  return Json::array({Json{{"type", "function"}, {"function", {{"name", "weather"}, {"parameters", weather}}}},
                      Json{{"type", "function"}, {"function", {{"name", "now"}}}}});
}

TEST_F(Conversations, CallAToolIfTheyMust) {
  for (const char* sign :
       {"<tool_call>", "<TOOLCALL>", "<minimax:tool_call>", "<function name=", "[TOOL_CALLS]", "<|python_tag|>"}) {
    write_template(std::string(kTemplate).substr(0, std::string(kTemplate).find("{#")) + "{# " + sign + " #}");
    const Serving serving(options());
    for (int seed = 0; seed < 4; ++seed)
      for (const bool named : {false, true}) {
        Json choice = "required";
        if (named) choice = {{"type", "function"}, {"function", {{"name", "weather"}}}};
        Json body = chat(Json::array({message("user", "Hello")}), {{"tools", tools()},
                                                                   {"tool_choice", choice},
                                                                   {"max_tokens", 80},
                                                                   {"temperature", 1.5},
                                                                   {"seed", seed},
                                                                   {"ignore_eos", false}});
        const auto answer = serving.post("/v1/chat/completions", body);
        ASSERT_EQ(answer.status, 200) << answer.body;
        const Json& made = answer.json["choices"][0];
        EXPECT_EQ(made["finish_reason"], "tool_calls") << sign << answer.body;
        EXPECT_TRUE(made["message"]["content"].is_null()) << answer.body;
        ASSERT_EQ(made["message"]["tool_calls"].size(), 1u);
        const Json& function = made["message"]["tool_calls"][0]["function"];
        const Json arguments = Json::parse(function["arguments"].get<std::string>());
        if (named || function["name"] == "weather") {
          EXPECT_EQ(function["name"], "weather");
          EXPECT_TRUE(arguments["city"] == "Rome" || arguments["city"] == "Paris") << arguments;
          EXPECT_TRUE(arguments["days"] >= 1 && arguments["days"] <= 9) << arguments;
          EXPECT_EQ(arguments.size(), 2u);
        } else {
          EXPECT_EQ(function["name"], "now");
        }
        if (seed > 0) continue;
        body["stream"] = true;
        std::string streamed;
        for (const std::string& event : serving.stream("/v1/chat/completions", body))
          if (event != "[DONE]")
            for (const Json& call : Json::parse(event)["choices"][0]["delta"].value("tool_calls", Json::array()))
              streamed += call["function"]["arguments"].get<std::string>();
        EXPECT_EQ(streamed, function["arguments"].get<std::string>());
      }
  }
}

TEST_F(Conversations, ThatCannotCallTheToolAreRefused) {
  const Serving serving(options());
  const auto refused = [&](const Json& more, const std::string& param) {
    const auto answer = serving.post("/v1/chat/completions", chat(Json::array({message("user", "Hello")}), more));
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.json["error"]["param"], param) << answer.body;
  };
  refused({{"tool_choice", "required"}}, "tool_choice");
  refused({{"tools", tools()}, {"tool_choice", "maybe"}}, "tool_choice");
  refused({{"tools", tools()}, {"tool_choice", {{"type", "function"}, {"function", {{"name", "never"}}}}}}, "tools");
  refused({{"tools", tools()}, {"tool_choice", "required"}, {"ignore_eos", false}, {"grammar", "root ::= \"a\""}},
          "tool_choice");
}

TEST_F(Conversations, ABrokenTemplateIsAnErrorOfChatsOnly) {
  write_template("{% if %}");
  const Serving serving(options());
  EXPECT_EQ(serving.post("/v1/completions", {{"model", "chat"}, {"prompt", "the"}}).status, 200);
  const auto answer = serving.post("/v1/chat/completions", chat(Json::array({message("user", "Hello")})));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.json["error"]["code"], "wrong_model_kind");
  EXPECT_NE(answer.body.find("chat_template.jinja:1:"), std::string::npos) << answer.body;
}

}  // namespace
}  // namespace attend::test
