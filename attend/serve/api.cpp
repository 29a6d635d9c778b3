#include "attend/serve/api.h"

#include <algorithm>
#include <array>
#include <cctype>
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

/// Whether `given` is the key. The time it takes does not depend on how much of the key is right.
bool is_key(const std::string& key, const std::string& given) {
  volatile unsigned char difference = key.empty() || key.size() != given.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = key.empty() ? '\0' : key[i % key.size()];
    difference = static_cast<unsigned char>(difference | (expected ^ given[i]));
  }
  return difference == 0;
}

/// LibreTranslate's clients send the key in the body.
std::string key_in_body(const Call& call) {
  if (const auto found = call.query.find("api_key"); found != call.query.end()) return found->second;
  try {
    const Json body = parse_object(call.body);
    return Fields(body).optional_text("api_key").value_or("");
  } catch (const ApiError&) {
    return "";
  }
}

/// Keeps a thing alive until the reply is sent; of a stream, until it ends, breaks off or is dropped.
void keep(Reply& reply, std::shared_ptr<void> thing) {
  if (reply.stream)
    reply.stream = [stream = std::move(reply.stream), thing = std::move(thing)](const Reply::Write& write) {
      stream(write);
    };
}

constexpr const char* kNoExplorer =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Attend</title><body><h1>Attend</h1>"
    "<p>The server is running. This program was built without the explorer, which needs npm.</p>"
    "<p><a href=\"/openapi.json\">The API</a> · <a href=\"/v1/models\">Models</a> · "
    "<a href=\"/metrics\">Metrics</a></p></body></html>";

}  // namespace

Failure failure_of(std::exception_ptr error, const std::string& texts) {
  const auto failure = [](const ApiError& e) {
    return Failure{e.status, e.retry_after,
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
  auto [status, retry_after, json] = failure_of(error, texts);
  Reply reply{.status = status};
  if (retry_after > 0) reply.headers.emplace_back("Retry-After", std::to_string(retry_after));
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
    : options_(std::move(options)), models_(std::move(models)), memory_(options_.memory) {}

ServedModel& Api::model(const std::string& name) const {
  for (const auto& model : models_)
    if (model->name == name) return *model;
  throw ApiError(404, "unknown_model", "there is no model \"" + name + "\"; GET /v1/models lists them", "model");
}

ServedModel& Api::model(const std::string& name, const std::string& capability) const {
  ServedModel& found = model(name);
  if (found.can(capability)) return found;
  throw ApiError(400, "wrong_model_kind", "the model \"" + name + "\" of type " + found.kind + " cannot " + capability,
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

void Api::authorize(const Call& call) const {
  if (options_.keys.empty()) return;
  constexpr std::string_view kBearer = "Bearer ";
  const bool libre_translate = call.path == "/translate" || call.path == "/detect" || call.path == "/languages";
  std::string given = call.authorization.starts_with(kBearer) ? call.authorization.substr(kBearer.size()) : "";
  if (given.empty() && libre_translate) given = key_in_body(call);
  bool known = false;
  for (const std::string& key : options_.keys) known |= is_key(key, given);
  if (!known) throw ApiError(401, "unauthorized", "an API key is needed: send it as \"Authorization: Bearer KEY\"");
}

Reply Api::answer(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  std::string path = "other";  // unknown paths share one name, so that the metrics stay small
  std::string texts = "input";
  bool libre_translate = false;
  for (const Route& route : kRoutes)
    if (call.path == route.path) path = call.path, texts = route.texts, libre_translate = route.libre_translate;
  for (const char* own : kOwnRoutes)
    if (call.path == own) path = call.path;
  Reply reply;
  try {
    reply = route(call);
  } catch (...) {
    reply = error_reply(std::current_exception(), libre_translate, texts);
  }
  keep(reply, {nullptr, [this, path, begin, status = reply.status](void*) {
                 const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
                 metrics_.count(path, status, seconds.count());
               }});
  return reply;
}

/// Runs a handler and counts it as active until its reply is sent. It is counted before shutting_down_ is read: when
/// active() is 0 after shut_down(), no work can follow.
Reply Api::work(Handler handler, const Call& call) {
  ++active_;
  const std::shared_ptr<void> over(nullptr, [this](void*) { --active_; });
  if (shutting_down_) throw shutting_down();
  Reply reply = handler(*this, call);
  keep(reply, over);
  return reply;
}

/// A page of another site can send a form, plain text or a body without a type here, but not "application/json". So
/// JSON with any other type is refused when a browser sends it. Programs such as curl, which call any body a form, send
/// no Origin.
void refuse_disguised_json(const Call& call) {
  if (call.method != "POST" || call.origin.empty() || !looks_like_json(call.body)) return;
  std::string type = call.content_type.substr(0, call.content_type.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (type == "application/json") return;
  throw ApiError(415, "invalid_value",
                 "the body is JSON, but its Content-Type is " + (type.empty() ? "missing" : type) +
                     "; send the header \"Content-Type: application/json\"");
}

Reply Api::route(const Call& call) {
  const bool get = call.method == "GET" || call.method == "HEAD";
  if (get) {
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
  }
  authorize(call);
  if (get && call.path == "/v1/models") {
    Json all = Json::array();
    for (const auto& model : models_) all.push_back(describe(*model));
    return {.body = dump({{"object", "list"}, {"data", std::move(all)}})};
  }
  if (constexpr std::string_view kOne = "/v1/models/"; get && call.path.starts_with(kOne))
    return {.body = dump(describe(model(call.path.substr(kOne.size()))))};
  if (get && call.path == "/metrics") return show_metrics();
  const char* allowed = nullptr;
  for (const Route& route : kRoutes) {
    if (call.path != route.path) continue;
    allowed = route.method;
    if (call.method != route.method && !(get && std::string_view(route.method) == "GET")) continue;
    refuse_disguised_json(call);
    return work(route.handler, call);
  }
  for (const char* own : kOwnRoutes)
    if (call.path == own) allowed = "GET";
  if (!allowed) throw ApiError(404, "not_found", "there is no endpoint " + call.path + "; GET /openapi.json lists all");
  Reply reply = error_reply(std::make_exception_ptr(
      ApiError(405, "method_not_allowed", call.path + " takes " + allowed + ", not " + call.method)));
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

Json Api::describe(const ServedModel& model) const {
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(started_.time_since_epoch()).count();
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json json{{"id", model.name},       {"object", "model"},    {"created", created},
            {"owned_by", "attend"},   {"kind", model.kind},   {"capabilities", model.capabilities()},
            {"layers", model.layers}, {"heads", model.heads}, {"context", or_null(model.context)}};
  if (model.translator)
    json["source_language"] = or_null(model.source_language), json["target_language"] = or_null(model.target_language);
  if (model.classifier) json["labels"] = model.classifier->labels();
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
      << "# HELP attend_info The program.\n# TYPE attend_info gauge\nattend_info{version=\"" << version() << "\"} 1\n";
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = out.str()};
}

}  // namespace attend::serve
