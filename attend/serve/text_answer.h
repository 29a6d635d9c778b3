// The texts of a request as they are written, in OpenAI's shapes: whole at their end, or as a stream of events.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/serve/call.h"
#include "attend/serve/served_model.h"

namespace attend::serve {

/// A request for texts, of either shape.
struct TextRequest {
  ServedModel* model = nullptr;
  bool chat = false;  ///< the shape
  std::vector<std::vector<std::int32_t>> prompts = {};
  std::vector<std::string> prompt_texts = {};
  GenerateOptions options = {};
  bool stream = false, include_usage = false, echo = false;
  bool logprobs = false;
  std::int64_t alternatives = 0;  ///< logprobs of so many tokens beside the one that was said
};

/// For seeds that nobody gave, and for names.
std::uint64_t random_number();

/// Throws as ServedModel::generate, and GenerationTask::make.
Reply answer(TextRequest request, const ServedModel::Patience& patience);

}  // namespace attend::serve
