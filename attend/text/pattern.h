// The pattern of Replace and Split: a plain string, or a regular expression as tokenizers use them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

struct PatternProgram;

/// A subset of regular expressions: characters, `.`, classes such as [^\s\p{L}] and \p{N}, groups, (?i:…),
/// alternatives, lookahead, and greedy, lazy or possessive repetition. Immutable and thread-safe.
class Pattern {
 public:
  static Pattern string(std::string text);
  /// Throws InputError if the expression uses a feature that is not supported.
  static Pattern regex(std::string text);

  const std::string& text() const { return text_; }
  bool is_regex() const { return is_regex_; }

  bool operator==(const Pattern& other) const { return text_ == other.text_ && is_regex_ == other.is_regex_; }

 private:
  friend class PatternSearch;
  Pattern() = default;
  std::string text_;
  bool is_regex_ = false;
  std::shared_ptr<const PatternProgram> program_;
};

/// The matches of a pattern in a text, from left to right. Pattern and text must outlive it. An empty match is skipped.
/// The search does not recurse over the text, and takes time in proportion to its length for the patterns of real
/// tokenizers.
class PatternSearch {
 public:
  PatternSearch(const Pattern& pattern, std::string_view text);
  ~PatternSearch();
  PatternSearch(const PatternSearch&) = delete;
  PatternSearch& operator=(const PatternSearch&) = delete;

  struct Match {
    std::size_t begin, end;
  };
  /// The next match, after the last one. Throws InputError if the whole search takes more than 10,000 steps plus 500
  /// per byte of the text.
  std::optional<Match> next();
  /// The steps that a regular expression has taken until now.
  std::int64_t steps() const;

 private:
  class Matcher;
  const Pattern& pattern_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::unique_ptr<Matcher> matcher_;  // of a regular expression
};

}  // namespace attend
