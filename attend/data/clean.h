// Which records of a corpus are worth training on: texts are tidied, then each rule may drop the record, and counts it.
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

/// Why a record is dropped, in the order in which the rules are tried.
enum class DropReason { empty, garbled, too_long, length_ratio, identical, markup, placeholders, script, duplicate };
constexpr std::size_t kDropReasons = 9;
/// As reports name it: "too long".
std::string_view name_of(DropReason reason);

struct CleanOptions {
  enum class Markup {
    drop,
    strip,
    keep
  };  ///< records with tags: away, or only the tags; entities are decoded, unless keep
  enum class Placeholders { match, drop, keep };  ///< match: both sides must have the same ones
  enum class Duplicates { pair, source, keep };   ///< what must not come twice

  bool accelerators = false;      ///< remove "_File" and "&File" marks first
  bool empty = true;              ///< drop what has an empty side
  bool garbled = true;            ///< drop what has U+FFFD: a text that was not UTF-8
  std::int64_t max_length = 500;  ///< characters of either side; 0: no limit
  double max_ratio = 3;           ///< see length_ratio(); 0: no limit
  bool identical = true;          ///< drop what is its own translation
  Markup markup = Markup::drop;
  Placeholders placeholders = Placeholders::match;
  double min_script = 0.5;  ///< share of letters in the script of the language; 0: any
  Duplicates duplicates = Duplicates::pair;
  Languages languages;  ///< for the scripts; those not named, or not known, are not checked
};

/// Spaces and control characters in a row become one space, those at the ends go, accents are composed (NFC).
void tidy(std::string& text);
/// (longer + 10) / (shorter + 10), in characters, an ideograph or syllable counting two: short texts may differ freely.
double length_ratio(std::string_view source, std::string_view target);

class Cleaner {
 public:
  explicit Cleaner(CleanOptions options);

  /// Tidies the record, and says why it should be dropped, if it should. Without has_target only the source counts.
  std::optional<DropReason> drop(Record& record, bool has_target);
  std::int64_t dropped(DropReason reason) const { return dropped_[static_cast<std::size_t>(reason)]; }
  std::int64_t dropped() const;

 private:
  std::optional<DropReason> judge(const Record& record, bool has_target);

  CleanOptions options_;
  std::vector<Script> source_scripts_, target_scripts_;
  HashSet seen_;
  std::array<std::int64_t, kDropReasons> dropped_{};
};

}  // namespace attend
