#include "attend/data/phrases/italian.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace attend::phrases::italian {
namespace {

bool begins_with_any(std::string_view word, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view b) { return word.starts_with(b); });
}

bool begins_with_vowel(std::string_view word) {
  return begins_with_any(word, {"a", "e", "i", "o", "u", "h", "è", "A", "E", "I", "O", "U"});
}

/// zio, studente, psicologo, gnomo: these take lo and gli.
bool begins_heavily(std::string_view word) {
  if (begins_with_any(word, {"z", "gn", "ps", "pn", "x", "y"})) return true;
  return word.size() > 1 && word[0] == 's' && !begins_with_vowel(word.substr(1));
}

std::string_view stem_of(std::string_view verb) { return verb.substr(0, verb.size() - 3); }
/// The vowel of its conjugation: parlare, vedere, dormire.
char vowel_of(std::string_view verb) { return verb[verb.size() - 3]; }

/// Joins stem and ending so that the sound of the stem is kept: cerc + i -> cerchi, mangi + i -> mangi,
/// mangi + erò -> mangerò; studi + i -> studi, but studi + erò -> studierò.
std::string conjugated(std::string_view stem, std::string_view ending, char conjugation) {
  std::string word(stem);
  const bool front = ending.starts_with('i') || ending.starts_with('e');
  if (conjugation == 'a' && front) {
    if (word.ends_with('c') || word.ends_with('g')) {
      word += 'h';
    } else if (word.ends_with('i')) {
      const bool soft = word.ends_with("ci") || word.ends_with("gi");
      if (ending.starts_with('i') || soft) word.pop_back();
    }
  }
  return word += ending;
}

using Forms = std::array<std::string_view, 6>;

const std::map<std::string_view, Forms> kPresent = {
    {"essere", {"sono", "sei", "è", "siamo", "siete", "sono"}},
    {"avere", {"ho", "hai", "ha", "abbiamo", "avete", "hanno"}},
    {"andare", {"vado", "vai", "va", "andiamo", "andate", "vanno"}},
    {"fare", {"faccio", "fai", "fa", "facciamo", "fate", "fanno"}},
    {"dare", {"do", "dai", "dà", "diamo", "date", "danno"}},
    {"stare", {"sto", "stai", "sta", "stiamo", "state", "stanno"}},
    {"dire", {"dico", "dici", "dice", "diciamo", "dite", "dicono"}},
    {"venire", {"vengo", "vieni", "viene", "veniamo", "venite", "vengono"}},
    {"uscire", {"esco", "esci", "esce", "usciamo", "uscite", "escono"}},
    {"bere", {"bevo", "bevi", "beve", "beviamo", "bevete", "bevono"}},
    {"volere", {"voglio", "vuoi", "vuole", "vogliamo", "volete", "vogliono"}},
    {"potere", {"posso", "puoi", "può", "possiamo", "potete", "possono"}},
    {"dovere", {"devo", "devi", "deve", "dobbiamo", "dovete", "devono"}},
    {"sapere", {"so", "sai", "sa", "sappiamo", "sapete", "sanno"}},
    {"rimanere", {"rimango", "rimani", "rimane", "rimaniamo", "rimanete", "rimangono"}},
    {"scegliere", {"scelgo", "scegli", "sceglie", "scegliamo", "scegliete", "scelgono"}},
    {"spegnere", {"spengo", "spegni", "spegne", "spegniamo", "spegnete", "spengono"}},
    {"sedere", {"siedo", "siedi", "siede", "sediamo", "sedete", "siedono"}},
};

const std::map<std::string_view, std::string_view> kFutureStem = {
    {"essere", "sar"},  {"avere", "avr"},   {"andare", "andr"}, {"fare", "far"},
    {"dare", "dar"},    {"stare", "star"},  {"dire", "dir"},    {"venire", "verr"},
    {"bere", "berr"},   {"volere", "vorr"}, {"potere", "potr"}, {"dovere", "dovr"},
    {"sapere", "sapr"}, {"vedere", "vedr"}, {"vivere", "vivr"}, {"rimanere", "rimarr"},
};

