// attend corpus phrase-book: the sentence pairs that are built into the program.
#include <memory>
#include <string>

#include "attend/cli/shared/input.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/data/phrase_book.h"

namespace attend::cli {
namespace {

struct CorpusPhraseBookFlags {
  PhraseBookOptions options;
  std::string output, held_out;
};

void write_pairs(const std::vector<PhrasePair>& pairs, const std::string& path) {
  TextWriter writer(path);
  std::string line;
  for (const auto& [source, target] : pairs) {
    line.assign(source).append("\t").append(target).append("\n");
    writer.write(line);
  }
  writer.finish();
}

}  // namespace

void add_corpus_phrase_book(Verb& corpus) {
  Verb* verb = corpus.add_subcommand("phrase-book", "Italian-English sentence pairs that are built into the program");
  auto flags = std::make_shared<CorpusPhraseBookFlags>();
  flags->options.held_out = 1000;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  option("--size", flags->options.pairs, "Number of training pairs", "N")->check(kNotNegative);
  add_output_flag(*verb, flags->output);
  auto* held_out =
      option("--held-out", flags->held_out, "File for further pairs that are not among the training pairs", "FILE");
  option("--held-out-size", flags->options.held_out, "Number of held-out pairs", "N")
      ->check(kNotNegative)
      ->needs(held_out);
  option("--seed", flags->options.seed, "Random seed; another seed gives other sentences", "N");
  verb->footer(
      "Source, tab, target on each line. The same flags give the same pairs.\n"
      "  attend corpus phrase-book --size 40000 --output train.tsv --held-out test.tsv");
  verb->callback([flags] {
    const PhraseBook book = phrase_book(flags->options);
    write_pairs(book.training, flags->output);
    if (!flags->held_out.empty()) write_pairs(book.held_out, flags->held_out);
  });
}

}  // namespace attend::cli
