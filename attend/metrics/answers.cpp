#include "attend/metrics/answers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/metrics/metric_text.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

const std::vector<std::pair<std::string_view, AnswerRules>>& all_rules() {
  static const std::vector<std::pair<std::string_view, AnswerRules>> rules = {
      {"de",
       {.articles = {"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines"},
        .all_punctuation = true}},
      {"en", {}},
      {"es", {.articles = {"el", "la", "los", "las", "un", "una", "unos", "unas"}, .all_punctuation = true}},
      {"fr", {.articles = {"le", "la", "les", "l", "un", "une", "des"}, .all_punctuation = true, .elision = true}},
      {"it",
       {.articles = {"il", "lo", "la", "i", "gli", "le", "l", "un", "uno", "una"},
        .all_punctuation = true,
        .elision = true}},
      {"ja", {.articles = {}, .all_punctuation = true, .characters = true}},
      {"zh", {.articles = {}, .all_punctuation = true, .characters = true}},
      {"other", {.articles = {}, .all_punctuation = true}},
  };
  return rules;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_apostrophe(char32_t c) { return c == '\'' || c == U'’'; }

/// What Python's \w matches.
bool is_word_character(char32_t c) {
  return c == '_' || (properties(c) & (property::kLetter | property::kNumber)) != 0;
}

/// Chinese characters, and Japanese kana with their marks.
bool is_single(char32_t c) {
  return (properties(c) & property::kChinese) != 0 || (c >= 0x3040 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF);
}

/// Lower case without punctuation.
std::string plain(std::string_view answer, const AnswerRules& rules) {
  std::string text;
  for (std::size_t at = 0; at < answer.size();) {
    const CodePoint c = decode_utf8(answer, at);
    at += static_cast<std::size_t>(c.size);
    if (rules.elision && is_apostrophe(c.value)) {
      text += ' ';
    } else if (!is_ascii_punctuation(c.value) && !(rules.all_punctuation && category(c.value)[0] == 'P')) {
      const LowerCase lower = lower_case(c.value);
      append_utf8(lower.first, text);
      if (lower.second != 0) append_utf8(lower.second, text);
    }
  }
  return text;
}

/// Replaces each run of word characters that is an article by a space.
std::string without_articles(std::string_view text, const AnswerRules& rules) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    CodePoint c{};
    while (end < text.size() && is_word_character((c = decode_utf8(text, end)).value))
      end += static_cast<std::size_t>(c.size);
    const std::string_view word = text.substr(at, end - at);
    kept += std::ranges::find(rules.articles, word) == rules.articles.end() ? word : " ";
    if (end < text.size())
      kept += text.substr(end, static_cast<std::size_t>(c.size)), end += static_cast<std::size_t>(c.size);
    at = end;
  }
  return kept;
}

/// A word, with each of its Chinese characters and kana as a word of its own.
void add_characters(std::string_view word, std::vector<std::string>& words) {
  bool joined = false;
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint c = decode_utf8(word, at);
    const std::string_view bytes = word.substr(at, static_cast<std::size_t>(c.size));
    const bool single = is_single(c.value);
    if (single || !joined)
      words.emplace_back(bytes);
    else
      words.back() += bytes;
    joined = !single;
    at += bytes.size();
  }
}

double f1(const std::vector<std::string>& prediction, const std::vector<std::string>& reference) {
  if (prediction.empty() || reference.empty()) return prediction.empty() && reference.empty() ? 1 : 0;
  std::map<std::string_view, std::int64_t> left;
  for (const std::string& word : reference) ++left[word];
  std::int64_t same = 0;
  for (const std::string& word : prediction)
    if (const auto found = left.find(word); found != left.end() && found->second > 0) --found->second, ++same;
  return 2 * static_cast<double>(same) / static_cast<double>(prediction.size() + reference.size());
}

}  // namespace

AnswerRules answer_rules(std::string_view language) {
  const std::string_view code = language == "other" ? language : language.substr(0, language.find_first_of("-_"));
  for (const auto& [name, rules] : all_rules())
    if (name == code) return rules;
  fail<InputError>("answers", "the articles of the language \"", language, "\" are not known; expected one of ",
                   listed(answer_languages()));
}

std::vector<std::string> answer_languages() {
  std::vector<std::string> names;
  for (const auto& [name, rules] : all_rules()) names.emplace_back(name);
  return names;
}

std::vector<std::string> answer_words(std::string_view answer, const AnswerRules& rules) {
  const std::string text = without_articles(plain(answer, rules), rules);
  std::vector<std::string> words;
  for (const std::string_view word : split_words(text))
    if (rules.characters)
      add_characters(word, words);
    else
      words.emplace_back(word);
  return words;
}

AnswerScore score_answer(std::string_view prediction, std::span<const std::string> references,
                         const AnswerRules& rules) {
  const std::vector<std::string> predicted = answer_words(prediction, rules);
  AnswerScore best;
  bool any = false;
  for (const std::string& reference : references) {
    const std::vector<std::string> words = answer_words(reference, rules);
    if (words.empty()) continue;
    any = true;
    best.exact = std::max(best.exact, predicted == words ? 1. : 0.);
    best.f1 = std::max(best.f1, f1(predicted, words));
  }
  if (!any) best.exact = best.f1 = predicted.empty() ? 1 : 0;
  return best;
}

}  // namespace attend
