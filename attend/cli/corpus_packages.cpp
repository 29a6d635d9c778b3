// attend corpus packages: descriptions of software packages with their summaries.
#include <memory>
#include <string>

#include "attend/cli/shared/input.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/data/package_descriptions.h"

namespace attend::cli {
namespace {

struct PackageFlags {
  PackageBookOptions options;
  bool invented = false;
  std::string output, held_out;
};

void write_descriptions(const std::vector<PackageDescription>& packages, TextWriter& writer) {
  for (const PackageDescription& one : packages) writer.write(one.text + "\t" + one.summary + "\n");
}

}  // namespace

void add_corpus_packages(Verb& corpus) {
  Verb* verb = corpus.add_subcommand("packages", "Descriptions of software packages, with summaries");
  auto flags = std::make_shared<PackageFlags>();
  flags->options.held_out = 200;
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  option("--size", flags->options.size, "Number of descriptions for training", "N")->check(kNotNegative);
  add_output_flag(*verb, flags->output);
  auto* held_out = option("--held-out", flags->held_out,
                          "File for further descriptions that are not among those for training", "FILE");
  option("--held-out-size", flags->options.held_out,
         "Number of held-out descriptions: at most N of the machine's packages, and N of invented ones", "N")
      ->check(kNotNegative)
      ->needs(held_out);
  auto* invented = verb->add_flag("--invented", flags->invented, "Only invented packages");
  verb->add_flag("--compose", flags->options.compose,
                 "Compose three in four of the missing descriptions from parts of the machine's own, instead of "
                 "inventing them all")
      ->excludes(invented);
  option("--most-known", flags->options.most_known, "Use at most N of the machine's packages for training", "N")
      ->check(kNotNegative)
      ->excludes(invented)
      ->default_text("all");
  option("--seed", flags->options.seed, "Random seed; another seed gives other packages", "N");
  verb->footer(
      "Text, tab, summary on each line. The packages are those that a Debian system knows; the program invents as\n"
      "many as are missing, or composes most of them (--compose). The same flags give the same descriptions on the "
      "same system.\n"
      "  attend corpus packages --output train.tsv --held-out test.tsv");
  verb->callback([flags] {
    PackageBookOptions options = flags->options;
    if (!flags->invented) options.known = known_packages();
    const PackageBook book = package_book(options);
    TextWriter training(flags->output);
    write_descriptions(book.training, training);
    training.finish();
    if (flags->held_out.empty()) return;
    TextWriter held_out(flags->held_out);
    write_descriptions(book.known_held_out, held_out);
    write_descriptions(book.invented_held_out, held_out);
    held_out.finish();
  });
}

}  // namespace attend::cli
