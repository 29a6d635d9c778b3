// The HTTP server: models behind OpenAI's, LibreTranslate's and our own API. docs/serving.md describes it.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attend {

struct ServerOptions {
  struct Model {
    std::string name;
    std::filesystem::path folder;
    std::filesystem::path adapter = {};  ///< the folder of an adapter; models of one folder share its weights
  };
  std::vector<Model> models = {};          ///< at least one; names are unique
  std::string host = "127.0.0.1";          ///< the address to listen on
  int port = 8080;                         ///< 0: any free port
  std::vector<std::string> api_keys = {};  ///< a client must send one of them; empty: no key is needed
  /// Names in the header Host that the server answers, besides localhost, IP addresses and `host`; "*": all. When other
  /// machines can connect, the name of this machine is one of them.
  std::vector<std::string> allowed_hosts = {};
  /// Origins ("https://example.org") whose web pages may use the server; "*": all. Its own pages always may.
  std::vector<std::string> cors_origins = {};
  std::int64_t batch_rows = 64;       ///< sequences that a model generates at once
  std::int64_t batch_tokens = 16384;  ///< tokens of these sequences at their end, with their prompts
  std::int64_t queue = 256;           ///< requests that may wait for a model; the next one gets status 429
  std::chrono::seconds timeout{300};  ///< of a request, with the time that it waits
  std::int64_t body_limit = 8 << 20;  ///< largest request, in bytes
  std::int64_t connections = 256;     ///< clients at once; others get status 503
  std::int64_t memory = 0;            ///< bytes that all requests together may use; 0: half of what is free
  /// Bytes that keys and values of prompts may use that are kept for later prompts with the same beginning; of those of
  /// `memory`, what requests do not need. 0: none are kept; empty: a quarter of `memory`.
  std::optional<std::int64_t> prefix_cache = {};
  std::chrono::milliseconds grace{3000};  ///< time that finish() gives to the requests that are being answered
  int threads = 0;                        ///< threads of the models; 0: threads()
};

class Server {
 public:
  /// Opens the models and takes the port. Throws InputError for a folder that cannot be served, a name that is given
  /// twice and a port that is taken.
  explicit Server(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  /// What the models cannot do because of problems in their folders.
  std::vector<std::string> warnings() const;
  /// Answers requests until stop() or finish().
  void run();
  /// Refuses new work, waits until running requests are answered, or for ServerOptions::grace, and ends run(). Requests
  /// that are not answered by then fail with shutting_down. May be called from any thread.
  void finish();
  /// Ends run() without waiting: running requests fail with shutting_down. May be called from any thread.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attend
