// attend train answer: a network that finds the answers to questions in texts.
#include <algorithm>
#include <memory>

#include "attend/cli/shared/answer_flags.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/classification/word_vectors.h"

namespace attend::cli {
namespace {

enum class AnswerArchitecture : std::uint8_t { bidaf };
const std::vector<std::pair<std::string, AnswerArchitecture>> kAnswerArchitectures = {
    {"bidaf", AnswerArchitecture::bidaf}};

struct TrainAnswerFlags : AnswerTrainingFlags {
  AnswerArchitecture arch = AnswerArchitecture::bidaf;
};

}  // namespace

void add_train_answer(Verb& parent) {
  Verb* verb = parent.add_subcommand("answer", "Train a network that finds the answers to questions in texts");
  auto flags = std::make_shared<TrainAnswerFlags>();
  AnswerTrainingOptions& o = flags->options;
  const auto option = [](Verb* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type);
  };
  add_answer_data_flags(*verb, o);
  add_choice(*verb, "--arch", flags->arch, kAnswerArchitectures,
             "AnswerArchitecture; bidaf is bidirectional attention flow");
  option(verb, "--vocab-size", o.vocab_size, "Largest number of words in the vocabulary; the most frequent are kept",
         "N")
      ->check(kPositive);
  option(verb, "--min-frequency", o.min_frequency, "Leave out words that occur less often", "N")->check(kPositive);
  verb->add_flag("--lowercase,!--cased", o.lowercase, "Convert words to lower case, or keep the case");
  Flag* vectors = add_path_flag(*verb, "--vectors", o.vectors,
                                "Word vectors to start from: a word and its numbers on each line, as GloVe, word2vec "
                                "and fastText write them");
  verb->add_flag("--fixed-vectors", o.fixed_vectors, "Do not train the word vectors")->needs(vectors);
  add_answer_learning_flags(*verb, *flags, "1024");
  auto* net = verb->add_option_group("The network");
  const Flag* embedding = option(net, "--embedding", o.network.embedding, "Size of the word vectors", "N")
                              ->check(between(1, 4096))
                              ->default_text(std::to_string(o.network.embedding) + ", or that of --vectors");
  option(net, "--hidden", o.network.hidden, "Size of each direction of a recurrent layer", "N")
      ->check(between(1, 4096));
  option(net, "--word-bytes", o.network.word_bytes,
         "Number of bytes of a word's spelling that are read; 0: only its vector", "N")
      ->check(between(0, 256));
  option(net, "--filters", o.network.filters, "Number of filters of the convolution over the spelling", "N")
      ->check(between(1, 4096));
  net->add_flag("--match,!--no-match", o.network.match,
                "Mark the words that question and text have in common, or do not");
  net->add_flag("--summary,!--no-summary", o.network.summary,
                "Compare each word of the text with a summary of the question, too, or do not");
  option(net, "--dropout", o.network.dropout, "Dropout probability", "P")->check(between(0.0, 0.99));
  verb->footer(
      "Examples:\n"
      "  attend train answer --arch bidaf --train squad.json --validation dev.json --output answers\n"
      "  attend train answer --train questions.json --validation-share 0.1 --test-share 0.1 --output answers\n"
      "  attend evaluate --model answers --answers answers/test.json\n"
      "  attend answer --model answers --question 'Who lives here?' --text 'Joe lives in Rome.' --attention");
  verb->callback([flags, embedding] {
    AnswerTrainingOptions& options = flags->options;
    BidafOptions& network = options.network;
    if (network.word_bytes > 0) network.filter_width = std::min(network.filter_width, network.word_bytes + 2);
    if (!options.vectors.empty() && !embedding->given()) options.network.embedding = word_vector_width(options.vectors);
    train_answer_model(*flags, "Training of " + options.trainer.output.string());
  });
}

}  // namespace attend::cli
