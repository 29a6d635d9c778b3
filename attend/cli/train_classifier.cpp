// attend train classifier: a classifier of texts, pairs of texts or documents, from labelled data.
#include <memory>
#include <optional>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/label_flags.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/models/recurrent_common.h"
#include "attend/tasks/classification/word_vectors.h"

namespace attend::cli {
namespace {

enum class Architecture : std::uint8_t { rnn, decomposable, esim, hierarchical, hierarchical_transformer };
const std::vector<std::pair<std::string, Architecture>> kArchitectures = {
    {"rnn", Architecture::rnn},
    {"decomposable", Architecture::decomposable},
    {"esim", Architecture::esim},
    {"hierarchical", Architecture::hierarchical},
    {"hierarchical-transformer", Architecture::hierarchical_transformer}};

struct TrainClassifierFlags : LabelFlags {
  Architecture arch = Architecture::rnn;
  bool pairs = false;
  RecurrentClassifierOptions recurrent;
  HierarchicalClassifierOptions hierarchical;
  std::optional<std::int64_t> embedding, hidden, layers, vocab_size;  // empty: the default of the architecture
  std::optional<float> dropout;
  std::int64_t match_gates = EsimOptions().match_gates;
};

/// Sets the sizes that all architectures have.
template <typename Network>
Network sized(Network network, const TrainClassifierFlags& flags) {
  if (flags.embedding) network.embedding = *flags.embedding;
  if (flags.hidden) network.hidden = *flags.hidden;
  if (flags.dropout) network.dropout = *flags.dropout;
  if (!flags.options.vectors.empty() && !flags.embedding) network.embedding = word_vector_width(flags.options.vectors);
  if constexpr (requires { network.match_gates; }) network.match_gates = flags.match_gates;
  return network;
}

void choose_network(TrainClassifierFlags& flags) {
  auto& network = flags.options.network;
  const bool layered = flags.arch == Architecture::rnn || flags.arch == Architecture::hierarchical_transformer;
  if (flags.layers && !layered) throw UsageError("--layers", "is for --arch rnn and hierarchical-transformer");
  switch (flags.arch) {
    case Architecture::rnn:
      if (flags.layers) flags.recurrent.layers = static_cast<int>(*flags.layers);
      network = sized(flags.recurrent, flags);
      break;
    case Architecture::decomposable:
      network = sized(DecomposableAttentionOptions(), flags);
      break;
    case Architecture::esim:
      network = sized(EsimOptions(), flags);
      break;
    case Architecture::hierarchical:
    case Architecture::hierarchical_transformer: {
      flags.hierarchical.transformer = flags.arch == Architecture::hierarchical_transformer;
      if (flags.layers) flags.hierarchical.layers = *flags.layers;
      const HierarchicalClassifierOptions chosen = sized(flags.hierarchical, flags);
      if (chosen.transformer && 2 * chosen.hidden % chosen.heads != 0)
        throw UsageError("--heads", "must divide the width of the Transformer, which is twice --hidden: " +
                                        std::to_string(2 * chosen.hidden));
      network = chosen;
      break;
    }
  }
}

}  // namespace

void add_train_classifier(Verb& parent) {
  Verb* verb = parent.add_subcommand("classifier", "Train a classifier of texts, pairs of texts or documents");
  auto flags = std::make_shared<TrainClassifierFlags>();
  ClassificationTrainingOptions& o = flags->options;
  const auto option = [](Verb* app, const char* name, auto& value, const char* help, const char* type) {
    return app->add_option(name, value, help)->type_name(type);
  };
  add_label_data_flags(*verb, o);
  verb->add_flag("--pairs", flags->pairs, "Each line holds two texts, then the label");
  option(verb, "--pair-column", o.columns.pair, "Column of the second text, to classify pairs", "C")
      ->default_text("2 with --pairs");
  option(verb, "--label-column", o.columns.label, "Column of the label", "C")->default_text("2; for pairs, 3");
  add_choice(*verb, "--arch", flags->arch, kArchitectures,
             "Architecture: a recurrent network (rnn); for pairs, decomposable attention or ESIM; for documents, "
             "hierarchical attention with GRUs or Transformers");
  Flag* tokenizer = add_path_flag(*verb, "--tokenizer", o.tokenizer, "Folder of the tokenizer to use", "DIR")
                        ->default_text("learn words from --train");
  option(verb, "--vocab-size", flags->vocab_size,
         "Largest number of words in the vocabulary; the most frequent are kept", "N")
      ->default_text("30000; with --vectors, 400000")
      ->check(kPositive)
      ->excludes(tokenizer);
  option(verb, "--min-frequency", o.min_frequency, "Leave out words that occur less often", "N")
      ->check(kPositive)
      ->excludes(tokenizer);
  verb->add_flag("--lowercase,!--cased", o.lowercase, "Convert words to lower case, or keep the case")
      ->excludes(tokenizer);
  Flag* vectors = add_path_flag(*verb, "--vectors", o.vectors,
                                "Word vectors to start from: a word and its numbers on each line, as GloVe, word2vec "
                                "and fastText write them");
  verb->add_flag("--fixed-vectors", o.fixed_vectors, "Do not train the word vectors")->needs(vectors);
  option(verb, "--max-tokens", o.max_tokens, "Cut texts that have more tokens", "N")
      ->default_text("no limit")
      ->check(kPositive);
  add_label_learning_flags(*verb, *flags);
  verb->get_option("--word-dropout")->default_text("0.1; for pairs 0");
  auto* net = verb->add_option_group("The network");
  add_choice(*net, "--pool", flags->recurrent.pooling, kStatePoolingNames,
             "How the hidden states of --arch rnn are pooled into one vector");
  add_choice(*net, "--cell", flags->recurrent.cell, kCellNames, "Recurrent cell of --arch rnn");
  option(net, "--embedding", flags->embedding, "Size of the embeddings", "N")
      ->default_text("128 (rnn), 100 (others), or that of --vectors")
      ->check(kPositive);
  option(net, "--hidden", flags->hidden, "Size of each layer; of each direction of a recurrent layer", "N")
      ->default_text("128 (rnn), 200 (decomposable), 150 (esim), 64 (hierarchical)")
      ->check(kPositive);
  option(net, "--layers", flags->layers, "Number of layers of --arch rnn and hierarchical-transformer", "N")
      ->default_text("1")
      ->check(kPositive);
  option(net, "--heads", flags->hierarchical.heads, "Attention heads of --arch hierarchical-transformer", "N")
      ->check(kPositive);
  option(net, "--max-words", flags->hierarchical.max_words,
         "Longest sentence of a hierarchical network; longer ones are divided", "N")
      ->check(kPositive);
  option(net, "--match-gates", flags->match_gates,
         "For pairs: number of learned gates that count the words which match the other text; 0 disables them", "N")
      ->check(between(0, 1024));
  option(net, "--dropout", flags->dropout, "Dropout probability", "P")
      ->default_text("0.5 (rnn, esim), 0.2 (decomposable), 0.3 (hierarchical)")
      ->check(between(0.0, 0.99));
  net->add_flag("--bidirectional,!--one-direction", flags->recurrent.bidirectional,
                "Encode in both directions, or only forward; for --arch rnn");
  verb->footer(
      "Examples:\n"
      "  attend train classifier --train reviews.tsv --validation held-out.tsv --output reviews\n"
      "  echo 'A wonderful film.' | attend classify --model reviews --attention\n"
      "  attend train classifier --arch esim --pairs --train entailment.tsv --output entailment\n"
      "  attend train classifier --arch hierarchical --train articles.tsv --output articles");
  verb->callback([flags] {
    ClassificationTrainingOptions& options = flags->options;
    if (flags->pairs && options.columns.pair.empty()) options.columns.pair = "2";
    options.vocab_size = flags->vocab_size.value_or(options.vectors.empty() ? 30000 : 400000);
    choose_network(*flags);
    // A dropped word, such as a negation, can change how two texts relate.
    const bool given = flags->training.verb->get_option("--word-dropout")->given();
    if (!options.columns.pair.empty() && !given) options.word_dropout = 0;
    train_labels(*flags, "Training of " + options.trainer.output.string());
  });
}

}  // namespace attend::cli
