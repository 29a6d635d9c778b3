// attend serve: serves models over HTTP.
#include <algorithm>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <utility>

#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/models/adapter.h"
#include "attend/serve/access.h"
#include "attend/serve/server.h"

namespace attend::cli {
namespace {

struct ServeFlags {
  std::vector<std::string> models, adapters;
  std::string key_file;
  std::int64_t timeout = 300, body_limit = 8, memory = 0, prefix_cache = -1, grace = 2;
  ServerOptions options;
};

/// NAME=DIR, or a folder under its own name.
ServerOptions::Model model_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  return {std::filesystem::weakly_canonical(text).filename().string(), text};
}

/// NAME=DIR of an adapter, and the folder of its model: the only model, or the one that the adapter names.
ServerOptions::Model adapter_of(const std::string& text, const std::vector<ServerOptions::Model>& models) {
  ServerOptions::Model made = model_of(text);
  made.adapter = std::exchange(made.folder, {});
  if (models.size() == 1) {
    made.folder = models.front().folder;
    return made;
  }
  const std::filesystem::path base = AdapterFolder(made.adapter).base();
  const auto found = std::ranges::find_if(models, [&](const ServerOptions::Model& model) {
    std::error_code different;
    return std::filesystem::equivalent(model.folder, base, different);
  });
  if (found == models.end())
    fail<InputError>("serve", "adapter ", made.name, ": its model ", base.string(), " is none of the --model folders");
  made.folder = found->folder;
  return made;
}

/// One key per line, without the white space around it; empty lines and lines that begin with # are ignored.
std::vector<std::string> read_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail<InputError>("serve", "cannot read the API keys: ", path);
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (!line.empty() && line.front() != '#') keys.push_back(line);
  }
  if (keys.empty()) fail<InputError>("serve", path, ": has no key, expected one per line");
  return keys;
}

/// Refuses what no browser sends, and what would therefore never match.
void check_names(const ServerOptions& options) {
  for (const std::string& host : options.allowed_hosts)
    if (host.empty() || host.find_first_of("/: ") != std::string::npos)
      fail<InputError>("serve", "--allowed-host takes a name without scheme and port: got \"", host,
                       "\", expected such as example.org");
  for (const std::string& origin : options.cors_origins) {
    const std::size_t name = origin.find("://");
    if (origin != "*" && (name == 0 || name == std::string::npos || name + 3 == origin.size() ||
                          origin.find_first_of("/ ", name + 3) != std::string::npos))
      fail<InputError>("serve", "--cors-origin takes a scheme, a name and no path: got \"", origin,
                       "\", expected such as https://example.org");
  }
}

void run(ServeFlags& flags) {
  ServerOptions& options = flags.options;
  check_names(options);
  for (const std::string& text : flags.models) options.models.push_back(model_of(text));
  const std::vector<ServerOptions::Model> bases = options.models;
  for (const std::string& text : flags.adapters) options.models.push_back(adapter_of(text, bases));
  if (!flags.key_file.empty()) options.api_keys = read_keys(flags.key_file);
  options.timeout = std::chrono::seconds(flags.timeout);
  options.body_limit = flags.body_limit << 20;
  options.memory = flags.memory << 20;
  if (flags.prefix_cache >= 0) options.prefix_cache = flags.prefix_cache << 20;
  options.grace = std::chrono::seconds(flags.grace);
  Server server(options);
  for (const std::string& warning : server.warnings()) warn(warning);
  std::string names;
  for (const auto& [name, folder, adapter] : options.models) names += (names.empty() ? "" : ", ") + name;
  std::cerr << "Serving " << names << " at http://" << options.host << ':' << server.port() << "  (Ctrl-C stops it)\n";
  if (!serve::is_loopback(options.host) && options.api_keys.empty())
    warn("everyone who can reach " + options.host + " can use these models; --api-key-file restricts access");
  // The server runs in a thread of its own, so that signals do not interrupt the call that accepts a connection.
  std::future<void> running = std::async(std::launch::async, [&server] { server.run(); });
  while (!interrupted())
    if (running.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) {
      running.get();
      fail("serve", "the server stopped unexpectedly");
    }
  std::cerr << "Finishing the accepted requests; a second Ctrl-C stops at once\n";
  server.finish();
  running.get();
}

}  // namespace