const std::map<std::string_view, std::string_view> kParticiple = {
    {"essere", "stato"},     {"stare", "stato"},          {"fare", "fatto"},       {"dire", "detto"},
    {"venire", "venuto"},    {"bere", "bevuto"},          {"leggere", "letto"},    {"scrivere", "scritto"},
    {"vedere", "visto"},     {"prendere", "preso"},       {"mettere", "messo"},    {"chiudere", "chiuso"},
    {"aprire", "aperto"},    {"perdere", "perso"},        {"rompere", "rotto"},    {"scegliere", "scelto"},
    {"chiedere", "chiesto"}, {"rispondere", "risposto"},  {"rimanere", "rimasto"}, {"vivere", "vissuto"},
    {"correre", "corso"},    {"conoscere", "conosciuto"}, {"nascere", "nato"},     {"offrire", "offerto"},
    {"accendere", "acceso"}, {"spegnere", "spento"},      {"vincere", "vinto"},    {"dipingere", "dipinto"},
    {"ridere", "riso"},      {"sorridere", "sorriso"},    {"piangere", "pianto"},  {"nascondere", "nascosto"},
};

/// Verbs with another stem in the imperfect and the gerund: facevo, facendo.
const std::map<std::string_view, std::string_view> kOldStem = {{"fare", "fac"}, {"dire", "dic"}, {"bere", "bev"}};

/// Verbs in -ire that put -isc- between stem and ending: capisco.
const std::set<std::string_view> kWithIsc = {"finire", "capire", "pulire", "preferire", "costruire"};

const std::set<std::string_view> kWithEssere = {"essere",   "stare",   "andare", "venire",  "tornare",
                                                "arrivare", "partire", "uscire", "entrare", "restare",
                                                "rimanere", "nascere", "cadere", "piacere", "costare"};

}  // namespace

std::string like_article(std::string_view stem, Gender gender, Number number, std::string_view next) {
  const bool elided = begins_with_vowel(next), heavy = begins_heavily(next);
  std::string word(stem);
  if (number == Number::plural) return word += gender == Gender::feminine ? "lle" : elided || heavy ? "gli" : "i";
  if (elided) return word += "ll'";
  return word += gender == Gender::feminine ? "lla" : heavy ? "llo" : "l";
}

std::string definite_article(Gender gender, Number number, std::string_view next) {
  std::string article = like_article("", gender, number, next);  // lla, llo, ll', l: one l too many, or no i
  if (article == "l") return "il";
  return article.starts_with("ll") ? article.substr(1) : article;
}

std::string indefinite_article(Gender gender, std::string_view next) {
  if (gender == Gender::feminine) return begins_with_vowel(next) ? "un'" : "una";
  return begins_heavily(next) ? "uno" : "un";
}

std::string join(std::string_view first, std::string_view next) {
  std::string both(first);
  if (!first.empty() && !next.empty() && !first.ends_with('\'')) both += ' ';
  return both += next;
}

std::string with_preposition(std::string_view preposition, std::string_view article, std::string_view rest) {
  std::string before(preposition);
  const std::size_t space = before.rfind(' ');
  const std::string word = space == std::string::npos ? before : before.substr(space + 1);
  static const std::map<std::string_view, std::string_view> kStems = {
      {"a", "a"}, {"di", "de"}, {"da", "da"}, {"in", "ne"}, {"su", "su"}};
  const auto stem = kStems.find(word);
  if (article.empty() || stem == kStems.end()) return join(join(before, article), rest);
  before.erase(before.size() - word.size());
  std::string joined(stem->second);
  if (article.starts_with('l')) joined += 'l';
  joined += article == "il" ? "l" : article;
  return before + join(joined, rest);
}

std::string plural(std::string_view noun) {
  std::string word(noun);
  if (word.ends_with("io") || word.ends_with("cia") || word.ends_with("gia")) {  // figli, arance, spiagge
    const bool feminine = word.ends_with('a');
    word.resize(word.size() - 2);
    return word += feminine ? "e" : "i";
  }
  if (word.ends_with("ca") || word.ends_with("ga")) return word.replace(word.size() - 1, 1, "he");
  if (word.ends_with("go")) return word.replace(word.size() - 1, 1, "hi");
  if (word.ends_with('o') || word.ends_with('e')) return word.replace(word.size() - 1, 1, "i");
  if (word.ends_with('a')) return word.replace(word.size() - 1, 1, "e");
  return word;  // città, bar
}

