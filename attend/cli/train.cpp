// attend train: the verbs that train a new model or tokenizer.

#include "attend/cli/verbs.h"

namespace attend::cli {

void add_train(Verb& program) {
  Verb* train =
      add_parent(program, "train",
                 "Train a translator, a summarizer, a language model, a chat model, a classifier, an encoder, a "
                 "model that answers or a tokenizer");
  train->group(kMakeAModel);
  add_train_translation(*train);
  add_train_summary(*train);
  add_train_language_model(*train);
  add_train_dialogue(*train);
  add_train_classifier(*train);
  add_train_masked_lm(*train);
  add_train_memory(*train);
  add_train_answer(*train);
  add_train_tokenizer(*train);
  add_train_algorithm(*train);
}

}  // namespace attend::cli
