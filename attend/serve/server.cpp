#include "attend/serve/server.h"

#include <set>
#include <thread>

#include "attend/core/threads.h"
#include "attend/serve/api.h"
#include "attend/serve/engine.h"
#include "attend/serve/http.h"

namespace attend {
namespace {

std::vector<std::unique_ptr<serve::ServedModel>> open_models(const ServerOptions& options, serve::Engine& engine) {
  if (options.models.empty()) fail<InputError>("serve", "there is no model to serve");
  std::set<std::string> names;
  for (const auto& [name, folder] : options.models)
    if (name.empty() || !names.insert(name).second)
      fail<InputError>("serve", "two models cannot have one name: got \"", name, "\" twice");
  const serve::ModelLimits limits{options.batch_rows, options.batch_tokens, static_cast<std::size_t>(options.queue)};
  std::vector<std::unique_ptr<serve::ServedModel>> models;
  for (const auto& [name, folder] : options.models)
    models.push_back(std::make_unique<serve::ServedModel>(name, folder, limits, [&engine] { engine.wake(); }));
  return models;
}

}  // namespace

struct Server::Parts {
  explicit Parts(const ServerOptions& options)
      : api({options.api_keys, options.timeout}, open_models(options, engine)),
        http({.body = static_cast<std::size_t>(options.body_limit),
              .connections = static_cast<std::size_t>(options.connections)},
             [this](const serve::Call& call) { return api.answer(call); }),
        port(http.bind(options.host, options.port)) {
    std::vector<serve::ServedModel*> models;
    for (const auto& model : api.models()) models.push_back(model.get());
    engine.start(std::move(models), options.threads > 0 ? options.threads : threads());
  }
  ~Parts() { engine.stop(); }

  serve::Engine engine;
  serve::Api api;
  serve::Http http;
  int port;
};

Server::Server(const ServerOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Server::~Server() = default;

int Server::port() const { return parts_->port; }

void Server::run() { parts_->http.listen_after_bind(); }

void Server::finish() {
  parts_->api.shut_down();
  // A moment longer than the last answer: whoever is told that the server ends should hear it to the end.
  for (int quiet = 0; quiet < 3; quiet = parts_->api.active() == 0 ? quiet + 1 : 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop();
}

void Server::stop() { parts_->http.stop(); }

}  // namespace attend
