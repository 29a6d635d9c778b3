#include "attend/serve/api.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "attend/core/memory.h"
#include "attend/core/version.h"
#include "attend/serve/api_error.h"
#include "attend/serve/assets.h"

namespace attend::serve {
namespace {

struct Route {
  const char* method;
  const char* path;
  Reply (*handler)(Api&, const Call&);
  bool libre_translate = false;
};

constexpr std::array kRoutes = {
    Route{"POST", "/v1/completions", complete},
    Route{"POST", "/v1/chat/completions", chat},
    Route{"POST", "/v1/embeddings", embed},
    Route{"POST", "/v1/tokenize", tokenize},
    Route{"POST", "/v1/classify", classify},
    Route{"POST", "/v1/fill-mask", fill_mask},
    Route{"POST", "/v1/attention", attention},
    Route{"GET", "/v1/lessons/positions", lesson_positions},
    Route{"GET", "/v1/lessons/pooling", lesson_pooling},
    Route{"POST", "/translate", translate, true},
    Route{"GET", "/languages", languages, true},
    Route{"POST", "/detect", detect, true},
};
/// Those that are answered here.
constexpr std::array kOwnRoutes = {"/v1/models", "/health", "/ready", "/metrics"};

const char* error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/// Whether two texts are equal, in a time that does not tell where they differ.
bool equal_in_constant_time(const std::string& a, const std::string& b) {
  constexpr std::size_t kLongest = 512;
  volatile unsigned char difference = a.size() != b.size() || a.size() > kLongest;
  for (std::size_t i = 0; i < kLongest; ++i) {
    const auto of = [i](const std::string& text) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
    difference = static_cast<unsigned char>(difference | (of(a) ^ of(b)));
  }
  return difference == 0;
}

/// The key that LibreTranslate's clients put into the body.
std::string key_in_body(const Call& call) {
  if (const auto found = call.query.find("api_key"); found != call.query.end()) return found->second;
  const Json body = Json::parse(call.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return "";
  const auto found = body.find("api_key");
  return found != body.end() && found->is_string() ? found->get<std::string>() : "";
}

constexpr const char* kNoExplorer =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Attend</title><body><h1>Attend</h1>"
    "<p>The server runs. This program was built without the explorer, since npm was not there.</p>"
    "<p><a href=\"/openapi.json\">The API</a> · <a href=\"/v1/models\">Models</a> · "
    "<a href=\"/metrics\">Metrics</a></p></body></html>";

}  // namespace

Json error_json(std::exception_ptr error) {
  const auto shape = [](int status, const std::string& code, const std::string& message, const std::string& param) {
    return Json{{"error",
                 {{"message", message},
                  {"type", error_type(status)},
                  {"code", code},
                  {"param", param.empty() ? Json() : Json(param)}}},
                {"status", status}};
  };
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& e) {
    Json json = shape(e.status, e.code, e.what(), e.param);
    if (e.retry_after > 0) json["retry_after"] = e.retry_after;
    return json;
  } catch (const TextError& e) {
    return shape(400, "input_too_long", "input " + std::to_string(e.text) + ": " + e.what(), "input");
  } catch (const InputError& e) {
    return shape(400, "invalid_value", e.what(), "");
  } catch (const std::exception& e) {
    return shape(500, "internal", e.what(), "");
  }
}

Reply error_reply(std::exception_ptr error, bool libre_translate) {
  Json json = error_json(error);
  Reply reply;
  reply.status = json["status"];
  if (json.contains("retry_after"))
    reply.headers.emplace_back("Retry-After", std::to_string(json["retry_after"].get<int>()));
  if (reply.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  json.erase("status"), json.erase("retry_after");
  if (libre_translate) json = Json{{"error", json["error"]["message"]}, {"code", json["error"]["code"]}};
  reply.body = dump(json);
  return reply;
}

Api::Api(ApiOptions options, std::vector<std::unique_ptr<ServedModel>> models)
    : options_(std::move(options)), models_(std::move(models)) {}

ServedModel& Api::model(const std::string& name, const std::string& capability) const {
  for (const auto& model : models_) {
    if (model->name != name) continue;
    if (model->can(capability)) return *model;
    throw ApiError(400, "wrong_model_kind",
                   "the model \"" + name + "\" is of the kind " + model->kind + " and cannot " + capability, "model");
  }
  throw ApiError(404, "unknown_model", "there is no model \"" + name + "\"; GET /v1/models lists them", "model");
}

ServedModel& Api::model(Fields& fields, const std::string& capability) const {
  return model(fields.text("model"), capability);
}

ServedModel::Patience Api::patience(const Call& call) const {
  return {std::chrono::steady_clock::now() + options_.timeout, call.hung_up};
}

void Api::authorize(const Call& call) const {
  if (options_.keys.empty()) return;
  constexpr std::string_view kBearer = "Bearer ";
  const bool libre_translate = call.path == "/translate" || call.path == "/detect" || call.path == "/languages";
  std::string given = call.authorization.starts_with(kBearer) ? call.authorization.substr(kBearer.size()) : "";
  if (given.empty() && libre_translate) given = key_in_body(call);
  bool known = false;
  for (const std::string& key : options_.keys) known |= equal_in_constant_time(key, given);
  if (!known) throw ApiError(401, "unauthorized", "an API key is needed: send it as \"Authorization: Bearer KEY\"");
}

Reply Api::answer(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  std::string path = "other";  // so that strangers cannot make up names without end
  bool libre_translate = false;
  for (const Route& route : kRoutes)
    if (call.path == route.path) path = call.path, libre_translate = route.libre_translate;
  for (const char* own : kOwnRoutes)
    if (call.path == own) path = call.path;
  ++active_;
  Reply reply;
  try {
    reply = route(call);
  } catch (...) {
    reply = error_reply(std::current_exception(), libre_translate);
  }
  const auto finish = [this, path, begin, status = reply.status] {
    --active_;
    metrics_.count(path, status, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  };
  if (!reply.stream) {
    finish();
    return reply;
  }
  // Whether the stream runs to its end, breaks off or is never begun: when nobody holds it any more, it is over.
  const std::shared_ptr<void> over(nullptr, [finish](void*) { finish(); });
  reply.stream = [stream = std::move(reply.stream), over](const Reply::Write& write) { stream(write); };
  return reply;
}

Reply Api::route(const Call& call) {
  const bool get = call.method == "GET" || call.method == "HEAD";
  if (get) {
    if (call.path == "/health") return {.body = R"({"status":"ok"})"};
    if (call.path == "/ready") {
      if (shutting_down_) throw ApiError(503, "shutting_down", "the server is about to end");
      return {.body = R"({"status":"ready"})"};
    }
    if (const Asset* asset = find_asset(call.path))
      return {.type = std::string(asset->type), .body = std::string(asset->data)};
    if (call.path == "/") return {.type = "text/html; charset=utf-8", .body = kNoExplorer};
  }
  authorize(call);
  if (get && call.path == "/v1/models") return list_models();
  if (get && call.path.starts_with("/v1/models/")) {
    const Json all = Json::parse(list_models().body);
    for (const Json& one : all["data"])
      if (one["id"] == call.path.substr(std::string_view("/v1/models/").size())) return {.body = dump(one)};
    throw ApiError(404, "unknown_model", "there is no such model; GET /v1/models lists them", "model");
  }
  if (get && call.path == "/metrics") return show_metrics();
  const char* allowed = nullptr;
  for (const Route& route : kRoutes) {
    if (call.path != route.path) continue;
    allowed = route.method;
    if (call.method != route.method && !(get && std::string_view(route.method) == "GET")) continue;
    if (shutting_down_) {
      ApiError error(503, "shutting_down", "the server is about to end");
      error.retry_after = 5;
      throw error;
    }
    return route.handler(*this, call);
  }
  for (const char* own : kOwnRoutes)
    if (call.path == own) allowed = "GET";
  if (!allowed) throw ApiError(404, "not_found", "there is nothing at " + call.path + "; GET /openapi.json lists all");
  Reply reply = error_reply(std::make_exception_ptr(
      ApiError(405, "method_not_allowed", call.path + " takes " + allowed + ", not " + call.method)));
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

Reply Api::list_models() const {
  Json data = Json::array();
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(started_.time_since_epoch()).count();
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  for (const auto& model : models_) {
    Json one{{"id", model->name},       {"object", "model"},     {"created", created},
             {"owned_by", "attend"},    {"kind", model->kind},   {"capabilities", model->capabilities()},
             {"layers", model->layers}, {"heads", model->heads}, {"context", or_null(model->context)}};
    if (model->translator)
      one["source_language"] = or_null(model->source_language),
      one["target_language"] = or_null(model->target_language);
    if (model->classifier) one["labels"] = model->classifier->labels();
    data.push_back(std::move(one));
  }
  return {.body = dump({{"object", "list"}, {"data", std::move(data)}})};
}

Reply Api::show_metrics() const {
  std::ostringstream out;
  out << metrics_.text();
  const auto gauge = [&](const char* name, const char* kind, const char* help, auto&& value) {
    out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << kind << '\n';
    for (const auto& model : models_) out << name << "{model=\"" << model->name << "\"} " << value(*model) << '\n';
  };
  gauge("attend_waiting_requests", "gauge", "Requests that wait for a model.",
        [](const ServedModel& m) { return m.load().waiting; });
  gauge("attend_running_texts", "gauge", "Texts that are being written.",
        [](const ServedModel& m) { return m.load().rows; });
  gauge("attend_reserved_tokens", "gauge", "Tokens that they may have in the end.",
        [](const ServedModel& m) { return m.load().tokens; });
  gauge("attend_prompt_tokens_total", "counter", "Tokens of prompts.",
        [](const ServedModel& m) { return m.prompt_tokens.load(); });
  gauge("attend_generated_tokens_total", "counter", "Tokens that were written.",
        [](const ServedModel& m) { return m.generated_tokens.load(); });
  gauge("attend_steps_total", "counter", "Steps of a batch; each gives every text in it a token.",
        [](const ServedModel& m) { return m.steps.load(); });
  out << "# HELP attend_active_requests Requests that are being answered.\n# TYPE attend_active_requests gauge\n"
      << "attend_active_requests " << active_ << '\n'
      << "# HELP attend_memory_bytes Memory of tensors, and freed memory that waits for reuse.\n"
         "# TYPE attend_memory_bytes gauge\n"
      << "attend_memory_bytes{state=\"used\"} " << memory_use().current << '\n'
      << "attend_memory_bytes{state=\"cached\"} " << memory_use().cached << '\n'
      << "# HELP attend_info The program.\n# TYPE attend_info gauge\nattend_info{version=\"" << version() << "\"} 1\n";
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = out.str()};
}

}  // namespace attend::serve
