// All endpoints: a call in, a reply out. Knows nothing of sockets.
#pragma once
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "attend/serve/call.h"
#include "attend/serve/fields.h"
#include "attend/serve/metrics.h"
#include "attend/serve/served_model.h"

namespace attend::serve {

struct ApiOptions {
  std::vector<std::string> keys = {};         ///< any of which a caller must have; none: all may call
  std::chrono::milliseconds timeout{300000};  ///< of a request, waiting included
};

class Api;
/// An endpoint. Throws ApiError.
using Handler = Reply (*)(Api& api, const Call& call);

class Api {
 public:
  Api(ApiOptions options, std::vector<std::unique_ptr<ServedModel>> models);

  /// Never throws. Safe from many threads.
  Reply answer(const Call& call);
  /// From now on, what would make work is refused.
  void shut_down() { shutting_down_ = true; }
  /// The same, and whoever waits for work that was begun is told so too.
  void stop() { shutting_down_ = stopped_ = true; }
  /// Calls that make work and are being answered. A stream counts until its end.
  std::int64_t active() const { return active_; }

  // What the endpoints are made of.
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
  void authorize(const Call& call) const;
  Json describe(const ServedModel& model) const;
  Reply show_metrics() const;

  ApiOptions options_;
  std::vector<std::unique_ptr<ServedModel>> models_;
  Metrics metrics_;
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::atomic<bool> shutting_down_ = false, stopped_ = false;
  std::atomic<std::int64_t> active_ = 0;
};

/// What an exception is to the caller.
struct Failure {
  int status;
  int retry_after;  ///< seconds; 0: not said
  Json json;        ///< in OpenAI's shape
};
Failure failure_of(std::exception_ptr error);
/// LibreTranslate's endpoints have a shape of their own.
Reply error_reply(std::exception_ptr error, bool libre_translate = false);

// What several endpoints read.
/// "long": what becomes of a text that is too long.
LongText long_text(Fields& fields, LongText otherwise, bool can_split = false);
/// What tells requests apart whose texts cannot go through a model together: all their fields but these.
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
// views.cpp
Reply tokenize(Api& api, const Call& call);
Reply classify(Api& api, const Call& call);
Reply fill_mask(Api& api, const Call& call);
Reply attention(Api& api, const Call& call);
Reply lesson_positions(Api& api, const Call& call);
Reply lesson_pooling(Api& api, const Call& call);

}  // namespace attend::serve
