#include "attend/data/composed_packages.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "attend/core/error.h"
#include "attend/data/invented_packages.h"
#include "attend/text/sentences.h"

namespace attend {
namespace {

using phrases::Dice;

constexpr std::size_t kFewParts = 20;
constexpr std::size_t kLongestSentence = 160, kLongestPiece = 200, kShortestClause = 15, kLongestClause = 90;
constexpr std::size_t kShortestWord = 4;
constexpr std::string_view kThisPackage = "This package ";

/// A summary as what it is about, and the rest: " - documentation", " (shared library)", or nothing.
std::pair<std::string, std::string> divided(const std::string& summary) {
  std::size_t at = std::min(summary.find(" - "), summary.find(" -- "));
  if (at == std::string::npos && summary.ends_with(')')) at = summary.rfind(" (");
  if (at == std::string::npos || at == 0) return {summary, ""};
  return {summary.substr(0, at), summary.substr(at)};
}

/// The end of a sentence that begins with a connecting word, without its full stop.
std::string clause_of(const std::string& sentence) {
  std::size_t at = std::string::npos;
  for (const char* word : {", ", " that ", " which ", " using ", " with ", " and "})
    at = std::min(at, sentence.find(word));
  if (at == std::string::npos) return "";
  std::string clause = sentence.substr(at);
  while (clause.ends_with('.')) clause.pop_back();
  return clause.size() >= kShortestClause && clause.size() <= kLongestClause ? clause : "";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has_only_letters(const std::string& word) {
  return std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

std::string with_capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

std::string article_of(const std::string& subject) {
  return std::string_view("aeiouAEIOU").find(subject.front()) == std::string_view::npos ? "a " : "an ";
}

std::string some_name(Dice& dice) {
  const std::string name = invent_name(dice);
  const std::size_t kind = dice.below(20);
  if (kind < 9) return with_capital(name);
  return kind < 16 ? name : "lib" + name;
}

/// A sentence that says what the program is.
std::string definition(const std::string& subject, Dice& dice) {
  const std::string name = some_name(dice), article = article_of(subject);
  switch (dice.below(10)) {
    case 0:
      return name + " is the " + subject;
    case 1:
      return name + " provides " + article + subject;
    case 2:
      return name + ": " + subject;
    case 3:
      return name + ", " + article + subject;
    case 4:
      return "This is " + article + subject;
    case 5:
      return "This package provides " + dice.pick({std::string("the "), article, std::string()}) + subject;
    case 6:
      return "This package contains " + dice.pick({std::string("the "), article, std::string()}) + subject;
    case 7:
      return with_capital(dice.percent(50) ? subject : article + subject);
    default:
      return name + " is " + article + subject;
  }
}

}  // namespace

PackageComposer::PackageComposer(std::span<const PackageDescription> packages) {
  std::set<std::string> words;
  for (const PackageDescription& package : packages) {
    for (std::string& word : words_of(package.text))
      if (word.size() >= kShortestWord && has_only_letters(word)) words.insert(std::move(word));
    auto [subject, end] = divided(package.summary);
    std::string piece;
    const std::vector<std::string> all = split_sentences(package.text);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].starts_with(kThisPackage)) {
        if (all[i].size() <= kLongestPiece) piece = all[i];
      } else if (i > 0 && all[i].size() <= kLongestSentence) {
        sentences_.push_back(all[i]);
        if (std::string clause = clause_of(all[i]); !clause.empty()) clauses_.push_back(std::move(clause));
      }
    }
    if (!piece.empty() && !end.empty()) pieces_.emplace_back(std::move(piece), std::move(end));
    if (!subject.empty()) subjects_.push_back(std::move(subject));
  }
  words_.assign(words.begin(), words.end());
}

/// In most of the subjects, one word in three is another one.
std::string PackageComposer::subject(Dice& dice) const {
  const std::string& known = dice.pick(subjects_);
  if (dice.percent(30)) return known;
  std::string changed;
  for (const std::string& word : words_of(known)) {
    const bool other = !words_.empty() && word.size() >= kShortestWord && dice.percent(33);
    changed += (changed.empty() ? "" : " ") + (!other ? word : dice.percent(20) ? some_name(dice) : dice.pick(words_));
  }
  return changed.empty() ? known : changed;
}

bool PackageComposer::poor() const {
  return std::min({subjects_.size(), sentences_.size(), clauses_.size(), pieces_.size()}) < kFewParts;
}

PackageDescription PackageComposer::compose(PhiloxKey key) const {
  if (poor()) fail("packages", "too few descriptions to compose others of them: got ", subjects_.size());
  Dice dice(key);
  PackageDescription package;
  package.summary = subject(dice);
  std::vector<std::string> text{definition(package.summary, dice)};
  if (dice.percent(50)) text.front() += dice.pick(clauses_);
  text.front() += '.';
  for (std::size_t left = dice.below(4); left > 0; --left) text.push_back(dice.pick(sentences_));
  if (dice.percent(40)) {
    const auto& [piece, end] = dice.pick(pieces_);
    text.insert(dice.percent(25) ? text.begin() : text.end(), piece);
    package.summary += end;
  } else if (dice.percent(25)) {
    text.insert(text.begin(), dice.pick(sentences_));
  }
  for (const std::string& sentence : text) package.text += (package.text.empty() ? "" : " ") + sentence;
  return package;
}

}  // namespace attend
