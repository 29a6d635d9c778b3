// `attend answer` with a model that answers questions about stories.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/models/registry.h"

namespace attend::cli {

struct StoryAnswerFlags {
  std::optional<std::string> question, text;  ///< a question and the sentences of its story; otherwise lines are read
  std::vector<std::string> input;
  std::string output;
  std::int64_t top = 1;
  bool json = false;
  bool interactive = false;         ///< prompt for lines, and go on after an error
  bool attention = false;           ///< print a table of sentences × hops
  std::string attention_file = {};  ///< write the attention weights to this file; empty: to none
};

/// Reads stories line by line, and answers each question. A line that ends with "?" is a question about the sentences
/// before it, an empty line begins a new story. Throws InputError for a story without a question.
void answer_stories(const ModelFolder& folder, const StoryAnswerFlags& flags);

}  // namespace attend::cli
