#include "attend/serve/api.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "attend/core/memory.h"
#include "attend/core/version.h"
#include "attend/serve/api_error.h"
#include "attend/serve/assets.h"
#include "attend/serve/openapi.h"

namespace attend::serve {
namespace {

struct Route {
  const char* method;
  const char* path;
  Handler handler;
  const char* texts = "input";  // the field with the texts, which errors name
  bool libre_translate = false;
};

constexpr std::array kRoutes = {
    Route{"POST", "/v1/completions", complete, "prompt"},
    Route{"POST", "/v1/chat/completions", chat, "messages"},
    Route{"POST", "/v1/embeddings", embed},
    Route{"POST", "/v1/tokenize", tokenize},
    Route{"POST", "/v1/classify", classify},
    Route{"POST", "/v1/fill-mask", fill_mask},
    Route{"POST", "/v1/attention", attention},
    Route{"POST", "/v1/answer", answer_question, "story"},
    Route{"POST", "/v1/summarize", summarize},
    Route{"GET", "/v1/lessons/positions", lesson_positions},
    Route{"GET", "/v1/lessons/pooling", lesson_pooling},
    Route{"POST", "/translate", translate, "q", true},
    Route{"GET", "/languages", languages, "", true},
    Route{"POST", "/detect", detect, "q", true},
};
/// Paths that are answered here.
constexpr std::array kOwnRoutes = {"/v1/models", "/health", "/ready", "/metrics"};

const char* error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

constexpr const char* kForm = "application/x-www-form-urlencoded";

const Route* find_route(const std::string& path) {
  for (const Route& route : kRoutes)
    if (path == route.path) return &route;
  return nullptr;
}

bool reads(const Call& call) { return call.method == "GET" || call.method == "HEAD"; }

/// Whether everybody may read the path: monitoring, the API's description and the explorer's files.
bool is_public(const Call& call) {
  return reads(call) && (call.path == "/health" || call.path == "/ready" || call.path == "/openapi.json" ||
                         call.path == "/" || find_asset(call.path));
}

/// A browser asks whether a page of another origin may send a request.
bool is_preflight(const Call& call) {
  return call.method == "OPTIONS" && !call.origin.empty() && !call.requested_method.empty();
}

/// LibreTranslate's clients send the key in the body, too.
std::string key_in_body(const Call& call) {
  return media_type(call) == kForm ? find_form_text(call.body, "api_key") : find_text(call.body, "api_key");
}

/// A page of another site can send a form or plain text here, but not JSON, unless the server allows it. So JSON must
/// say that it is JSON.
void check_type(const Call& call, bool form_allowed) {
  const std::string type = media_type(call);
  if (type == "application/json" || (form_allowed && type == kForm && !looks_like_json(call.body))) return;
  throw ApiError(415, "invalid_value",
                 "the Content-Type is " + (type.empty() ? "missing" : type) + ", expected application/json" +
                     (form_allowed && type != kForm ? std::string(" or ") + kForm : "") +
                     "; with curl, add -H 'Content-Type: application/json'");
}

/// Keeps a thing alive until the stream of a reply ends, breaks off or is dropped. A reply without a stream keeps
/// nothing.
void keep(Reply& reply, std::shared_ptr<void> thing) {
  if (reply.stream)
    reply.stream = [stream = std::move(reply.stream), thing = std::move(thing)](const Reply::Write& write) {
      stream(write);
    };
}

constexpr const char* kNoExplorer =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Attend</title><body><h1>Attend</h1>"
    "<p>The server is running. This program was built without the explorer (ATTEND_EXPLORER=OFF).</p>"
    "<p><a href=\"/openapi.json\">The API</a> · <a href=\"/v1/models\">Models</a> · "
    "<a href=\"/metrics\">Metrics</a></p></body></html>";

}  // namespace

Failure failure_of(std::exception_ptr error, const std::string& texts) {
  const auto failure = [](const ApiError& e) {
    return Failure{e.status, e.retry_after, e.allow,
                   Json{{"error",
                         {{"message", e.what()},
                          {"type", error_type(e.status)},
                          {"code", e.code},
                          {"param", e.param.empty() ? Json() : Json(e.param)}}}}};
  };
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& e) {
    return failure(e);
  } catch (const TextError& e) {
    return failure({400, "input_too_long", texts + " " + std::to_string(e.text) + ": " + e.what(), texts});
  } catch (const InputError& e) {
    return failure({400, "invalid_value", e.what()});
  } catch (const std::exception& e) {
    return failure({500, "internal", e.what()});
  }
}

Reply error_reply(std::exception_ptr error, bool libre_translate, const std::string& texts) {
  auto [status, retry_after, allow, json] = failure_of(error, texts);
  Reply reply{.status = status};
  if (retry_after > 0) reply.headers.emplace_back("Retry-After", std::to_string(retry_after));
  if (!allow.empty()) reply.headers.emplace_back("Allow", allow);
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (libre_translate) json = Json{{"error", json["error"]["message"]}, {"code", json["error"]["code"]}};
  reply.body = dump(json);
  return reply;
}

