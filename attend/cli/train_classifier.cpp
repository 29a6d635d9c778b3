// attend train classifier: a recurrent classifier from labelled texts.
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/label_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/models/recurrent_common.h"

namespace attend::cli {
namespace {

struct Flags : LabelFlags {
  std::string arch = "rnn";
};

}  // namespace

void add_train_classifier(Verb& parent) {
  Verb* verb = parent.add_subcommand("classifier", "Train a recurrent text classifier from labelled texts");
  auto flags = std::make_shared<Flags>();
  ClassificationTrainingOptions& o = flags->options;
  o.columns.label = "2";
  const auto option = [](Verb* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type);
  };
  add_label_data_flags(*verb, o);
  option(verb, "--label-column", o.columns.label, "Column of the label", "C");
  option(verb, "--arch", flags->arch, "Architecture; rnn is a recurrent network", "NAME")->check(is_one_of({"rnn"}));
  Flag* tokenizer = add_path_flag(*verb, "--tokenizer", o.tokenizer, "Folder of the tokenizer to use", "DIR")
                        ->default_text("learn words from --train");
  option(verb, "--vocab-size", o.vocab_size, "Largest number of words in the vocabulary; the most frequent are kept",
         "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  option(verb, "--min-frequency", o.min_frequency, "Leave out words that occur less often", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_flag("--lowercase,!--cased", o.lowercase, "Convert words to lower case, or keep the case")
      ->excludes(tokenizer);
  add_label_learning_flags(*verb, *flags);
  auto* net = verb->add_option_group("The network");
  RecurrentClassifierOptions& model = o.model;
  add_choice(*net, "--pool", model.pooling, kStatePoolingNames, "How the hidden states are pooled into one vector");
  add_choice(*net, "--cell", model.cell, kCellNames, "Recurrent cell");
  option(net, "--embedding", model.embedding, "Size of the embeddings", "N")->check(kPositive);
  option(net, "--hidden", model.hidden, "Size of each recurrent layer", "N")->check(kPositive);
  option(net, "--layers", model.layers, "Number of recurrent layers", "N")->check(kPositive);
  option(net, "--dropout", model.dropout, "Dropout probability of embeddings, between layers, and of the pooled vector",
         "P")
      ->check(between(0.0, 0.99));
  net->add_flag("--bidirectional,!--one-direction", model.bidirectional, "Encode in both directions, or only forward");
  verb->footer(
      "Example:\n"
      "  attend train classifier --train reviews.tsv --validation held-out.tsv --output reviews\n"
      "  echo 'A wonderful film.' | attend classify --model reviews --attention");
  verb->callback([flags] { train_labels(*flags, "Training of " + flags->options.trainer.output.string()); });
}

}  // namespace attend::cli
