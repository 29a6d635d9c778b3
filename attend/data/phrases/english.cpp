#include "attend/data/phrases/english.h"

#include <algorithm>
#include <map>
#include <set>

namespace attend::phrases::english {
namespace {

bool is_vowel(char letter) { return std::string_view("aeiou").find(letter) != std::string_view::npos; }

bool ends_with_any(std::string_view word, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view e) { return word.ends_with(e); });
}

/// Whether it ends in a consonant and -y, which becomes -ie-: carry, city.
bool ends_in_consonant_y(std::string_view word) {
  return word.size() > 1 && word.ends_with('y') && !is_vowel(word[word.size() - 2]);
}

std::string with_s(std::string_view word) {
  std::string result(word);
  if (ends_in_consonant_y(word)) return result.replace(result.size() - 1, 1, "ies");
  return result += ends_with_any(word, {"s", "x", "z", "ch", "sh", "o"}) ? "es" : "s";
}

/// Whether the last consonant is doubled before -ing and -ed.
bool doubles(std::string_view verb) {
  static const std::set<std::string_view> kDouble = {"swim", "run",  "get",   "put", "sit", "stop",   "cut",   "win",
                                                     "plan", "chat", "begin", "dig", "rob", "forget", "travel"};
  return kDouble.contains(verb);
}

/// Applies a rule to the first word.
template <typename Rule>
std::string bend(std::string_view phrase, const Rule& rule) {
  const std::size_t end = std::min(phrase.find(' '), phrase.size());
  return rule(phrase.substr(0, end)) + std::string(phrase.substr(end));
}

const std::map<std::string_view, std::string_view> kPast = {
    {"be", "was"},        {"have", "had"},     {"do", "did"},        {"go", "went"},
    {"come", "came"},     {"eat", "ate"},      {"drink", "drank"},   {"buy", "bought"},
    {"sell", "sold"},     {"read", "read"},    {"write", "wrote"},   {"find", "found"},
    {"lose", "lost"},     {"take", "took"},    {"bring", "brought"}, {"put", "put"},
    {"leave", "left"},    {"see", "saw"},      {"meet", "met"},      {"know", "knew"},
    {"teach", "taught"},  {"drive", "drove"},  {"break", "broke"},   {"pay", "paid"},
    {"build", "built"},   {"draw", "drew"},    {"win", "won"},       {"understand", "understood"},
    {"forget", "forgot"}, {"hide", "hid"},     {"steal", "stole"},   {"tell", "told"},
    {"sing", "sang"},     {"choose", "chose"}, {"send", "sent"},     {"give", "gave"},
    {"lend", "lent"},     {"sleep", "slept"},  {"run", "ran"},       {"swim", "swam"},
    {"fall", "fell"},     {"get", "got"},      {"wake", "woke"},     {"say", "said"},
    {"think", "thought"}, {"wear", "wore"},    {"feel", "felt"},     {"make", "made"},
    {"sit", "sat"},       {"spend", "spent"},  {"learn", "learned"},
};

}  // namespace

std::string plural(std::string_view noun) {
  static const std::map<std::string_view, std::string_view> kIrregular = {
      {"man", "men"},      {"woman", "women"},   {"child", "children"},        {"policeman", "policemen"},
      {"knife", "knives"}, {"scarf", "scarves"}, {"bookshelf", "bookshelves"}, {"fish", "fish"},
      {"sheep", "sheep"},  {"piano", "pianos"},  {"radio", "radios"},          {"photo", "photos"},
      {"wife", "wives"},   {"mouse", "mice"}};
  if (const auto irregular = kIrregular.find(noun); irregular != kIrregular.end())
    return std::string(irregular->second);
  return with_s(noun);
}

std::string with_article(std::string_view phrase) {
  const bool sounds_like_you = phrase.starts_with("uni") || phrase.starts_with("use");
  return (!phrase.empty() && is_vowel(phrase[0] | 0x20) && !sounds_like_you ? "an " : "a ") + std::string(phrase);
}

std::string possessive(std::string_view phrase, bool plural) {
  return std::string(phrase) + (plural && phrase.ends_with('s') ? "'" : "'s");
}

std::string third_person(std::string_view verb) {
  return bend(verb, [](std::string_view word) -> std::string {
    if (word == "be") return "is";
    if (word == "have") return "has";
    return with_s(word);
  });
}

std::string past(std::string_view verb) {
  return bend(verb, [](std::string_view word) -> std::string {
    if (const auto irregular = kPast.find(word); irregular != kPast.end()) return std::string(irregular->second);
    std::string result(word);
    if (ends_in_consonant_y(word)) return result.replace(result.size() - 1, 1, "ied");
    if (doubles(word)) result += word.back();
    return result += word.ends_with('e') ? "d" : "ed";
  });
}

std::string participle(std::string_view verb) {
  static const std::map<std::string_view, std::string_view> kParticiple = {
      {"be", "been"},          {"go", "gone"},    {"come", "come"},   {"eat", "eaten"},    {"drink", "drunk"},
      {"write", "written"},    {"take", "taken"}, {"see", "seen"},    {"know", "known"},   {"drive", "driven"},
      {"break", "broken"},     {"draw", "drawn"}, {"hide", "hidden"}, {"steal", "stolen"}, {"sing", "sung"},
      {"choose", "chosen"},    {"give", "given"}, {"run", "run"},     {"swim", "swum"},    {"fall", "fallen"},
      {"forget", "forgotten"}, {"wear", "worn"},  {"wake", "woken"},  {"do", "done"}};
  return bend(verb, [](std::string_view word) -> std::string {
    if (const auto irregular = kParticiple.find(word); irregular != kParticiple.end())
      return std::string(irregular->second);
    return past(word);
  });
}

std::string progressive(std::string_view verb) {
  return bend(verb, [](std::string_view word) -> std::string {
    std::string result(word);
    if (word.ends_with('e') && !word.ends_with("ee") && word != "be") result.pop_back();
    if (doubles(word)) result += word.back();
    return result += "ing";
  });
}

std::string comparative(std::string_view adjective, std::string_view comparative) {
  return comparative.empty() ? "more " + std::string(adjective) : std::string(comparative);
}

std::string superlative(std::string_view adjective, std::string_view comparative) {
  if (comparative.empty()) return "most " + std::string(adjective);
  if (comparative == "better") return "best";
  std::string word(comparative);
  return word.replace(word.size() - 1, 1, "st");
}

}  // namespace attend::phrases::english
