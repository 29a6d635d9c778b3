// All endpoints of the HTTP API: they turn a Call into a Reply. http.h connects them to sockets.
#pragma once
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/serve/access.h"
#include "attend/serve/call.h"
#include "attend/serve/fields.h"
#include "attend/serve/metrics.h"
#include "attend/serve/served_model.h"

namespace attend::serve {

struct ApiOptions {
  AccessRules access = {};
  std::chrono::milliseconds timeout{300000};  ///< of a request, with the time that it waits
  std::int64_t memory = 0;                    ///< bytes of all requests together; 0: half of what is free
  std::optional<PrefixCache> prefixes = {};   ///< of the models
};

class Api;
/// An endpoint. Throws ApiError.
using Handler = Reply (*)(Api& api, const Call& call);

class Api {
 public:
  Api(ApiOptions options, std::vector<std::unique_ptr<ServedModel>> models);

  /// Never throws: errors become replies. Safe from many threads.
  Reply answer(const Call& call);
  /// The reply to a request that is refused whatever its body is, or none. Call it before the body is read.
  std::optional<Reply> refusal(const Call& head);
  /// The reply to a request that cannot be read, in the shape of the API that was called.
  Reply refuse(const Call& head, std::exception_ptr error,
               std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now());
  /// Whether the answer takes no time and needs no body, so that it can be given in every state of the server.
  static bool is_quick(const Call& head);
  /// Refuses new work from now on.
  void shut_down() { shutting_down_ = true; }
  /// The same, and requests that wait for a model fail with shutting_down.
  void stop() { shutting_down_ = stopped_ = true; }
  /// Requests for work that are being answered. A stream counts until its end.
  std::int64_t active() const { return active_; }

  /// Bytes that all requests together may use.
  std::int64_t memory() const { return memory_.bytes(); }
  /// Bytes that no request has reserved.
  std::int64_t free_memory() const { return memory_.bytes() - memory_.reserved(); }

  // For the endpoints:
  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }
  /// Throws ApiError: unknown_model, wrong_model_kind.
  ServedModel& model(const std::string& name) const;
  ServedModel& model(const std::string& name, const std::string& capability) const;
  /// The "model" of a request.
  ServedModel& model(Fields& fields, const std::string& capability) const;
  ServedModel::Patience patience(const Call& call) const;

 private:
  Reply route(const Call& call);
  Reply work(Handler handler, const Call& call);
  void admit(const Call& call, bool has_body) const;
  void authorize(const Call& call, bool has_body) const;
  Reply counted(Reply reply, const Call& call, std::chrono::steady_clock::time_point begin);
  Json describe(const ServedModel& model) const;
  Reply show_metrics() const;

  ApiOptions options_;
  mutable MemoryBudget memory_;  // before the models, whose work may still hold memory of requests
  std::vector<std::unique_ptr<ServedModel>> models_;
  Metrics metrics_;
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::atomic<bool> shutting_down_ = false, stopped_ = false;
  std::atomic<std::int64_t> active_ = 0;
};

/// An exception as the client sees it.
struct Failure {
  int status;
  int retry_after;    ///< seconds until the client may try again; 0: not known
  std::string allow;  ///< the method that the path takes, of a 405
  Json json;          ///< in OpenAI's shape
};
/// `texts` is the field of the request that an error of a text names.
Failure failure_of(std::exception_ptr error, const std::string& texts = "input");
/// LibreTranslate's endpoints have another shape of errors.
Reply error_reply(std::exception_ptr error, bool libre_translate = false, const std::string& texts = "input");

// Shared by several endpoints:
/// Reads "long": what to do with a text that is too long.
LongText long_text(Fields& fields, LongText otherwise, bool can_split = false);
/// A key of the request's options: all fields but `others`. Texts of requests with the same key share a batch.
std::string key_of(Json body, std::initializer_list<const char*> others);

// completions.cpp
Reply complete(Api& api, const Call& call);
Reply chat(Api& api, const Call& call);
// embeddings.cpp
Reply embed(Api& api, const Call& call);
// libre_translate.cpp
Reply translate(Api& api, const Call& call);
Reply languages(Api& api, const Call& call);
Reply detect(Api& api, const Call& call);
// summaries.cpp
Reply summarize(Api& api, const Call& call);
// views.cpp
Reply tokenize(Api& api, const Call& call);
Reply classify(Api& api, const Call& call);
Reply fill_mask(Api& api, const Call& call);
Reply attention(Api& api, const Call& call);
Reply answer_question(Api& api, const Call& call);
Reply lesson_positions(Api& api, const Call& call);
Reply lesson_pooling(Api& api, const Call& call);

}  // namespace attend::serve
