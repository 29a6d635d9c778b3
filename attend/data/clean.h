// Cleaning of a corpus: normalises the texts of a record, then decides by rules whether to drop it, and counts the
// drops of each rule.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/hash.h"
#include "attend/data/language.h"
#include "attend/data/reader.h"

namespace attend {

/// Why a record is dropped. The rules are applied in this order.
enum class DropReason { empty, garbled, too_long, length_ratio, identical, markup, placeholders, script, duplicate };
constexpr std::size_t kDropReasons = 9;
/// The name in reports: "too long".
std::string_view name_of(DropReason reason);

struct CleanOptions {
  enum class Markup {
    drop,
    strip,
    keep
  };  ///< drop records with tags, strip only the tags, or keep all; entities are decoded unless `keep`
  enum class Placeholders { match, drop, keep };  ///< match: drop records whose sides have different ones
  enum class Duplicates { pair, source, keep };   ///< what must be unique

  bool accelerators = false;      ///< first remove accelerator marks: "_File", "&File"
  bool empty = true;              ///< drop records with an empty side
  bool garbled = true;            ///< drop texts with U+FFFD, which were not valid UTF-8
  std::int64_t max_length = 500;  ///< of each side, in characters; 0: no limit
  double max_ratio = 3;           ///< see length_ratio(); 0: no limit
  bool identical = true;          ///< drop records whose sides are equal
  Markup markup = Markup::drop;
  Placeholders placeholders = Placeholders::match;
  double min_script = 0.5;  ///< smallest fraction of letters in the script of the language; 0: no limit
  Duplicates duplicates = Duplicates::pair;
  Languages languages;  ///< for min_script; an unknown or empty language is not checked
};

/// Replaces each run of white space and control characters by one space, trims the ends, and composes accents (NFC).
void tidy(std::string& text);
/// (longer + 10) / (shorter + 10), in characters. A Chinese, Japanese or Korean character counts as two. The 10 lets
/// short texts differ more.
double length_ratio(std::string_view source, std::string_view target);

class Cleaner {
 public:
  explicit Cleaner(CleanOptions options);

  /// Normalises the record. Returns the reason if it must be dropped. Unless `has_target`, only the source is checked.
  std::optional<DropReason> drop(Record& record, bool has_target);
  std::int64_t dropped(DropReason reason) const { return dropped_[static_cast<std::size_t>(reason)]; }
  std::int64_t dropped() const;

 private:
  std::optional<DropReason> check(const Record& record, bool has_target);

  CleanOptions options_;
  std::vector<Script> source_scripts_, target_scripts_;
  HashSet seen_;
  std::array<std::int64_t, kDropReasons> dropped_{};
};

}  // namespace attend
