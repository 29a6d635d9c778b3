#include "attend/data/message_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "attend/text/unicode.h"

namespace attend {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
/// Whether a byte is part of a word: a letter, a digit, or any byte of a character that is not ASCII.
bool is_word(char c) { return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; }

/// The end of the printf directive at text[at] == '%', or `at` if there is none. Sets `found` to its normalised form.
std::size_t printf_directive(std::string_view text, std::size_t at, std::string& found) {
  std::size_t i = at + 1;
  const auto more = [&] { return i < text.size(); };
  found.assign(1, '%');
  if (more() && text[i] == '(') {  // Python: %(name)s
    const std::size_t close = text.find(')', i);
    if (close == std::string_view::npos) return at;
    found += text.substr(i, close + 1 - i);
    i = close + 1;
  }
  const std::size_t digits = i;
  while (more() && is_digit(text[i])) ++i;
  if (i > digits && more() && text[i] == '$')
    found += text.substr(digits, ++i - digits);  // %1$s
  else
    i = digits;
  // A space is a valid flag in C, but "100 % di" is not a directive.
  while (more() && std::string_view("-+#0'").find(text[i]) != std::string_view::npos) ++i;
  while (more() && (is_digit(text[i]) || text[i] == '*' || text[i] == '.')) ++i;
  if (more() && text[i] == '<') {  // <inttypes.h>: %<PRIu64>
    const std::size_t close = text.find('>', i);
    if (close == std::string_view::npos) return at;
    found += text.substr(i, close + 1 - i);
    return close + 1;
  }
  while (more() && std::string_view("hlLqjzt").find(text[i]) != std::string_view::npos) ++i;
  if (!more() || std::string_view("diouxXeEfFgGaAcCsSpnm@").find(text[i]) == std::string_view::npos) return at;
  // %i means %d.
  found += text[i] == 'i' ? 'd' : text[i];
  return i + 1;
}

/// The end of the placeholder in braces at text[at] == '{': {}, {0}, {name}, {name:format}. Or `at`.
std::size_t braces(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 40;
  const std::size_t close = text.substr(0, at + kLongest).find('}', at);
  if (close == std::string_view::npos) return at;
  const std::string_view inside = text.substr(at + 1, close - at - 1);
  const std::string_view name = inside.substr(0, inside.find_first_of(":!"));
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '$'; };
  return std::ranges::all_of(name, is_name) ? close + 1 : at;
}

/// The end of the tag at text[at] == '<', or `at`.
std::size_t tag(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 1000;
  if (text.substr(at).starts_with("<!--")) {
    const std::size_t end = text.find("-->", at);
    return end == std::string_view::npos ? text.size() : end + 3;
  }
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '/') ++i;
  if (i >= text.size() || !(is_letter(text[i]) || text[i] == '!' || text[i] == '?')) return at;
  // A tag cannot contain another one: "<b <c" is not a tag.
  const std::size_t close = text.substr(0, at + kLongest).find_first_of("<>", i);
  if (close == std::string_view::npos || text[close] == '<') return at;
  return close + 1;
}

/// The end of the entity at text[at] == '&', or `at`: &amp; &#160; &#xA0;.
std::size_t entity(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 10;
  const std::size_t end = text.substr(0, at + kLongest).find(';', at);
  if (end == std::string_view::npos || end < at + 3) return at;
  std::string_view name = text.substr(at + 1, end - at - 1);
  if (name[0] == '#') name.remove_prefix(1);
  return std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }) ? end + 1 : at;
}

std::string entity_text(std::string_view entity) {
  static constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&nbsp;", " "}};
  for (const auto& [name, text] : kNamed)
    if (entity == name) return std::string(text);
  if (!entity.starts_with("&#")) return std::string(entity);
  const bool hexadecimal = entity[2] == 'x' || entity[2] == 'X';
  std::uint32_t value = 0;
  std::from_chars(entity.data() + (hexadecimal ? 3 : 2), entity.data() + entity.size() - 1, value,
                  hexadecimal ? 16 : 10);
  const bool is_character = value >= 0x20 && value <= 0x10FFFF && (value < 0xD800 || value >= 0xE000);
  std::string text;
  if (is_character) append_utf8(value, text);
  return is_character ? text : std::string(entity);
}

/// The position of the accelerator mark, or npos if there is none, more than one, or no letter after it.
std::size_t accelerator(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos || text.find(mark, at + 1) != std::string_view::npos) return std::string_view::npos;
  const bool marks = at + 1 < text.size() && is_word(text[at + 1]) && (mark != '&' || entity(text, at) == at);
  return marks ? at : std::string_view::npos;
}

/// The word around a position.
std::string_view word_around(std::string_view text, std::size_t at) {
  std::size_t begin = at, end = at + 1;
  while (begin > 0 && text[begin - 1] != ' ') --begin;
  while (end < text.size() && text[end] != ' ') ++end;
  return text.substr(begin, end - begin);
}

void remove_mark(std::string& text, std::size_t at) {
  // Scripts without Latin letters add the accelerator in parentheses: 文件(_F)
  if (at > 0 && text[at - 1] == '(' && at + 2 < text.size() && text[at + 2] == ')')
    text.erase(at - 1, 4);
  else
    text.erase(at, 1);
}

}  // namespace

std::vector<std::string> placeholders_of(std::string_view text) {
  std::vector<std::string> all;
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '%' && text[at] != '{') {
      ++at;
      continue;
    }
    if (text.substr(at).starts_with("%%")) {
      at += 2;
      continue;
    }
    const std::size_t end = text[at] == '%' ? printf_directive(text, at, found) : braces(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    all.push_back(text[at] == '%' ? found : std::string(text.substr(at, end - at)));
    at = end;
  }
  std::ranges::sort(all);
  return all;
}

bool has_tags(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1))
    if (tag(text, at) != at) return true;
  return false;
}

std::string without_tags(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '<' ? tag(text, at) : at;
    if (end == at) result += text[at++];
    at = std::max(at, end);
  }
  return result;
}

std::string with_entities_decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '&' ? entity(text, at) : at;
    if (end == at)
      result += text[at++];
    else
      result += entity_text(text.substr(at, end - at));
    at = std::max(at, end);
  }
  return result;
}

void remove_accelerators(std::string& source, std::string& target) {
  constexpr std::size_t kLongestLabel = 60;  // a mark on one side only is removed from short texts
  for (const char mark : {'_', '&'}) {
    const std::size_t in_source = accelerator(source, mark), in_target = accelerator(target, mark);
    if (in_source == std::string::npos && in_target == std::string::npos) continue;
    if (in_source != std::string::npos && in_target != std::string::npos) {
      const std::string_view word = word_around(source, in_source);
      const bool is_name =
          word == word_around(target, in_target) && word.size() < std::min(source.size(), target.size());
      const bool inside_same = word == word_around(target, in_target) && word[0] != mark;
      if (is_name || inside_same) continue;
      remove_mark(source, in_source);
      remove_mark(target, in_target);
      continue;
    }
    // A mark on one side is removed only at the beginning of a word, or in parentheses.
    std::string& text = in_source != std::string::npos ? source : target;
    const std::string& other = in_source != std::string::npos ? target : source;
    const std::size_t at = std::min(in_source, in_target);
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
    if (begins && text.size() <= kLongestLabel && other.find(mark) == std::string::npos) remove_mark(text, at);
  }
}

}  // namespace attend
