// Turns prompts into requests for the engine, and generated tokens into texts. LanguageModel::generate() runs an engine
// for its prompts; the server runs one for the requests of all clients.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/decode/engine.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend {

/// A token that was just generated.
struct GeneratedToken {
  NextToken token;
  std::span<const NextToken> best;  ///< the most likely tokens, best first
};

/// Callbacks for one prompt, called inside Engine::step().
struct GenerationListener {
  /// Called for each token as soon as greedy search or sampling has chosen it. `text` is the text that is new and
  /// final; the concatenation of all calls is the generated text. Called once more with a null token at the end if
  /// there is text left. Not called for beam search.
  std::function<void(std::size_t sample, const GeneratedToken* token, const std::string& text)> on_token = {};
  std::int64_t alternatives = 0;  ///< the minimum size of GeneratedToken::best, if the vocabulary is large enough
  std::function<void(std::vector<Generation>&& texts)> done = {};
};

class GenerationTask {
 public:
  /// Makes a task for each prompt. An empty prompt is replaced by the start token. Throws as LanguageModel::generate()
  /// does.
  static std::vector<GenerationTask> make(const LanguageModel& model, std::vector<std::vector<std::int32_t>> prompts,
                                          const GenerateOptions& options);

  EngineRequest request;
  /// Makes a listener for the engine that decodes tokens to texts and calls `listener`.
  EngineListener decode_for(GenerationListener listener) const;

 private:
  struct Shared;
  GenerationTask(EngineRequest made, std::shared_ptr<const Shared> shared)
      : request(std::move(made)), shared_(std::move(shared)) {}
  std::shared_ptr<const Shared> shared_;  // by all tasks of one call of make()
};

}  // namespace attend
