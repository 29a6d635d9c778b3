// attend serve: models over HTTP.
#include <fstream>
#include <future>
#include <iostream>
#include <memory>

#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/serve/server.h"

namespace attend::cli {
namespace {

struct ServeFlags {
  std::vector<std::string> models;
  std::string key_file;
  std::int64_t timeout = 300, body_limit = 8;
  ServerOptions options;
};

/// NAME=DIR, or a folder under its own name.
ServerOptions::Model model_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  return {std::filesystem::weakly_canonical(text).filename().string(), text};
}

/// A key a line; empty lines and those that begin with # count for nothing.
std::vector<std::string> read_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail<InputError>("serve", "cannot read the API keys: ", path);
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line.front() != '#') keys.push_back(line);
  }
  if (keys.empty()) fail<InputError>("serve", path, ": has no key, expected one a line");
  return keys;
}

void run(ServeFlags& flags) {
  ServerOptions& options = flags.options;
  for (const std::string& text : flags.models) options.models.push_back(model_of(text));
  if (!flags.key_file.empty()) options.api_keys = read_keys(flags.key_file);
  options.timeout = std::chrono::seconds(flags.timeout);
  options.body_limit = flags.body_limit << 20;
  Server server(options);
  std::string names;
  for (const auto& [name, folder] : options.models) names += (names.empty() ? "" : ", ") + name;
  std::cerr << "Serving " << names << " at http://" << options.host << ':' << server.port() << "  (Ctrl-C ends it)\n";
  if (options.host != "127.0.0.1" && options.host != "localhost" && options.host != "::1" && options.api_keys.empty())
    warn("whoever reaches " + options.host + " can use these models: there is no --api-key-file");
  // Signals come to this thread, and so never into the middle of a call that accepts a connection.
  std::future<void> running = std::async(std::launch::async, [&server] { server.run(); });
  while (!interrupted())
    if (running.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) {
      running.get();
      fail("serve", "the server has ended by itself");
    }
  std::cerr << "Finishing what was begun; once more ends at once\n";
  server.finish();
  running.get();
}

}  // namespace

void add_serve(Verb& program) {
  Verb* verb = program.add_subcommand("serve", "Models over HTTP, for other people's clients and for the browser");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ServeFlags>();
  verb->add_option("-m,--model", flags->models, "A model's folder, and the name it is called by; may be given often")
      ->type_name("NAME=DIR")
      ->required()
      ->one_at_a_time();
  verb->add_option("--host", flags->options.host, "Address to listen at; 0.0.0.0 lets in everybody")
      ->type_name("ADDRESS");
  verb->add_option("--port", flags->options.port, "Port to listen at; 0: any that is free")
      ->type_name("N")
      ->check(between(0, 65535));
  verb->add_option("--api-key-file", flags->key_file, "Only who has a key of this file may call; one a line")
      ->type_name("FILE");
  const char* limits = "Limits";
  verb->add_option("--max-batch-rows", flags->options.batch_rows, "Texts that a model writes at once")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--max-batch-tokens", flags->options.batch_tokens, "Tokens of all of them, prompts included")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--queue", flags->options.queue, "Requests that may wait for a model; one more gets status 429")
      ->type_name("N")
      ->check(kPositive)
      ->group(limits);
  verb->add_option("--timeout", flags->timeout, "Seconds until a request is given up")
      ->type_name("S")
      ->check(between(1, 1'000'000))
      ->group(limits);
  verb->add_option("--body-limit", flags->body_limit, "Megabytes of a request at most")
      ->type_name("MB")
      ->check(between(1, 1024))
      ->group(limits);
  verb->add_option("--connections", flags->options.connections, "Clients at once")
      ->type_name("N")
      ->check(between(1, 4096))
      ->group(limits);
  verb->footer(
      "OpenAI's clients find /v1/completions, /v1/chat/completions, /v1/embeddings and /v1/models, LibreTranslate's "
      "find\n"
      "/translate, /languages and /detect; GET /openapi.json describes all, and a browser is shown the explorer.\n"
      "Ends on Ctrl-C or SIGTERM, after what was begun is answered.\n"
      "Examples:\n"
      "  attend serve --model gpt2=models/gpt2 --model it-en=models/opus-mt-it-en\n"
      "  attend serve --model minilm=all-MiniLM-L6-v2 --host 0.0.0.0 --port 80 --api-key-file keys.txt");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
