// attend demo --task translation: a translator that learns from the phrase book.
#include <filesystem>
#include <iostream>
#include <string>

#include "attend/cli/demos/demo.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/file.h"
#include "attend/data/phrase_book.h"
#include "attend/explain/interlinear.h"
#include "attend/metrics/bleu.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translator.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPairs = 230'000, kHeldOutSentences = 500;
constexpr std::size_t kShownSentences = 12;

void make_sentences(const std::string& folder) {
  std::cout << grouped(kPairs) << " sentences with their translations, written by a grammar in this program:\n";
  demo_command({"corpus", "phrase-book", "--size", std::to_string(kPairs), "--output", folder + "/train.tsv"});
  std::cout << "\nA small Transformer learns from them:\n";
}

// Every sentence is new, so nothing has to be regularised; many updates on small batches teach the most in the time.
std::vector<std::string> translation_training(const std::string& folder) {
  return with_words({"train", "translation", "--train", folder + "/train.tsv", "--output", folder},
                    "--arch marian --vocab-size 2500 --width 128 --heads 4 --inner 256 --encoder-layers 2 "
                    "--decoder-layers 2 --dropout 0 --label-smoothing 0 --epochs 1 --batch-tokens 450 "
                    "--learning-rate 0.002 --warmup 400 --average 0.995");
}

/// Some held-out sentences of medium length, spread over the list.
std::vector<std::size_t> some_to_show(const std::vector<std::string>& sources) {
  std::vector<std::size_t> fitting, shown;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (const auto spaces = std::ranges::count(sources[i], ' '); spaces >= 4 && spaces <= 9) fitting.push_back(i);
  for (std::size_t i = 0; i < std::min(kShownSentences, fitting.size()); ++i)
    shown.push_back(fitting[i * fitting.size() / kShownSentences]);
  return shown;
}

void show_translations(const std::string& folder) {
  const Translator translator{fs::path(folder)};
  const PhraseBook book = phrase_book({.pairs = 0, .held_out = kHeldOutSentences});
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
      << "\nOf " << grouped(kHeldOutSentences) << " sentences that it was not trained on, it translates " << right
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
  demo_command({"translate", "--model", folder, "--input", folder + "/sentences.it", "--output",
                folder + "/sentences.en", "--layer", "-1", "--attention", folder + "/attention.html"});
}

}  // namespace

Demo translation_demo() {
  return {"translator",
          "it-en",
          "A translator from Italian to English, trained from scratch in about two minutes if nothing else keeps the\n"
          "machine busy.",
          make_sentences,
          translation_training,
          show_translations,
          "Translate:         PROGRAM translate --model FOLDER 'La ragazza italiana legge un libro nuovo.'\n"
          "Train your own:    PROGRAM train translation --help\n"};
}

}  // namespace attend::cli
