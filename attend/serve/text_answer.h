// Answers of completions and chat in OpenAI's format: whole, or as a stream of events.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/serve/call.h"
#include "attend/serve/served_model.h"
#include "attend/tasks/language_model/chat.h"

namespace attend::serve {

/// A request for completions or chat.
struct TextRequest {
  ServedModel* model = nullptr;
  bool chat = false;  ///< chat; otherwise completions
  std::vector<std::vector<std::int32_t>> prompts = {};
  std::vector<std::string> prompt_texts = {};
  std::size_t dropped_messages = 0;  ///< of a conversation that is longer than the context; the oldest ones
  GenerateOptions options = {};
  bool stream = false, include_usage = false, echo = false;
  bool logprobs = false;
  ToolCallStyle tool_calls = ToolCallStyle::none;  ///< how calls of tools are written in a reply; none: they are text
  std::string tools = {};                          ///< the JSON list of those that the reply may call
  std::int64_t alternatives = 0;                   ///< number of most likely tokens to return with each token
};

/// Throws as ServedModel::generate, and GenerationTask::make.
Reply answer(TextRequest request, const ServedModel::Patience& patience);

}  // namespace attend::serve
