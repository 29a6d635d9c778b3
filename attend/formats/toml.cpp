#include "attend/formats/toml.h"

#include <algorithm>
#include <map>

#include "attend/core/error.h"

namespace attend {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }

/// Advances `at` past digits, which may be separated by single underscores. Returns false if there is no digit.
bool pass_digits(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && (is_digit(text[at]) || (text[at] == '_' && at > begin && is_digit(text[at - 1]) &&
                                                     at + 1 < text.size() && is_digit(text[at + 1]))))
    ++at;
  return at > begin;
}

/// Whether a text is a decimal integer or float in TOML syntax: no leading zeros, digits on both sides of the point.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const std::size_t whole = at;
  if (!pass_digits(text, at) || (text[whole] == '0' && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.' && !pass_digits(text, ++at)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!pass_digits(text, at)) return false;
  }
  return at == text.size();
}

class TomlReader {
 public:
  TomlReader(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  std::vector<TomlEntry> read() {
    std::vector<TomlEntry> entries;
    std::map<std::string, int> lines;
    while (skip_blank(), at_ < text_.size()) {
      if (text_[at_] == '[') refuse("tables are not supported: got ", rest_of_line());
      TomlEntry entry{.key = key(), .values = {}, .line = line_};
      const auto [first, is_new] = lines.emplace(entry.key, line_);
      if (!is_new) refuse("duplicate key \"", entry.key, "\", first in line ", first->second);
      skip_spaces();
      if (!take('=')) refuse("expected = and a value after the key \"", entry.key, "\", got ", rest_of_line());
      skip_spaces();
      entry.values = take('[') ? list() : std::vector<std::string>{value()};
      skip_spaces();
      if (at_ < text_.size() && text_[at_] != '#' && !at_line_end())
        refuse("expected the end of the line after the value of \"", entry.key, "\", got ", rest_of_line());
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<InputError>("toml", name_, ", line ", line_, ": ", parts...);
  }
  std::string rest_of_line() const {
    const std::string_view rest = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
    return rest.empty() ? "the end of the line" : std::string(1, '"').append(rest).append(1, '"');
  }
  bool at_line_end() const { return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n"; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  /// Skips spaces, comments and line ends.
  void skip_blank() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size()) return;
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != ' ' && text_[at_] != '\t' && !at_line_end()) return;
    }
  }

  std::string key() {
    if (text_[at_] == '"' || text_[at_] == '\'') return string();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_bare(text_[at_])) ++at_;
    if (at_ == begin) refuse("expected a key, got ", rest_of_line());
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string value() {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return string();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n,]#").find(text_[at_]) == std::string_view::npos) ++at_;
    std::string bare(text_.substr(begin, at_ - begin));
    if (bare != "true" && bare != "false" && !is_number(bare)) {
      at_ = begin;
      refuse("expected a number, true, false, a \"string\" in quotes, or a list, got ", rest_of_line());
    }
    std::erase(bare, '_');
    return bare;
  }

  std::string string() {
    if (text_.substr(at_, 3) == "\"\"\"" || text_.substr(at_, 3) == "'''")
      refuse("multi-line strings are not supported");
    const char quote = text_[at_++];
    std::string content;
    for (; at_ < text_.size() && !at_line_end(); ++at_) {
      if (text_[at_] == quote) return ++at_, content;
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
        const std::size_t escape =
            at_ < text_.size() ? std::string_view("\"\\ntr").find(text_[at_]) : std::string::npos;
        if (escape == std::string_view::npos) refuse("expected \\\", \\\\, \\n, \\t or \\r after a backslash");
        content += "\"\\\n\t\r"[escape];
      } else {
        content += text_[at_];
      }
    }
    refuse("a string has no closing ", quote);
  }

  std::vector<std::string> list() {
    std::vector<std::string> values;
    for (;;) {
      skip_blank();
      if (take(']')) return values;
      if (at_ == text_.size()) refuse("a list has no closing ]");
      values.push_back(value());
      skip_blank();
      if (!take(',') && (at_ == text_.size() || text_[at_] != ']'))
        refuse("expected , or ] in a list, got ", rest_of_line());
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<TomlEntry> read_toml(std::string_view text, const std::string& name) {
  return TomlReader(text, name).read();
}

std::string toml_value(const std::string& value) {
  if (value == "true" || value == "false") return value;
  if (is_number(value) && value.find('_') == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    const std::size_t escape = std::string_view("\"\\\n\t\r").find(c);
    if (escape == std::string_view::npos) {
      quoted += c;
    } else {
      quoted += {'\\', "\"\\ntr"[escape]};
    }
  }
  return quoted + '"';
}

}  // namespace attend
