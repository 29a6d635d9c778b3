// What Replace and Split look for: a plain string, or one of the regular expressions that tokenizers use.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

/// Half a regular expression engine: characters, `.`, classes such as [^\s\p{L}] and \p{N}, groups, (?i:…),
/// alternatives, lookahead, and greedy, lazy or possessive repetition. Immutable and thread-safe.
class Pattern {
 public:
  static Pattern string(std::string text);
  /// Throws InputError where the expression has something else.
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
