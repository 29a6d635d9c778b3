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
#include "attend/data/composed_packages.h"
#include "attend/data/package_descriptions.h"
#include "attend/explain/terminal.h"
#include "attend/metrics/rouge.h"
#include "attend/tasks/summarization/summarizer.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDescriptions = 64'000, kMostKnown = 2'000, kHeldOutDescriptions = 200;
constexpr std::size_t kShownKnown = 6, kShownInvented = 2, kLongestShown = 400;
constexpr std::size_t kFirstWords = 6;  // about as many as a summary has

/// From the few hundred descriptions that a machine has, a model learns no summaries in this time. So most are composed
/// from parts of them, and some are invented.
void make_descriptions(const std::string& folder) {
  std::vector<std::string> command = {"corpus",   "packages",           "--size", std::to_string(kDescriptions),
                                      "--output", folder + "/train.tsv"};
  const std::vector<PackageDescription> known = known_packages();
  std::cout << grouped(kDescriptions) << " descriptions of software packages with their summaries. ";
  if (PackageComposer(known).poor()) {
    std::cout << "This system has no list of\npackages, or a short one, so a grammar in this program invents them:\n";
    command.emplace_back("--invented");
  } else {
    std::cout << "This system describes\n"
              << grouped(std::ssize(known))
              << " packages; most descriptions are composed from parts of theirs, the rest are invented:\n";
    command.insert(command.end(), {"--compose", "--most-known", std::to_string(kMostKnown)});
  }
  demo_command(command);
  std::cout << "\nA small Transformer that can copy words learns from them:\n";
}

std::vector<std::string> summary_training(const std::string& folder) {
  return with_words({"train", "summary", "--train", folder + "/train.tsv", "--output", folder},
                    "--vocab-size 4000 --max-source-tokens 120 --width 128 --heads 4 --inner 256 --encoder-layers 2 "
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

struct Summarized {
  std::vector<PackageDescription> packages;
  std::vector<Summary> summaries;
};

Summarized summarize_all(const Summarizer& summarizer, std::vector<PackageDescription> packages) {
  std::vector<std::string> texts;
  for (const PackageDescription& one : packages) texts.push_back(one.text);
  ProgressBar bar("Summarizing", "descriptions");
  std::vector<Summary> summaries = summarizer(texts, {.sources = true}, bar.progress());
  return {std::move(packages), std::move(summaries)};
}

/// The mean ROUGE-L of some summaries of the packages.
double rouge_of(const std::vector<PackageDescription>& packages, const std::vector<std::string>& found) {
  References references(1);
  for (const PackageDescription& one : packages) references[0].push_back(one.summary);
  double sum = 0;
  for (const RougeScore& one : rouge_scores(Rouge::longest, found, references)) sum += one.f;
  return sum / static_cast<double>(packages.size());
}

double rouge_of(const Summarized& all) {
  std::vector<std::string> found;
  for (const Summary& one : all.summaries) found.push_back(one.text);
  return rouge_of(all.packages, found);
}

double rouge_of_first_words(const std::vector<PackageDescription>& packages) {
  std::vector<std::string> found;
  for (const PackageDescription& one : packages) {
    std::istringstream words(one.text);
    std::string first;
    std::size_t count = 0;
    for (std::string word; count < kFirstWords && words >> word; ++count) first += (count == 0 ? "" : " ") + word;
    found.push_back(std::move(first));
  }
  return rouge_of(packages, found);
}

/// Some of the shorter descriptions, spread over the list.   -> their texts, one a line
std::string show_some(const Summarized& all, std::size_t count) {
  std::vector<std::size_t> fitting;
  std::set<std::string> seen;  // packages of one program may have the same description
  for (std::size_t i = 0; i < all.packages.size(); ++i)
    if (all.packages[i].text.size() <= kLongestShown && seen.insert(all.packages[i].text).second) fitting.push_back(i);
  std::string lines;
  for (std::size_t n = 0; n < std::min(count, fitting.size()); ++n) {
    const std::size_t i = fitting[n * fitting.size() / std::min(count, fitting.size())];
    const auto& [name, text, expected] = all.packages[i];
    Page page;
    page.show(highlighted(text, all.summaries[i]));
    std::cout << to_terminal(page, terminal_of_output()) << "  → " << with_copied(all.summaries[i].text, text)
              << (all.summaries[i].text == expected ? "\n\n" : "\n    (its own: " + expected + ")\n\n");
    lines += text + '\n';
  }
  return lines;
}

void show_summaries(const std::string& folder) {
  const Summarizer summarizer{fs::path(folder)};
  PackageBook book = package_book({.size = 0, .held_out = kHeldOutDescriptions, .known = known_packages()});
  const Summarized known = summarize_all(summarizer, std::move(book.known_held_out)),
                   invented = summarize_all(summarizer, std::move(book.invented_held_out));
  std::cout << "\nThe summaries of descriptions that it was not trained on, compared with their own (ROUGE-L, at most "
               "100):\n";
  const auto say = [](std::size_t count, const char* what, double rouge, const std::string& more) {
    std::cout << "  " << grouped(static_cast<std::int64_t>(count)) << what << fixed(rouge, 1) << more << '\n';
  };
  if (!known.packages.empty())
    say(known.packages.size(), " packages of this machine: ", rouge_of(known),
        "; the first " + std::to_string(kFirstWords) +
            " words of each description: " + fixed(rouge_of_first_words(known.packages), 1));
  std::size_t exact = 0;
  for (std::size_t i = 0; i < invented.packages.size(); ++i)
    exact += invented.summaries[i].text == invented.packages[i].summary;
  say(invented.packages.size(), " invented packages: ", rouge_of(invented),
      "; " + std::to_string(exact) + " are exactly the same");
  std::cout
      << "\nBefore each sentence is its share of the summary's attention; words of the summary in [brackets] are\n"
         "also in the text.\n\n";
  std::string lines;
  if (!known.packages.empty()) {
    std::cout << "Some of the shorter descriptions of this machine's packages:\n\n";
    lines += show_some(known, kShownKnown);
    std::cout << "Some of the invented ones:\n\n";
  }
  lines += show_some(invented, known.packages.empty() ? kShownKnown : kShownInvented);
  AtomicFile file(folder + "/descriptions.txt");
  file.write(lines);
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
          "Summarize:         PROGRAM summarize --model FOLDER --highlight 'Zorbi is a viewer for star charts, which "
          "runs in a terminal. This package contains the manual.'\n"
          "Train your own:    PROGRAM train summary --help\n"};
}

}  // namespace attend::cli
