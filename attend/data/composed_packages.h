// New packages made from the parts of known ones: a first sentence says what a known summary says, with some other
// words in it, and sentences of other descriptions follow. So a few hundred descriptions become as many as a summarizer
// needs to learn which words of a real description to copy: it cannot know them by heart.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/core/random.h"
#include "attend/data/package_descriptions.h"
#include "attend/data/phrases/dice.h"

namespace attend {

class PackageComposer {
 public:
  explicit PackageComposer(std::span<const PackageDescription> packages);

  /// Whether there are too few parts for texts that differ enough.
  bool poor() const;
  /// The same key and packages give the same package. Throws if the composer is poor.
  PackageDescription compose(PhiloxKey key) const;

 private:
  std::string subject(phrases::Dice& dice) const;

  std::vector<std::string> subjects_;  // of the summaries: "XML parsing C library" of "XML parsing C library - runtime"
  std::vector<std::string> words_;     // of all descriptions, each once
  std::vector<std::string> sentences_;  // what else descriptions say
  std::vector<std::string> clauses_;    // of these sentences, with which another sentence can end: ", which is free."
  std::vector<std::pair<std::string, std::string>> pieces_;  // "This package contains …", and the end of its summary
};

}  // namespace attend
