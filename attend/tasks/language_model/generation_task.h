// A prompt and its options as a request for the engine, and the texts that come out of it. LanguageModel::generate runs
// an engine for its prompts; the server runs one for the requests of all clients.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/decode/engine.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend {

/// A token as soon as it is chosen.
struct GeneratedToken {
  NextToken token;
  std::span<const NextToken> best;  ///< the most likely tokens, best first
};

/// Callbacks for one prompt, called inside Engine::step().
struct GenerationListener {
  /// Called for each token that greedy search or sampling has chosen: which of the samples, the token, and the text
  /// that is settled by now and was not before; these parts join to the text. Once more without a token at the end, if
  /// text was held back. Not called for beams.
  std::function<void(std::size_t sample, const GeneratedToken* token, const std::string& text)> on_token = {};
  std::int64_t alternatives = 0;  ///< the least number of GeneratedToken::best, where there are so many
  std::function<void(std::vector<Generation>&& texts)> done = {};
};

class GenerationTask {
 public:
  /// One for each prompt. An empty prompt stands for the start token. Throws as LanguageModel::generate.
  static std::vector<GenerationTask> make(const LanguageModel& model, std::vector<std::vector<std::int32_t>> prompts,
                                          const GenerateOptions& options);

  EngineRequest request;
  /// Decodes the tokens of the request for a listener to texts.
  EngineListener decode_for(GenerationListener listener) const;

 private:
  struct Shared;
  GenerationTask(EngineRequest made, std::shared_ptr<const Shared> shared)
      : request(std::move(made)), shared_(std::move(shared)) {}
  std::shared_ptr<const Shared> shared_;  // by the tasks of one call
};

}  // namespace attend
