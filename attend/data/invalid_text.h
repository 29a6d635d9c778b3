// Counts the byte sequences of an input that are not valid text, and words the warning about them. All readers of lines
// and corpora use it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attend/core/wording.h"

namespace attend {

struct InvalidText {
  std::int64_t count = 0;  ///< byte sequences that could not be decoded; each became U+FFFD
  std::string first = {};  ///< where the first one is: "corpus.txt, line 12"

  InvalidText& operator+=(const InvalidText& other) {
    if (count == 0) first = other.first;
    count += other.count;
    return *this;
  }
  /// The warning for a count above 0.
  std::string warning() const {
    return counted(count, "byte sequence") + " could not be decoded and became U+FFFD, the first in " + first +
           "; is the text UTF-8?";
  }
};

/// Reads the files to the end and counts their invalid byte sequences.
InvalidText invalid_text_in(const std::vector<std::filesystem::path>& files);

}  // namespace attend
