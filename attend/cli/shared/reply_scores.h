// `attend evaluate --dialogues`: the perplexity of the replies.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/tasks/dialogue/dialogues.h"

namespace attend::cli {

struct ReplyScoreFlags {
  std::string model, adapter;
  std::vector<std::filesystem::path> files;
  DialogueFormat format;
  bool json = false;
  int digits = 2;
};
/// Prints the perplexity of the replies, and how many there are.
void evaluate_replies(const ReplyScoreFlags& flags);

}  // namespace attend::cli
