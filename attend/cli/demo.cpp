// attend demo: the first two minutes. Trains a translator from the phrase book, evaluates it, and shows it at work,
// with the commands that a user would type.
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "attend/cli/shared/command_line.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/data/phrase_book.h"
#include "attend/explain/interlinear.h"
#include "attend/metrics/bleu.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translator.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct DemoFlags {
  std::string output = "it-en";
  bool overwrite = false;
};

constexpr std::int64_t kPairs = 230'000, kHeldOut = 500;
constexpr std::size_t kShown = 12;

/// Prints a command, and runs it.
void command(const std::vector<std::string>& words) {
  std::cout << "  $ attend";
  for (const std::string& word : words) std::cout << ' ' << word;
  std::cout << '\n' << std::flush;
  Verb program("attend", "");
  add_corpus(program);
  add_train(program);
  add_translate(program);
  const Verb* reached = nullptr;
  run_command(program, words, std::cout, reached);
}

void train_in(const std::string& folder, bool overwrite) {
  // A run that was stopped continues with the same training file.
  if (!overwrite && fs::exists(folder + "/checkpoint.safetensors")) {
    std::cout << "Training continues where it was stopped; --overwrite starts again.\n";
  } else {
    std::cout
        << "A translator from Italian to English, trained from scratch in about two minutes if nothing else keeps the\n"
           "machine busy. Ctrl-C stops it; the same command continues.\n\n"
        << grouped(kPairs) << " sentences with their translations, written by a grammar in this program:\n";
    command({"corpus", "phrase-book", "--size", std::to_string(kPairs), "--output", folder + "/train.tsv"});
    std::cout << "\nA small Transformer learns from them:\n";
  }
  std::vector<std::string> words{"train", "translation", "--train", folder + "/train.tsv", "--output", folder};
  // Every sentence is new, so nothing has to be regularised; many updates on small batches teach the most in the time.
  std::istringstream flags(
      "--arch marian --vocab-size 2500 --width 128 --heads 4 --inner 256 --encoder-layers 2 --decoder-layers "
      "2 "
      "--dropout 0 --label-smoothing 0 --epochs 1 --batch-tokens 450 --learning-rate 0.002 --warmup 400 "
      "--average 0.995");
  for (std::string word; flags >> word;) words.push_back(word);
  words.emplace_back(overwrite ? "--overwrite" : "--resume");
  command(words);
}

/// Some held-out sentences of medium length, spread over the list.
std::vector<std::size_t> some_to_show(const std::vector<std::string>& sources) {
  std::vector<std::size_t> fitting, shown;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (const auto spaces = std::ranges::count(sources[i], ' '); spaces >= 4 && spaces <= 9) fitting.push_back(i);
  for (std::size_t i = 0; i < std::min(kShown, fitting.size()); ++i)
    shown.push_back(fitting[i * fitting.size() / kShown]);
  return shown;
}

void show(const std::string& folder) {
  const Translator translator{fs::path(folder)};
  const PhraseBook book = phrase_book({.pairs = 0, .held_out = kHeldOut});
  std::vector<std::string> sources, references;
  for (const auto& [source, target] : book.held_out) sources.push_back(source), references.push_back(target);
  std::vector<Translation> translations;
  {
    ProgressBar bar("Translating", "sentences");
    for (auto& best : translator(sources, {.attention = true, .layer = -1}, bar.progress()))
      translations.push_back(std::move(best.front()));
  }
  std::vector<std::string> translated;
  translated.reserve(translations.size());
  for (const Translation& translation : translations) translated.push_back(translation.text);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < translated.size(); ++i) right += translated[i] == references[i];
  std::cout
      << "\nOf " << grouped(kHeldOut) << " sentences that it was not trained on, it translates " << right
      << " exactly as the phrase book does. BLEU " << fixed(corpus_bleu(translated, {references}).score, 1) << ".\n\n"
      << "Some of them. Below each word is its translation, found by the attention weights; the small numbers are\n"
         "positions in the translation.\n\n";
  std::string lines;
  for (const std::size_t i : some_to_show(sources)) {
    lines += sources[i] + '\n';
    std::cout << interlinear({sources[i], translated[i], align_words(sources[i], translations[i])},
                             terminal_of_output())
              << "  → " << translated[i]
              << (translated[i] == references[i] ? "\n\n" : "  (should be: " + references[i] + ")\n\n");
  }
  AtomicFile file(folder + "/sentences.it");
  file.write(lines);
  file.commit();
  std::cout << "The same as a page, with all attention weights:\n";
  command({"translate", "--model", folder, "--input", folder + "/sentences.it", "--output", folder + "/sentences.en",
           "--layer", "-1", "--attention", folder + "/attention.html"});
}

void run(const DemoFlags& flags) {
  const fs::path folder = flags.output;
  fs::create_directories(folder);
  // Without validation the model is written once, when it is done.
  if (!flags.overwrite && fs::exists(current_folder(folder) / "model.safetensors"))
    std::cout << "The translator in " << flags.output << " exists; --overwrite trains it again.\n";
  else
    train_in(flags.output, flags.overwrite);
  show(flags.output);
  const std::string program = fs::exists("build/release/attend") ? "build/release/attend" : "attend";
  std::cout << "\nOpen the page:     " << fs::absolute(folder / "attention.html").lexically_normal().string()
            << "\nTranslate:         " << program << " translate --model " << flags.output
            << " 'La ragazza italiana legge un libro nuovo.'"
            << "\nTrain your own:    " << program << " train translation --help\n";
}

}  // namespace

void add_demo(Verb& program) {
  Verb* verb =
      program.add_subcommand("demo", "Train a small Italian-English translator in two minutes, and show what it does");
  verb->group(kLearn);
  auto flags = std::make_shared<DemoFlags>();
  verb->add_option("-o,--output", flags->output, "Folder for the model")->type_name("DIR");
  verb->add_flag("--overwrite", flags->overwrite, "Train again even if the folder holds a model");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