void add_serve(Verb& program) {
  Verb* verb = program.add_subcommand(
      "serve", "Serve models over HTTP, with the APIs of OpenAI and LibreTranslate and a page for the browser");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ServeFlags>();
  verb->add_option("-m,--model", flags->models,
                   "Folder of a model, and the name under which it is served; repeat the flag for several models")
      ->type_name("NAME=DIR")
      ->required()
      ->one_at_a_time();
  verb->add_option("--adapter", flags->adapters,
                   "Folder of an adapter (LoRA) of one of the models, and the name under which that model with the "
                   "adapter is served; repeat the flag for several adapters")
      ->type_name("NAME=DIR")
      ->one_at_a_time();
  verb->add_option("--host", flags->options.host,
                   "Address to listen on; 0.0.0.0 accepts connections from other machines")
      ->type_name("ADDRESS");
  verb->add_option("--port", flags->options.port, "Port to listen on; 0 picks a free one")
      ->type_name("N")
      ->check(between(0, 65535));
  verb->add_option("--api-key-file", flags->key_file, "File with the accepted API keys, one per line")
      ->default_text("no key is needed")
      ->type_name("FILE");
  verb->add_option(
          "--allowed-host", flags->options.allowed_hosts,
          "Name under which clients reach the server, such as example.org; repeat the flag for several names. IP "
          "addresses and localhost need no flag; * allows all names")
      ->type_name("NAME")
      ->one_at_a_time();
  verb->add_option(
          "--cors-origin", flags->options.cors_origins,
          "Origin whose web pages may use the server, such as https://example.org; repeat the flag for several "
          "origins. * allows all web pages")
      ->type_name("ORIGIN")
      ->one_at_a_time();
  const char* limits = "Limits";
  verb->add_option("--max-batch-rows", flags->options.batch_rows,
                   "Largest number of sequences that a model generates at the same time")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--max-batch-tokens", flags->options.batch_tokens,
                   "Largest number of tokens of these sequences, prompts included")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--queue", flags->options.queue,
                   "Number of requests that may wait for a model; further ones get status 429")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--timeout", flags->timeout, "Seconds after which a request is cancelled")
      ->type_name("S")
      ->check(between(1, 1'000'000))
      ->group(limits);
  verb->add_option("--body-limit", flags->body_limit, "Largest size of a request body, in megabytes")
      ->type_name("MB")
      ->check(between(1, 1024))
      ->group(limits);
  verb->add_option("--memory", flags->memory, "Memory that all requests together may use, in megabytes")
      ->default_text("half of what is free after loading")
      ->type_name("MB")
      ->check(between(1, 1 << 24))
      ->group(limits);
  verb->add_option(
          "--prefix-cache", flags->prefix_cache,
          "Memory for prompts that have been read, in megabytes, so that a later prompt with the same beginning "
          "is not read again; part of --memory, as far as requests do not need it. 0 keeps none")
      ->default_text("a quarter of --memory")
      ->type_name("MB")
      ->check(between(0, 1 << 24))
      ->group(limits);
  verb->add_option("--grace", flags->grace, "Seconds that running requests get to finish when the server is stopped")
      ->type_name("S")
      ->check(between(0, 100'000))
      ->group(limits);
  verb->add_option("--connections", flags->options.connections,
                   "Largest number of open connections; further ones get status 503")
      ->type_name("N")
      ->check(between(1, 4096))
      ->group(limits);
  verb->footer(
      "OpenAI's API: /v1/completions, /v1/chat/completions, /v1/embeddings and /v1/models. LibreTranslate's API: "
      "/translate,\n"
      "/languages and /detect. GET /openapi.json describes both; a browser gets the explorer.\n"
      "Ctrl-C or SIGTERM stops the server after it has answered the requests that it has accepted.\n"
      "Examples:\n"
      "  attend serve --model gpt2=models/gpt2 --adapter letters=gpt2-letters --adapter mails=gpt2-mails\n"
      "  attend serve --model gpt2=models/gpt2 --model it-en=models/opus-mt-it-en\n"
      "  attend serve --model minilm=all-MiniLM-L6-v2 --host 0.0.0.0 --port 80 --api-key-file keys.txt");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
