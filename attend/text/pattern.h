// The pattern of Replace and Split: a plain string, or a regular expression as tokenizers use them.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

/// A subset of regular expressions: characters, `.`, classes such as [^\s\p{L}] and \p{N}, groups, (?i:…),
/// alternatives, lookahead, and greedy, lazy or possessive repetition. Immutable and thread-safe.
class Pattern {
 public:
  static Pattern string(std::string text);
  /// Throws InputError if the expression uses a feature that is not supported.
  static Pattern regex(std::string text);

  const std::string& text() const { return text_; }
  bool is_regex() const { return is_regex_; }

  struct Match {
    std::size_t begin, end;
  };
  /// The first match that begins at `from` or later.
  std::optional<Match> find(std::string_view in, std::size_t from) const;

  bool operator==(const Pattern& other) const { return text_ == other.text_ && is_regex_ == other.is_regex_; }

 private:
  struct Program;
  Pattern() = default;
  std::string text_;
  bool is_regex_ = false;
  std::shared_ptr<const Program> program_;
};

}  // namespace attend