std::string agree(std::string_view adjective, Gender gender, Number number) {
  static const std::set<std::string_view> kInvariable = {"blu", "rosa", "marrone"};
  // Usually -co becomes -chi; these words, stressed on the third syllable from the end, have -ci.
  static const std::set<std::string_view> kSoft = {"simpatico", "antipatico", "economico", "magnifico"};
  std::string word(adjective);
  if (kInvariable.contains(adjective)) return word;
  if (word.ends_with('e')) {
    if (number == Number::plural) word.back() = 'i';
    return word;
  }
  const bool hard = word.ends_with("co") || word.ends_with("go"), soft = kSoft.contains(adjective);
  word.pop_back();
  if (number == Number::singular) return word += gender == Gender::feminine ? "a" : "o";
  if (gender == Gender::feminine) return word += hard ? "he" : "e";
  if (word.ends_with('i')) return word;  // vecchio -> vecchi
  return word += hard && !soft ? "hi" : "i";
}

std::string present(std::string_view verb, Form form) {
  if (const auto irregular = kPresent.find(verb); irregular != kPresent.end())
    return std::string(irregular->second[form]);
  static constexpr Forms kAre = {"o", "i", "a", "iamo", "ate", "ano"}, kEre = {"o", "i", "e", "iamo", "ete", "ono"},
                         kIre = {"o", "i", "e", "iamo", "ite", "ono"},
                         kIsc = {"isco", "isci", "isce", "iamo", "ite", "iscono"};
  const char vowel = vowel_of(verb);
  const Forms& endings = vowel == 'a' ? kAre : vowel == 'e' ? kEre : kWithIsc.contains(verb) ? kIsc : kIre;
  return conjugated(stem_of(verb), endings[form], vowel);
}

std::string imperfect(std::string_view verb, Form form) {
  static constexpr Forms kEssere = {"ero", "eri", "era", "eravamo", "eravate", "erano"},
                         kEndings = {"vo", "vi", "va", "vamo", "vate", "vano"};
  if (verb == "essere") return std::string(kEssere[form]);
  const auto old = kOldStem.find(verb);
  std::string word =
      old != kOldStem.end() ? std::string(old->second) + 'e' : std::string(stem_of(verb)) + vowel_of(verb);
  return word += kEndings[form];
}

std::string future(std::string_view verb, Form form) {
  static constexpr Forms kEndings = {"ò", "ai", "à", "emo", "ete", "anno"};
  const auto irregular = kFutureStem.find(verb);
  std::string word = irregular != kFutureStem.end()
                         ? std::string(irregular->second)
                         : conjugated(stem_of(verb), vowel_of(verb) == 'i' ? "ir" : "er", vowel_of(verb));
  return word += kEndings[form];
}

std::string gerund(std::string_view verb) {
  if (const auto old = kOldStem.find(verb); old != kOldStem.end()) return std::string(old->second) + "endo";
  return std::string(stem_of(verb)) + (vowel_of(verb) == 'a' ? "ando" : "endo");
}

std::string imperative(std::string_view verb, Form form) {
  if (form == kTu && vowel_of(verb) == 'a') return present(verb, kLui);
  return present(verb, form);
}

std::string participle(std::string_view verb, Gender gender, Number number) {
  const auto irregular = kParticiple.find(verb);
  const char vowel = vowel_of(verb);
  const std::string word = irregular != kParticiple.end() ? std::string(irregular->second)
                                                          : std::string(stem_of(verb)) + (vowel == 'a'   ? "ato"
                                                                                          : vowel == 'e' ? "uto"
                                                                                                         : "ito");
  return agree(word, gender, number);
}

bool takes_essere(std::string_view verb) { return kWithEssere.contains(verb); }

std::string_view reflexive(Form form) {
  static constexpr Forms kPronouns = {"mi", "ti", "si", "ci", "vi", "si"};
  return kPronouns[form];
}

std::string attach(std::string_view infinitive, std::string_view pronoun) {
  if (pronoun.empty()) return std::string(infinitive);
  return std::string(infinitive.substr(0, infinitive.size() - 1)) + std::string(pronoun);
}

}  // namespace attend::phrases::italian