LongText long_text(Fields& fields, LongText otherwise, bool can_split) {
  std::vector<std::string> choices{"error", "truncate"};
  if (can_split) choices.emplace_back("split");
  const auto given = fields.choice("long", choices);
  if (!given) return otherwise;
  return given == "error" ? LongText::error : given == "truncate" ? LongText::truncate : LongText::split;
}

std::string key_of(Json body, std::initializer_list<const char*> others) {
  for (const char* other : others) body.erase(other);
  return body.dump();
}

Api::Api(ApiOptions options, std::vector<std::unique_ptr<ServedModel>> models)
    : options_(std::move(options)), memory_(options_.memory), models_(std::move(models)) {}

ServedModel& Api::model(const std::string& name) const {
  for (const auto& model : models_)
    if (model->name == name) return *model;
  throw ApiError(404, "unknown_model", "there is no model \"" + name + "\"; GET /v1/models lists them", "model");
}

ServedModel& Api::model(const std::string& name, const std::string& capability) const {
  ServedModel& found = model(name);
  if (found.can(capability)) return found;
  const bool chats = capability == "chat" && !found.template_problem.empty();
  throw ApiError(400, "wrong_model_kind",
                 "the model \"" + name + "\" of type " + found.kind + " cannot " + capability +
                     (chats ? ": " + found.template_problem : ""),
                 "model");
}

ServedModel& Api::model(Fields& fields, const std::string& capability) const {
  return model(fields.text("model"), capability);
}

ServedModel::Patience Api::patience(const Call& call) const {
  ServedModel::Patience patience{std::chrono::steady_clock::now() + options_.timeout, call.hung_up, &stopped_,
                                 std::make_shared<MemoryBudget::Reservation>(memory_)};
  patience.reserve(parsed_bytes(call.body));
  return patience;
}

/// Refuses a call for reasons that are in its headers, and its key. `has_body`: whether the body has been read.
void Api::admit(const Call& call, bool has_body) const {
  check_host(options_.access, call);
  check_origin(options_.access, call);
  if (is_public(call) || is_preflight(call)) return;
  authorize(call, has_body);
  const Route* route = find_route(call.path);
  const bool own = std::ranges::find(kOwnRoutes, call.path) != kOwnRoutes.end() || call.path.starts_with("/v1/models/");
  if (!route && !own)
    throw ApiError(404, "not_found", "there is no endpoint " + call.path + "; GET /openapi.json lists all");
  const std::string allowed = route ? route->method : "GET";
  if (call.method != allowed && !(reads(call) && allowed == "GET")) {
    ApiError error(405, "method_not_allowed", call.path + " takes " + allowed + ", not " + call.method);
    error.allow = allowed;
    throw error;
  }
  if (allowed == "POST") check_type(call, route->libre_translate);
}

void Api::authorize(const Call& call, bool has_body) const {
  const AccessRules& rules = options_.access;
  if (rules.keys.empty() || is_known_key(rules, bearer_key(call))) return;
  if (const Route* route = find_route(call.path); route && route->libre_translate) {
    const auto in_query = call.query.find("api_key");
    if (in_query != call.query.end() && is_known_key(rules, in_query->second)) return;
    if (call.method == "POST" && (!has_body || is_known_key(rules, key_in_body(call)))) return;
  }
  throw ApiError(401, "unauthorized", "an API key is needed: send it as \"Authorization: Bearer KEY\"");
}

bool Api::is_quick(const Call& head) { return reads(head) && (head.path == "/health" || head.path == "/ready"); }

/// Adds what every reply has, and counts it: a stream at its end, another reply at once.
Reply Api::counted(Reply reply, const Call& call, std::chrono::steady_clock::time_point begin) {
  if (is_allowed_origin(options_.access, call)) {
    reply.headers.emplace_back("Access-Control-Allow-Origin", call.origin);
    reply.headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
    reply.headers.emplace_back("Vary", "Origin");
  }
  const bool known = find_route(call.path) || std::ranges::find(kOwnRoutes, call.path) != kOwnRoutes.end();
  const std::string path = known ? call.path : "other";  // unknown paths share one name: the metrics stay small
  keep(reply, {nullptr, [this, path, begin, status = reply.status](void*) {
                 const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
                 metrics_.count(path, status, seconds.count());
               }});
  return reply;
}

Reply Api::answer(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    return counted(route(call), call, begin);
  } catch (...) {
    return refuse(call, std::current_exception(), begin);
  }
}

std::optional<Reply> Api::refusal(const Call& head) {
  try {
    admit(head, /*has_body=*/false);
    return {};
  } catch (...) {
    return refuse(head, std::current_exception());
  }
}

Reply Api::refuse(const Call& head, std::exception_ptr error, std::chrono::steady_clock::time_point begin) {
  const Route* route = find_route(head.path);
  return counted(error_reply(error, route && route->libre_translate, route ? route->texts : "input"), head, begin);
}

/// Runs a handler and counts it as active until its reply is made, or its stream has ended. It is counted before
/// shutting_down_ is read: when active() is 0 after shut_down(), no work can follow.
Reply Api::work(Handler handler, const Call& call) {
  ++active_;
  const std::shared_ptr<void> over(nullptr, [this](void*) { --active_; });
  if (shutting_down_) throw shutting_down();
  Reply reply = handler(*this, call);
  keep(reply, over);
  return reply;
}

