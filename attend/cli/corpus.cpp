// attend corpus: makes training files from files in many formats. The verbs gettext, convert, clean and split run the
// same pipeline (read, clean, split, write) with different flags.
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
  verb.add_option("FILE", job.inputs, "Files to read; - is standard input")
      ->default_text("standard input")
      ->group(group);
  add_choice<std::optional<CorpusFormat>, CorpusFormat>(verb, "--format", job.format,
                                                        {{"lines", lines},
                                                         {"parallel", parallel},
                                                         {"tsv", tsv},
                                                         {"csv", csv},
                                                         {"jsonl", json_lines},
                                                         {"tmx", tmx},
                                                         {"xliff", xliff},
                                                         {"po", po},
                                                         {"mo", mo}},
                                                        "Format of the input")
      ->default_text(
          "by the file ending; otherwise lines, or parallel for two files with one stem; TSV from standard input")
      ->group(group);
  verb.add_option("--columns", job.columns,
                  "Columns of source and target: numbers or names in TSV and CSV, keys in JSON lines (translation.it). "
                  "One column alone reads single texts")
      ->default_text("1,2; in JSON lines source,target")
      ->type_name("A,B")
      ->group(group);
  verb.add_flag("--header", job.header, "Skip the first row of TSV or CSV")->group(group);
}

void add_languages(Verb& verb, CorpusJob& job) {
  verb.add_option("--source-lang", job.languages.source, "Language code of the source; en includes en-US")
      ->type_name("CODE")
      ->group("Reading");
  verb.add_option("--target-lang", job.languages.target, "Language code of the target")
      ->type_name("CODE")
      ->group("Reading");
}

void add_writing(Verb& verb, CorpusJob& job) {
  const char* group = "Writing";
  add_output_flag(verb, job.output)
      ->description(job.splits ? "Output file, or the folder of a split" : "Output file")
      ->type_name("PATH")
      ->group(group);
  add_choice<std::optional<WriteFormat>, WriteFormat>(
      verb, "--as", job.as,
      {{"tsv", WriteFormat::tsv}, {"jsonl", WriteFormat::json_lines}, {"lines", WriteFormat::lines}},
      "Output format; lines writes one file per language (PATH.en, PATH.it)")
      ->default_text("tsv, or jsonl for an output that ends in .jsonl")
      ->group(group);
  verb.add_flag("--json", job.json, "Print the report as one JSON object")->group(group);
}

void add_splitting(Verb& verb, CorpusJob& job) {
  const char* group = "Splitting (into train, validation and test; the same source is never in two parts)";
  verb.add_option("--validation-size", job.validation,
                  "Size of the validation set: a number of records (2000), or a share of all (5%)")
      ->type_name("N|P%")
      ->group(group);
  verb.add_option("--test-size", job.test, "Size of the test set, in the same way")->type_name("N|P%")->group(group);
  verb.add_option("--seed", job.seed, "Random seed; another seed selects other sources")->type_name("N")->group(group);
}

