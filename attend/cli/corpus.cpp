// attend corpus: whatever people have → files to train on. One pipeline (read, clean, split, write) with four faces:
// gettext, convert, clean, split.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/corpus_pipeline.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"

namespace attend::cli {
namespace {

void add_reading(Verb& verb, CorpusJob& job) {
  using enum CorpusFormat;
  const char* group = "Reading";
  verb.add_option("FILE", job.inputs, "What to read; - or nothing is standard input")->group(group);
  add_choice<std::optional<CorpusFormat>, CorpusFormat>(
      verb, "--format", job.format,
      {{"lines", lines},
       {"parallel", parallel},
       {"tsv", tsv},
       {"csv", csv},
       {"jsonl", json_lines},
       {"tmx", tmx},
       {"xliff", xliff},
       {"po", po},
       {"mo", mo}},
      "How to read it; otherwise as the names end. Other names are lines, two with one stem "
      "(train.en train.it) parallel, standard input is TSV")
      ->group(group);
  verb.add_option(
          "--columns", job.columns,
          "Source and target of TSV and CSV by number or name, of JSON lines by key (translation.it); one alone "
          "takes single texts. Otherwise 1,2 and source,target")
      ->type_name("A,B")
      ->group(group);
  verb.add_flag("--header", job.header, "The first row of TSV or CSV is no record")->group(group);
}

void add_languages(Verb& verb, CorpusJob& job) {
  verb.add_option("--from", job.languages.source, "Language of the source, by code; en takes en-US too")
      ->type_name("CODE")
      ->group("Reading");
  verb.add_option("--to", job.languages.target, "Language of the target")->type_name("CODE")->group("Reading");
}

void add_writing(Verb& verb, CorpusJob& job) {
  const char* group = "Writing";
  add_output_flag(verb, job.output)
      ->description(job.splits ? "Where to write: a file, or the folder of a split; otherwise standard output"
                               : "Where to write; otherwise standard output")
      ->type_name("PATH")
      ->group(group);
  add_choice<std::optional<WriteFormat>, WriteFormat>(
      verb, "--as", job.as,
      {{"tsv", WriteFormat::tsv}, {"jsonl", WriteFormat::json_lines}, {"lines", WriteFormat::lines}},
      "What to write: source TAB target, JSON lines, or PATH.en and PATH.it line by line; otherwise TSV, "
      "or JSON lines into a .jsonl")
      ->group(group);
  verb.add_flag("--json", job.json, "Report as one JSON object instead of a table")->group(group);
}

void add_splitting(Verb& verb, CorpusJob& job) {
  const char* group = "Splitting (into train, validation and test; a source stands in one part only)";
  verb.add_option("--validation", job.validation, "So many records (2000), or a share of them (5%)")
      ->type_name("N|P%")
      ->group(group);
  verb.add_option("--test", job.test, "The same for the test")->type_name("N|P%")->group(group);
  verb.add_option("--seed", job.seed, "Another seed chooses other sources")->type_name("N")->group(group);
}

void add_cleaning(Verb& verb, CorpusJob& job) {
  CleanOptions& clean = job.cleaning;
  using Markup = CleanOptions::Markup;
  using Placeholders = CleanOptions::Placeholders;
  using Duplicates = CleanOptions::Duplicates;
  const char* group = "Cleaning (texts are always tidied: spaces, accents composed)";
  const std::vector<std::pair<std::string, bool>> drop_or_keep = {{"drop", true}, {"keep", false}};
  verb.add_option("--max-length", clean.max_length, "Drop longer texts, in characters; 0 keeps all")
      ->type_name("N")
      ->check(kNotNegative)
      ->group(group);
  verb.add_option("--max-ratio", clean.max_ratio,
                  "Drop pairs where one side is so many times as long, after 10 characters more for each; 0 keeps all")
      ->type_name("R")
      ->check(kNotNegative)
      ->group(group);
  add_choice(verb, "--empty", clean.empty, drop_or_keep, "Pairs with an empty side; otherwise drop")->group(group);
  add_choice(verb, "--garbled", clean.garbled, drop_or_keep, "Texts that were not valid UTF-8; otherwise drop")
      ->group(group);
  add_choice(verb, "--identical", clean.identical, drop_or_keep, "Pairs with two equal sides; otherwise drop")
      ->group(group);
  add_choice(verb, "--markup", clean.markup, {{"drop", Markup::drop}, {"strip", Markup::strip}, {"keep", Markup::keep}},
             "Texts with tags; strip removes only the tags; entities are decoded, unless keep; otherwise drop")
      ->group(group);
  add_choice(verb, "--placeholders", clean.placeholders,
             {{"match", Placeholders::match}, {"drop", Placeholders::drop}, {"keep", Placeholders::keep}},
             "%s, {0}, ${name}: match drops pairs whose sides differ in them; otherwise match")
      ->group(group);
  verb.add_option("--min-script", clean.min_script,
                  "Drop texts with a smaller share of letters in the script of their language; 0 keeps all")
      ->type_name("SHARE")
      ->check(between(0.0, 1.0))
      ->group(group);
  add_choice(verb, "--duplicates", clean.duplicates,
             {{"pair", Duplicates::pair}, {"source", Duplicates::source}, {"keep", Duplicates::keep}},
             "What must not come twice; otherwise pair")
      ->group(group);
  add_choice(verb, "--accelerators", clean.accelerators, {{"remove", true}, {"keep", false}},
             clean.accelerators ? "Marks of menus, _File and &File; otherwise remove"
                                : "Marks of menus, _File and &File; otherwise keep")
      ->group(group);
  verb.add_option("--rejected", job.rejected, "Write what was dropped here: reason, place, source, target")
      ->type_name("FILE")
      ->group(group);
}

Verb* add_face(Verb& parent, const std::string& name, const std::string& description,
               const std::shared_ptr<CorpusJob>& job) {
  Verb* verb = parent.add_subcommand(name, description);
  if (!job->catalogues) add_reading(*verb, *job);
  add_languages(*verb, *job);
  if (job->cleans) add_cleaning(*verb, *job);
  if (job->splits) add_splitting(*verb, *job);
  add_writing(*verb, *job);
  verb->callback([job] { run_corpus(*job); });
  return verb;
}

void add_gettext(Verb& parent) {
  auto job = std::make_shared<CorpusJob>();
  job->catalogues = job->cleans = job->splits = job->cleaning.accelerators = true;
  job->languages.source = "en";
  Verb* verb = add_face(parent, "gettext", "The translations of programs that this machine has installed", job);
  verb->add_option("PLACE", job->inputs, "Files or folders with .po and .mo; otherwise what is installed")
      ->group("Reading");
  verb->get_option("--to")->required();
  verb->footer(
      "Any Linux machine has a real translation corpus: the messages of its programs. They are cleaned, and menu marks "
      "removed.\n"
      "  attend corpus gettext --to it > pairs.tsv\n"
      "  attend corpus gettext --to it --validation 1000 --test 1000 --output data\n"
      "  attend corpus gettext --from de --to it my-project/po");
}

void add_corpus_convert(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  add_face(parent, "convert", "Any format to TSV, JSON lines or parallel lines", job)
      ->footer(
          "  attend corpus convert memory.tmx --from en --to it > pairs.tsv\n"
          "  attend corpus convert data.csv --columns english,italian --output pairs.jsonl\n"
          "  attend corpus convert pairs.tsv --as lines --from en --to it --output train    writes train.en, train.it");
}

void add_clean(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  job->cleans = job->splits = true;
  add_face(parent, "clean", "Read, drop what harms training, count why, and split if asked", job)
      ->footer(
          "  attend corpus clean memory.tmx --from en --to it --rejected dropped.tsv > clean.tsv\n"
          "  attend corpus clean train.de train.en --from de --to en --max-length 200 --output clean.tsv\n"
          "  attend corpus clean *.tsv --from en --to it --validation 2000 --test 2% --output data");
}

void add_split(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  job->splits = true;
  Verb* verb = add_face(parent, "split", "Train, validation and test, by source, so that nothing leaks", job);
  verb->get_option("--output")->required()->description("The folder of the parts");
  verb->footer(
      "All records whose source is the same, but for case, spaces and punctuation, go to one part; which one depends "
      "on "
      "the source and the seed alone.\n"
      "  attend corpus split pairs.tsv --validation 1000 --test 1000 --output data");
}

}  // namespace

void add_corpus(Verb& program) {
  Verb* parent =
      add_parent(program, "corpus", "Gettext, TMX, TSV … to clean training files, with counts of what was dropped");
  parent->group(kMakeAModel);
  add_gettext(*parent);
  add_corpus_convert(*parent);
  add_clean(*parent);
  add_split(*parent);
  add_corpus_phrase_book(*parent);
}

}  // namespace attend::cli