Reply Api::route(const Call& call) {
  admit(call, /*has_body=*/true);
  if (is_preflight(call))  // of an origin that may use the server, or of the server's own
    return {.status = 204,
            .type = "",
            .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                        {"Access-Control-Allow-Headers", call.requested_headers},
                        {"Access-Control-Max-Age", "600"}}};
  if (call.path == "/health") return {.body = R"({"status":"ok"})"};
  if (call.path == "/ready") {
    if (shutting_down_) throw shutting_down();
    for (const auto& model : models_) model->check_files();
    return {.body = R"({"status":"ready"})"};
  }
  if (call.path == "/openapi.json") return {.body = openapi_document()};
  if (const Asset* asset = find_asset(call.path))
    return {.type = std::string(asset->type), .body = std::string(asset->data)};
  if (call.path == "/") return {.type = "text/html; charset=utf-8", .body = kNoExplorer};
  if (call.path == "/v1/models") {
    Json all = Json::array();
    for (const auto& model : models_) all.push_back(describe(*model));
    return {.body = dump({{"object", "list"}, {"data", std::move(all)}})};
  }
  if (constexpr std::string_view kOne = "/v1/models/"; call.path.starts_with(kOne))
    return {.body = dump(describe(model(call.path.substr(kOne.size()))))};
  if (call.path == "/metrics") return show_metrics();
  return work(find_route(call.path)->handler, call);
}

Json Api::describe(const ServedModel& model) const {
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(started_.time_since_epoch()).count();
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json json{{"id", model.name},       {"object", "model"},    {"created", created},
            {"owned_by", "attend"},   {"kind", model.kind},   {"capabilities", model.capabilities()},
            {"layers", model.layers}, {"heads", model.heads}, {"context", or_null(model.context)}};
  if (model.translator)
    json["source_language"] = or_null(model.source_language), json["target_language"] = or_null(model.target_language);
  if (model.translator && !model.translator->languages().empty())
    for (const LanguageTokens::Language& one : model.translator->languages().all) json["languages"].push_back(one.code);
  if (model.classifier) json["labels"] = model.classifier->labels();
  if (model.stories) json["hops"] = model.stories->hops(), json["answers"] = model.stories->answers();
  return json;
}

Reply Api::show_metrics() const {
  std::ostringstream out;
  out << metrics_.text();
  const auto gauge = [&](const char* name, const char* kind, const char* help, auto&& value) {
    out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << kind << '\n';
    // Prometheus escapes labels as JSON does texts.
    for (const auto& model : models_) out << name << "{model=" << dump(model->name) << "} " << value(*model) << '\n';
  };
  gauge("attend_waiting_requests", "gauge", "Requests that wait for the model.",
        [](const ServedModel& m) { return m.load().waiting; });
  gauge("attend_running_texts", "gauge", "Sequences that are being generated.",
        [](const ServedModel& m) { return m.load().rows; });
  gauge("attend_reserved_tokens", "gauge", "Largest number of tokens of these sequences at their end.",
        [](const ServedModel& m) { return m.load().tokens; });
  gauge("attend_prompt_tokens_total", "counter", "Tokens of prompts.",
        [](const ServedModel& m) { return m.prompt_tokens.load(); });
  gauge("attend_cached_prompt_tokens_total", "counter", "Tokens of prompts that were in the prefix cache.",
        [](const ServedModel& m) { return m.reused_tokens.load(); });
  gauge("attend_generated_tokens_total", "counter", "Tokens of finished texts.",
        [](const ServedModel& m) { return m.generated_tokens.load(); });
  gauge("attend_steps_total", "counter", "Steps of the engine; each adds a token to every sequence.",
        [](const ServedModel& m) { return m.steps.load(); });
  out << "# HELP attend_active_requests Requests that are being answered.\n# TYPE attend_active_requests gauge\n"
      << "attend_active_requests " << active_ << '\n'
      << "# HELP attend_memory_bytes Memory of tensors, and freed memory that waits for reuse.\n"
         "# TYPE attend_memory_bytes gauge\n"
      << "attend_memory_bytes{state=\"used\"} " << memory_use().current << '\n'
      << "attend_memory_bytes{state=\"cached\"} " << memory_use().cached << '\n'
      << "# HELP attend_reserved_bytes Memory that is reserved for requests.\n# TYPE attend_reserved_bytes gauge\n"
      << "attend_reserved_bytes " << memory_.reserved() << '\n'
      << "# HELP attend_prefix_cache_bytes Memory of the prefix cache.\n# TYPE attend_prefix_cache_bytes gauge\n"
      << "attend_prefix_cache_bytes " << (options_.prefixes ? options_.prefixes->bytes() : 0) << '\n'
      << "# HELP attend_info The program.\n# TYPE attend_info gauge\nattend_info{version=\"" << version() << "\"} 1\n";
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = out.str()};
}

}  // namespace attend::serve
