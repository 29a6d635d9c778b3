#include "attend/cli/shared/reply_scores.h"

#include <nlohmann/json.hpp>

#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/wording.h"
#include "attend/explain/page.h"
#include "attend/tasks/dialogue/encode_dialogue.h"
#include "attend/tasks/dialogue/reply_likelihood.h"

namespace attend::cli {

void evaluate_replies(const ReplyScoreFlags& flags) {
  const LanguageModel model = open_language_model(flags.model, flags.adapter);
  const ChatTemplate chat = dialogue_template(open_model(flags.model, flags.adapter));
  const ReplyLikelihood found = likelihood_of_replies(model, chat, flags.files, flags.format);
  if (found.cut > 0)
    warn("cut: " + counted(found.cut, "dialogue") + " longer than the context of the model, " +
         grouped(model.positions()) + " tokens");
  if (found.left_out > 0) warn("left out: " + counted(found.left_out, "dialogue") + " without a reply");
  const double perplexity = found.replies.perplexity();
  TextWriter out;
  if (flags.json) {
    out.write(as_line({{"perplexity", perplexity},
                       {"logprob", found.replies.logprob},
                       {"tokens", found.replies.tokens},
                       {"dialogues", found.dialogues}}));
    return out.finish();
  }
  out.write("perplexity " + fixed(perplexity, flags.digits) + " (" + counted(found.replies.tokens, "token") +
            " of the replies in " + counted(found.dialogues, "dialogue") + ")\n");
  out.finish();
}

}  // namespace attend::cli
