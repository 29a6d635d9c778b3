// How likely a language model finds the replies of dialogues: the perplexity by which chat models are compared.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "attend/metrics/perplexity.h"
#include "attend/tasks/dialogue/dialogues.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/text/chat_template.h"

namespace attend {

struct ReplyLikelihood {
  Likelihood replies;          ///< of the tokens of all replies, given all before them; without bytes
  std::int64_t dialogues = 0;  ///< with a reply
  std::int64_t left_out = 0;   ///< without one
  std::int64_t cut = 0;        ///< dialogues that lost their beginning, since the context is too short
};
/// Throws InputError if a file is not valid, or if no dialogue has a reply.
ReplyLikelihood likelihood_of_replies(const LanguageModel& model, const ChatTemplate& chat,
                                      const std::vector<std::filesystem::path>& files,
                                      const DialogueFormat& format = {}, const Progress& progress = {});

}  // namespace attend
