// attend finetune: the verbs that train an existing model further.

#include "attend/cli/verbs.h"

namespace attend::cli {

void add_finetune(Verb& program) {
  Verb* finetune = add_parent(program, "finetune", "Train a model further on your own texts");
  finetune->group(kMakeAModel);
  add_finetune_translation(*finetune);
  add_finetune_summary(*finetune);
  add_finetune_language_model(*finetune);
  add_finetune_dialogue(*finetune);
  add_finetune_classifier(*finetune);
  add_finetune_masked_lm(*finetune);
  add_finetune_answer(*finetune);
}

}  // namespace attend::cli