void add_cleaning(Verb& verb, CorpusJob& job) {
  CleanOptions& clean = job.cleaning;
  using Markup = CleanOptions::Markup;
  using Placeholders = CleanOptions::Placeholders;
  using Duplicates = CleanOptions::Duplicates;
  const char* group = "Cleaning (spaces and accents are always normalized)";
  const std::vector<std::pair<std::string, bool>> drop_or_keep = {{"drop", true}, {"keep", false}};
  verb.add_option("--max-characters", clean.max_length, "Drop texts with more characters; 0 disables it")
      ->type_name("N")
      ->check(kNotNegative)
      ->group(group);
  verb.add_option("--max-ratio", clean.max_ratio,
                  "Drop pairs where one side is more than R times as long as the other, after adding 10 characters to "
                  "both; 0 disables it")
      ->type_name("R")
      ->check(kNotNegative)
      ->group(group);
  add_choice(verb, "--empty", clean.empty, drop_or_keep, "What to do with pairs that have an empty side")->group(group);
  add_choice(verb, "--garbled", clean.garbled, drop_or_keep, "What to do with texts that are not valid UTF-8")
      ->group(group);
  add_choice(verb, "--identical", clean.identical, drop_or_keep, "What to do with pairs whose sides are equal")
      ->group(group);
  add_choice(verb, "--markup", clean.markup, {{"drop", Markup::drop}, {"strip", Markup::strip}, {"keep", Markup::keep}},
             "What to do with texts that contain tags; strip removes the tags. Entities are decoded, except with keep")
      ->group(group);
  add_choice(
      verb, "--placeholders", clean.placeholders,
      {{"match", Placeholders::match}, {"drop", Placeholders::drop}, {"keep", Placeholders::keep}},
      "What to do with placeholders such as %s, {0} and ${name}; match drops pairs whose sides have different ones")
      ->group(group);
  verb.add_option("--min-script", clean.min_script,
                  "Drop texts with a smaller fraction of letters in the script of their language; 0 disables it")
      ->type_name("SHARE")
      ->check(between(0.0, 1.0))
      ->group(group);
  add_choice(verb, "--duplicates", clean.duplicates,
             {{"pair", Duplicates::pair}, {"source", Duplicates::source}, {"keep", Duplicates::keep}},
             "Drop what occurs twice: pairs, or all but the first pair of a source")
      ->group(group);
  add_choice(verb, "--accelerators", clean.accelerators, {{"remove", true}, {"keep", false}},
             "What to do with the marks of menu entries, _File and &File")
      ->group(group);
  verb.add_option("--rejected", job.rejected, "Write the dropped pairs to this file: reason, place, source, target")
      ->type_name("FILE")
      ->group(group);
}

Verb* add_pipeline_verb(Verb& parent, const std::string& name, const std::string& description,
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
  Verb* verb = add_pipeline_verb(parent, "gettext",
                                 "Translation pairs from the programs that are installed on this machine", job);
  verb->add_option("PLACE", job->inputs, "Files or folders with .po and .mo files")
      ->default_text("all installed")
      ->group("Reading");
  verb->get_option("--target-lang")->required();
  verb->footer(
      "Every Linux machine has a translation corpus: the messages of its programs. They are cleaned by default.\n"
      "  attend corpus gettext --target-lang it > pairs.tsv\n"
      "  attend corpus gettext --target-lang it --validation-size 1000 --test-size 1000 --output data\n"
      "  attend corpus gettext --source-lang de --target-lang it my-project/po");
}

void add_corpus_convert(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  add_pipeline_verb(parent, "convert", "Convert any format to TSV, JSON lines or parallel files", job)
      ->footer(
          "  attend corpus convert memory.tmx --source-lang en --target-lang it > pairs.tsv\n"
          "  attend corpus convert data.csv --columns english,italian --output pairs.jsonl\n"
          "  attend corpus convert pairs.tsv --as lines --source-lang en --target-lang it --output train   # train.en, "
          "train.it");
}

void add_clean(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  job->cleans = job->splits = true;
  add_pipeline_verb(parent, "clean", "Drop pairs that harm training, and report why", job)
      ->footer(
          "  attend corpus clean memory.tmx --source-lang en --target-lang it --rejected dropped.tsv > clean.tsv\n"
          "  attend corpus clean train.de train.en --source-lang de --target-lang en --max-characters 200 --output "
          "clean.tsv\n"
          "  attend corpus clean *.tsv --source-lang en --target-lang it --validation-size 2000 --test-size 2% "
          "--output data");
}

void add_split(Verb& parent) {
  const auto job = std::make_shared<CorpusJob>();
  job->splits = true;
  Verb* verb = add_pipeline_verb(parent, "split", "Split into training, validation and test set", job);
  verb->get_option("--output")->required()->description("Folder for the three parts");
  verb->footer(
      "Records whose sources differ only in case, spaces and punctuation go to the same part, which depends on the "
      "source\n"
      "and the seed only.\n"
      "  attend corpus split pairs.tsv --validation-size 1000 --test-size 1000 --output data");
}

}  // namespace

void add_corpus(Verb& program) {
  Verb* parent = add_parent(program, "corpus", "Make training files from TMX, XLIFF, gettext, TSV and other files");
  parent->group(kMakeAModel);
  add_gettext(*parent);
  add_corpus_convert(*parent);
  add_clean(*parent);
  add_split(*parent);
  add_corpus_phrase_book(*parent);
  add_corpus_packages(*parent);
}

}  // namespace attend::cli
