#include "attend/data/package_descriptions.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "attend/core/error.h"
#include "attend/data/composed_packages.h"
#include "attend/data/hash.h"
#include "attend/data/invented_packages.h"
#include "attend/data/split.h"
#include "attend/data/text_stream.h"
#include "attend/text/sentences.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

/// A shorter text hardly says more than its summary.
constexpr std::size_t kShortestText = 40;
constexpr std::int64_t kMostInvented = 1'000'000;

/// Collects the fields of a list, line by line.
class PackageList {
 public:
  void read(std::string_view line) {
    if (line.empty()) return finish();
    if (line.front() == ' ' || line.front() == '\t') {
      if (in_description_) append(line.substr(1));
      return;
    }
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    in_description_ = field == "Description" || field == "Description-en";
    if (colon == std::string_view::npos || (field != "Package" && !in_description_)) return;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    (in_description_ ? package_.summary : package_.name) = value;
    if (in_description_) package_.text.clear();
  }
  std::vector<PackageDescription> take() {
    finish();
    return std::move(packages_);
  }

 private:
  void append(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line == ".") return;  // the end of a paragraph
    if (!package_.text.empty()) package_.text += ' ';
    package_.text += line;
    std::ranges::replace(package_.text, '\t', ' ');
  }
  void finish() {
    if (!package_.name.empty() && !package_.summary.empty() && package_.text.size() >= kShortestText)
      packages_.push_back(std::move(package_));
    package_ = {}, in_description_ = false;
  }

  std::vector<PackageDescription> packages_;
  PackageDescription package_;
  bool in_description_ = false;
};

/// What descriptions of one program have in common: their first sentence, or the program's name.
std::string beginning(const PackageDescription& package) {
  const std::vector<Span> all = sentences(package.text);
  const Span first = all.empty() ? Span{0, std::ssize(package.text)} : all.front();
  return split_key(std::string_view(package.text).substr(0, static_cast<std::size_t>(first.end)));
}

/// One description in twenty is for evaluation.
bool is_for_evaluation(const PackageDescription& package) { return hash_text(beginning(package)).low % 20 == 0; }

/// Invents packages with new texts, for training or for evaluation.
class Inventor {
 public:
  Inventor(std::uint64_t seed, bool evaluation) : seed_(seed), evaluation_(evaluation) {}
  PackageDescription next() {
    for (;;) {
      PackageDescription package = invent_package({seed_, stream_++});
      if (is_for_evaluation(package) == evaluation_ && seen_.insert(package.text).second) return package;
    }
  }

 private:
  std::uint64_t seed_, stream_ = 0;
  bool evaluation_;
  std::unordered_set<std::string> seen_;
};

/// In an order that depends on the seed and the names only.
void shuffle(std::vector<PackageDescription>& packages, std::uint64_t seed) {
  std::ranges::sort(packages, {}, [seed](const PackageDescription& one) { return hash_text(one.name, seed).low; });
}

}  // namespace

std::vector<PackageDescription> read_package_list(const fs::path& file) {
  PackageList list;
  TextStream stream = TextStream::open(file);
  for (std::string line; stream.line(line);) list.read(line);
  return list.take();
}

std::vector<PackageDescription> known_packages(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code none;  // a system without such lists
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "var/lib/apt/lists", none))
    if (entry.path().filename().string().ends_with("_Translation-en")) files.push_back(entry.path());
  std::ranges::sort(files);
  if (const fs::path installed = root / "var/lib/dpkg/status"; fs::exists(installed, none)) files.push_back(installed);
  std::map<std::string, PackageDescription> packages;
  for (const fs::path& file : files)
    for (PackageDescription& one : read_package_list(file)) packages.try_emplace(one.name, std::move(one));
  std::vector<PackageDescription> all;
  for (auto& [name, package] : packages) all.push_back(std::move(package));
  return all;
}

PackageBook package_book(const PackageBookOptions& options) {
  if (options.size < 0 || options.held_out < 0 || std::max(options.size, options.held_out) > kMostInvented)
    fail<InputError>("packages", "cannot give ", options.size, " descriptions and ", options.held_out,
                     " held out: expected at most ", kMostInvented);
  PackageBook book;
  std::vector<PackageDescription> known = options.known;
  shuffle(known, options.seed);
  // Only training descriptions give parts to others.
  std::vector<PackageDescription> parts;
  const std::int64_t most_known = std::min(options.size, options.most_known.value_or(options.size));
  const auto has_room = [](const std::vector<PackageDescription>& some, std::int64_t most) {
    return std::ssize(some) < most;
  };
  for (PackageDescription& one : known) {
    const bool held_out = is_for_evaluation(one);
    if (options.compose && !held_out) parts.push_back(one);
    std::vector<PackageDescription>& part = held_out ? book.known_held_out : book.training;
    if (has_room(part, held_out ? options.held_out : most_known)) part.push_back(std::move(one));
  }
  const PackageComposer composer(parts);
  Inventor training(options.seed, false), evaluation(options.seed, true);
  for (std::uint64_t i = 0; has_room(book.training, options.size); ++i)
    book.training.push_back(i % 4 < 3 && !composer.poor() ? composer.compose({options.seed, i}) : training.next());
  while (has_room(book.invented_held_out, options.held_out)) book.invented_held_out.push_back(evaluation.next());
  return book;
}

}  // namespace attend
