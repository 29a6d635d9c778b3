#include "attend/tasks/dialogue/reply_likelihood.h"

#include <utility>

#include "attend/core/error.h"
#include "attend/tasks/dialogue/encode_dialogue.h"

namespace attend {

ReplyLikelihood likelihood_of_replies(const LanguageModel& model, const ChatTemplate& chat,
                                      const std::vector<std::filesystem::path>& files, const DialogueFormat& format,
                                      const Progress& progress) {
  constexpr std::size_t kAtOnce = 256;  // examples
  ReplyLikelihood sum;
  std::vector<ChatExample> some;
  const auto score = [&] {
    std::vector<std::vector<std::int32_t>> texts;
    for (ChatExample& one : some) texts.push_back(std::move(one.ids));
    const std::vector<TextLikelihood> scored = model.score(std::move(texts));
    for (std::size_t i = 0; i < some.size(); ++i)
      for (const Span& reply : some[i].replies)
        for (std::int64_t t = std::max<std::int64_t>(reply.begin, 1); t < reply.end; ++t)
          sum.replies += {.logprob = scored[i].logprobs[static_cast<std::size_t>(t)], .tokens = 1};
    some.clear();
  };
  for (const std::filesystem::path& file : files) {
    DialogueReader reader(file, format, {}, progress);
    for (Dialogue dialogue; reader.next(dialogue);) {
      std::vector<ChatExample> examples = encode_dialogue(chat, model.tokenizer(), dialogue, model.positions());
      (examples.empty() ? sum.left_out : sum.dialogues) += 1;
      bool cut = false;
      for (ChatExample& one : examples) cut |= one.cut, some.push_back(std::move(one));
      sum.cut += cut;
      if (some.size() >= kAtOnce) score();
    }
  }
  score();
  if (sum.dialogues == 0) fail<InputError>("evaluate", files.front().string(), ": no dialogue has a reply");
  return sum;
}

}  // namespace attend
