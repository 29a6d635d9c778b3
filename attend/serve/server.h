// The HTTP server: models in service under OpenAI's shapes, LibreTranslate's and our own. docs/serving.md describes it.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace attend {

struct ServerOptions {
  struct Model {
    std::string name;
    std::filesystem::path folder;
  };
  std::vector<Model> models = {};          ///< at least one, each under its own name
  std::string host = "127.0.0.1";          ///< who can reach it
  int port = 8080;                         ///< 0: any that is free
  std::vector<std::string> api_keys = {};  ///< one of which a caller must have; none: everybody may call
  std::int64_t batch_rows = 64;            ///< texts that a model writes at once
  std::int64_t batch_tokens = 16384;       ///< of all of them, prompts included, in the end
  std::int64_t queue = 256;                ///< requests that may wait for a model; one more gets status 429
  std::chrono::seconds timeout{300};       ///< of a request, waiting included
  std::int64_t body_limit = 8 << 20;       ///< bytes of a request
  std::int64_t connections = 256;          ///< clients at once; others wait to be accepted
  int threads = 0;                         ///< that models use; 0: as threads() says
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
  /// Answers requests until stop() or finish().
  void run();
  /// Refuses new work, waits until what was begun is answered, and ends run(). From any thread.
  void finish();
  /// Ends run() without waiting: whoever still waits for an answer is told so. From any thread.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attend
