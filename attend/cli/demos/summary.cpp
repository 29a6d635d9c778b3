// attend demo --task summary: a summarizer that learns from descriptions of software packages.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attend/cli/demos/demo.h"
#include "attend/cli/shared/highlight.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/file.h"
#include "attend/data/package_descriptions.h"
#include "attend/explain/terminal.h"
#include "attend/metrics/rouge.h"
#include "attend/tasks/summarization/summarizer.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDescriptions = 18'000, kHeldOutDescriptions = 200;
constexpr std::size_t kShownDescriptions = 6;

// Invented packages only: from the few hundred real ones of a machine, a model learns no summaries in this time.
void make_descriptions(const std::string& folder) {
  std::cout << grouped(kDescriptions)
            << " descriptions of software packages with their summaries, invented by a grammar in this program:\n";
  demo_command(
      {"corpus", "packages", "--invented", "--size", std::to_string(kDescriptions), "--output", folder + "/train.tsv"});
  std::cout << "\nA small Transformer that can copy words learns from them:\n";
}

std::vector<std::string> summary_training(const std::string& folder) {
  return with_words({"train", "summary", "--train", folder + "/train.tsv", "--output", folder},
                    "--vocab-size 2000 --max-source-tokens 120 --width 128 --heads 4 --inner 256 --encoder-layers 2 "
                    "--decoder-layers 1 --dropout 0 --label-smoothing 0 --epochs 1 --batch-tokens 600 "
                    "--learning-rate 0.002 --warmup 200 --average 0.99");
}

/// The words of a summary, with those that are in the text too in brackets: what the model has copied, or could have.
std::string with_copied(const std::string& summary, const std::string& text) {
  const std::vector<std::string> all = rouge_words(text, {.unicode = true});
  const std::set<std::string> there(all.begin(), all.end());
  std::istringstream words(summary);
  std::string marked;
  for (std::string word; words >> word;) {
    const std::vector<std::string> own = rouge_words(word, {.unicode = true});
    const bool copied =
        !own.empty() && std::ranges::all_of(own, [&](const std::string& one) { return there.contains(one); });
    marked += (marked.empty() ? "" : " ") + (copied ? "[" + word + "]" : word);
  }
  return marked;
}

/// Some descriptions, spread over the list.   -> their texts, one a line
std::string show_some_descriptions(const std::vector<PackageDescription>& packages,
                                   const std::vector<Summary>& summaries) {
  std::string lines;
  for (std::size_t n = 0; n < kShownDescriptions; ++n) {
    const std::size_t i = n * packages.size() / kShownDescriptions;
    const auto& [name, text, expected] = packages[i];
    Page page;
    page.show(highlighted(text, summaries[i]));
    std::cout << to_terminal(page, terminal_of_output()) << "  → " << with_copied(summaries[i].text, text)
              << (summaries[i].text == expected ? "\n\n" : "\n    (should be: " + expected + ")\n\n");
    lines += text + '\n';
  }
  return lines;
}

void show_summaries(const std::string& folder) {
  const Summarizer summarizer{fs::path(folder)};
  const std::vector<PackageDescription> packages =
      package_book({.size = 0, .held_out = kHeldOutDescriptions}).invented_held_out;
  std::vector<std::string> texts, found;
  References references(1);
  for (const PackageDescription& one : packages) texts.push_back(one.text), references[0].push_back(one.summary);
  std::vector<Summary> summaries;
  {
    ProgressBar bar("Summarizing", "descriptions");
    summaries = summarizer(texts, {.sources = true}, bar.progress());
  }
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    found.push_back(summaries[i].text);
    exact += found[i] == packages[i].summary;
  }
  double rouge = 0;
  for (const RougeScore& one : rouge_scores(Rouge::longest, found, references)) rouge += one.f;
  std::cout << "\nOf " << grouped(kHeldOutDescriptions) << " descriptions that it was not trained on, it summarizes "
            << exact << " exactly as the grammar does. ROUGE-L "
            << fixed(rouge / static_cast<double>(kHeldOutDescriptions), 1) << ".\n\n"
            << "Some of them. Before each sentence is its share of the summary's attention; words of the summary in\n"
               "[brackets] are also in the text.\n\n";
  AtomicFile file(folder + "/descriptions.txt");
  file.write(show_some_descriptions(packages, summaries));
  file.commit();
  std::cout << "The same as a page:\n";
  demo_command({"summarize", "--model", folder, "--input", folder + "/descriptions.txt", "--output",
                folder + "/summaries.txt", "--highlight=" + folder + "/attention.html"});
}

}  // namespace

Demo summary_demo() {
  return {"summarizer",
          "packages",
          "A summarizer of package descriptions, trained from scratch in about two minutes if nothing else keeps the\n"
          "machine busy.",
          make_descriptions,
          summary_training,
          show_summaries,
          "Summarize:         PROGRAM summarize --model FOLDER --highlight 'Lumtex extends Zorbi, so that it can also "
          "print bar codes. Mistakes can be undone.'\n"
          "Train your own:    PROGRAM train summary --help\n"};
}

}  // namespace attend::cli
