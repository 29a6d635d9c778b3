// A prompt and its options as a request for the engine, and its results as texts. LanguageModel::generate runs an
// engine for its prompts; the server runs one for the requests of all clients.
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
  /// Called for each token that greedy search or sampling has chosen, with the number of the sample, the token, and the
  /// new text that cannot change any more; these parts join to the text. At the end it is called once more without a
  /// token, if text was held back. Not called for beam search.
  std::function<void(std::size_t sample, const GeneratedToken* token, const std::string& text)> on_token = {};
  std::int64_t alternatives = 0;  ///< least number of tokens in GeneratedToken::best
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
