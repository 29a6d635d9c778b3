#include "attend/serve/server.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "attend/core/threads.h"
#include "attend/models/registry.h"
#include "attend/serve/api.h"
#include "attend/serve/http.h"
#include "attend/serve/model_thread.h"
#include "attend/tasks/embedding/sentence_folder.h"

namespace attend {
namespace {

std::vector<std::unique_ptr<serve::ServedModel>> open_models(const ServerOptions& options,
                                                             serve::ModelThread& model_thread,
                                                             const std::optional<PrefixCache>& prefixes) {
  if (options.models.empty()) fail<InputError>("serve", "there is no model to serve");
  std::set<std::string> names;
  for (const auto& [name, folder, adapter] : options.models)
    if (name.empty() || !names.insert(name).second)
      fail<InputError>("serve", "two models cannot have one name: got \"", name, "\" twice");
  const serve::ModelLimits limits{options.batch_rows, options.batch_tokens, static_cast<std::size_t>(options.queue)};
  std::vector<std::unique_ptr<serve::ServedModel>> models;
  std::map<std::filesystem::path, ModelFolder> opened;
  for (const auto& [name, folder, adapter] : options.models) {
    if (!std::filesystem::is_directory(folder))
      fail<InputError>("serve", "model ", name, ": there is no folder ", folder.string());
    const std::filesystem::path place = std::filesystem::weakly_canonical(transformer_in(folder));
    const ModelFolder& base = opened.try_emplace(place, place).first->second;
    models.push_back(std::make_unique<serve::ServedModel>(
        name, folder, adapter.empty() ? base : ModelFolder(base, adapter), limits,
        [&model_thread] { model_thread.wake(); },
        prefixes ? std::optional(prefixes->for_another_model()) : std::nullopt));
  }
  return models;
}

serve::HttpLimits http_limits(const ServerOptions& options, std::size_t memory) {
  serve::HttpLimits limits;
  limits.message.body = static_cast<std::size_t>(options.body_limit);
  limits.connections = static_cast<std::size_t>(options.connections);
  // At least two bodies fit; a string that has grown may take twice its size.
  limits.buffered = std::max(std::min(limits.buffered, memory / 2), 4 * limits.message.body);
  return limits;
}

}  // namespace

struct Server::Parts {
  explicit Parts(const ServerOptions& options)
      : grace(options.grace),
        prefixes(prefix_cache(options.prefix_cache)),
        api({{options.api_keys, serve::host_names(options.host, options.allowed_hosts), options.cors_origins},
             options.timeout,
             options.memory,
             prefixes},
            open_models(options, model_thread, prefixes)),
        http(http_limits(options, static_cast<std::size_t>(api.memory())), api),
        port(http.bind(options.host, options.port)) {
    std::vector<serve::ServedModel*> models;
    for (const auto& model : api.models()) models.push_back(model.get());
    model_thread.start(std::move(models), options.threads > 0 ? options.threads : threads());
  }
  ~Parts() { model_thread.stop(); }

  std::optional<PrefixCache> prefix_cache(std::optional<std::int64_t> bytes) const {
    if (bytes == 0) return {};
    return PrefixCache(bytes.value_or(std::numeric_limits<std::int64_t>::max()), [this, share = !bytes] {
      return share ? std::min(api.memory() / 4, api.free_memory()) : api.free_memory();
    });
  }

  std::chrono::milliseconds grace;
  serve::ModelThread model_thread;
  std::optional<PrefixCache> prefixes;
  serve::Api api;
  serve::Http http;
  int port;
};

Server::Server(const ServerOptions& options) : parts_(std::make_unique<Parts>(options)) {}
Server::~Server() = default;

int Server::port() const { return parts_->port; }

std::vector<std::string> Server::warnings() const {
  std::vector<std::string> all;
  for (const auto& model : parts_->api.models())
    if (!model->template_problem.empty()) all.push_back(model->name + " cannot chat: " + model->template_problem);
  return all;
}

void Server::run() { parts_->http.run(); }

void Server::finish() {
  parts_->api.shut_down();
  parts_->http.hurry();
  const auto end = std::chrono::steady_clock::now() + parts_->grace;
  // A moment longer than the last answer, so that whoever comes too late hears why.
  do std::this_thread::sleep_for(std::chrono::milliseconds(50));
  while (parts_->api.active() > 0 && std::chrono::steady_clock::now() < end);
  stop();
}

void Server::stop() {
  parts_->api.stop();
  parts_->http.stop();
}

}  // namespace attend
