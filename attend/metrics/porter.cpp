// Porter's stemmer ("An algorithm for suffix stripping", 1980) with NLTK's changes. The steps have the numbers of the
// paper. A word is a sequence of consonants (C) and vowels (V), [C](VC)^m[V]; m is its measure.
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "attend/metrics/rouge.h"

namespace attend {
namespace {

/// A letter for each of the word: 'c' for a consonant, 'v' for a vowel. After a consonant, y is a vowel.
std::string shape_of(std::string_view word) {
  std::string shape;
  for (const char letter : word) {
    const bool vowel =
        letter == 'y' ? shape.ends_with('c') : std::string_view("aeiou").find(letter) != std::string_view::npos;
    shape += vowel ? 'v' : 'c';
  }
  return shape;
}

int measure(std::string_view word) {
  const std::string shape = shape_of(word);
  int m = 0;
  for (std::size_t at = shape.find("vc"); at != std::string::npos; at = shape.find("vc", at + 1)) ++m;
  return m;
}

bool has_vowel(std::string_view word) { return shape_of(word).find('v') != std::string::npos; }
bool ends_in_consonant(std::string_view word) { return shape_of(word).ends_with('c'); }
bool ends_in_double_consonant(std::string_view word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}
/// Consonant, vowel, consonant, of which the last is not w, x or y; NLTK also takes a word of a vowel and a consonant.
bool ends_in_cvc(std::string_view word) {
  const std::string shape = shape_of(word);
  return shape == "vc" ||
         (shape.ends_with("cvc") && std::string_view("wxy").find(word.back()) == std::string_view::npos);
}

struct Rule {
  std::string_view suffix, replacement;
};

/// The first rule whose suffix the word has decides: it is applied if the rest satisfies the condition.
template <typename Condition>
std::string apply(const std::string& word, std::span<const Rule> rules, const Condition& condition) {
  for (const auto& [suffix, replacement] : rules) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view rest = std::string_view(word).substr(0, word.size() - suffix.size());
    return condition(rest, suffix) ? std::string(rest) + std::string(replacement) : word;
  }
  return word;
}

bool is_positive(std::string_view rest, std::string_view) { return measure(rest) > 0; }

std::string step_1a(const std::string& word) {
  if (word.ends_with("ies") && word.size() == 4) return word.substr(0, 3);
  static constexpr Rule kRules[] = {{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}};
  return apply(word, kRules, [](auto, auto) { return true; });
}

std::string step_1b(const std::string& word) {
  if (word.ends_with("ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed"))
    return measure(word.substr(0, word.size() - 3)) > 0 ? word.substr(0, word.size() - 1) : word;
  const std::size_t length = word.ends_with("ed") ? 2 : word.ends_with("ing") ? 3 : 0;
  std::string rest = word.substr(0, word.size() - length);
  if (length == 0 || !has_vowel(rest)) return word;
  if (rest.ends_with("at") || rest.ends_with("bl") || rest.ends_with("iz")) return rest + 'e';
  if (ends_in_double_consonant(rest)) {
    if (const char last = rest.back(); last != 'l' && last != 's' && last != 'z') rest.pop_back();
    return rest;
  }
  return measure(rest) == 1 && ends_in_cvc(rest) ? rest + 'e' : rest;
}

std::string step_1c(const std::string& word) {
  static constexpr Rule kRules[] = {{"y", "i"}};
  return apply(word, kRules, [](std::string_view rest, auto) { return rest.size() > 1 && ends_in_consonant(rest); });
}

std::string step_2(std::string word) {
  while (word.ends_with("alli") && measure(word.substr(0, word.size() - 4)) > 0) word.erase(word.size() - 2);
  static constexpr Rule kRules[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
                                    {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
                                    {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                    {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
                                    {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
                                    {"fulli", "ful"},   {"logi", "log"}};
  return apply(word, kRules, [](std::string_view rest, std::string_view suffix) {
    return measure(suffix == "logi" ? std::string(rest) + 'l' : std::string(rest)) > 0;
  });
}

std::string step_3(const std::string& word) {
  static constexpr Rule kRules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                    {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  return apply(word, kRules, is_positive);
}

std::string step_4(const std::string& word) {
  static constexpr Rule kRules[] = {{"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
                                    {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                                    {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
                                    {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""}};
  return apply(word, kRules, [](std::string_view rest, std::string_view suffix) {
    return measure(rest) > 1 && (suffix != "ion" || rest.ends_with('s') || rest.ends_with('t'));
  });
}

std::string step_5(std::string word) {
  if (word.ends_with('e')) {
    const std::string_view rest = std::string_view(word).substr(0, word.size() - 1);
    if (const int m = measure(rest); m > 1 || (m == 1 && !ends_in_cvc(rest))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(std::string_view(word).substr(0, word.size() - 1)) > 1) word.pop_back();
  return word;
}

}  // namespace

std::string porter_stem(const std::string& word) {
  static const std::map<std::string_view, std::string_view> irregular = {
      {"sky", "sky"},        {"skies", "sky"},       {"dying", "die"},        {"lying", "lie"},
      {"tying", "tie"},      {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},
      {"outings", "outing"}, {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},
      {"howe", "howe"},      {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};
  if (const auto found = irregular.find(word); found != irregular.end()) return std::string(found->second);
  if (word.size() <= 2) return word;
  return step_5(step_4(step_3(step_2(step_1c(step_1b(step_1a(word)))))));
}

}  // namespace attend
