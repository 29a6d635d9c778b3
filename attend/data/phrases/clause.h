// A clause in both languages: subject, verb, objects and adverbs, as a statement or a question.
#pragma once
#include <string>
#include <string_view>

#include "attend/data/phrases/noun_phrase.h"

namespace attend::phrases {

/// A piece of text in both languages.
struct Text {
  std::string italian, english;
  bool empty() const { return italian.empty(); }
};
/// Both, with a space between.
Text operator+(const Text& first, const Text& second);
inline Text text_of(const Translated& words) { return {std::string(words.italian), std::string(words.english)}; }
inline Text text_of(const NounPhrase& phrase) { return {phrase.italian(), phrase.english}; }

struct Subject {
  std::string italian;  ///< empty: the pronoun is dropped
  std::string english;
  std::string pronoun;  ///< English pronoun for the next mention: she
  Form form = kIo;
  Gender gender = Gender::masculine;
};
Subject subject_of(const NounPhrase& phrase);
/// A random pronoun: io, tu, noi, voi, loro (mostly dropped in Italian), or lui and lei (never dropped, since the verb
/// has the same form for both).
Subject some_pronoun(Dice& dice);
/// The same subject, mentioned again: dropped in Italian, a pronoun in English.
Subject again(const Subject& subject);

/// The verb and its objects. English verbs may be phrases: "wait for", "be hungry".
struct Predicate {
  std::string italian;  ///< infinitive
  std::string english;
  Text object;                  ///< after the verb, with its preposition
  std::string pronoun;          ///< mi, lo, li: before the verb, or attached to an infinitive
  std::string english_pronoun;  ///< me, it, them
  Gender pronoun_gender = Gender::masculine;
  Number pronoun_number = Number::singular;
  bool reflexive = false;
  bool lasting = false;  ///< a state, which does not combine with times such as every morning
};

enum class Tense : std::uint8_t {
  present,
  progressive,
  past,       ///< passato prossimo, English past; with "never" the present perfect
  imperfect,  ///< for states: English past
  future,
  since,  ///< Italian present (da tre anni), English present perfect (for three years)
};
enum class Polarity : std::uint8_t { yes, no, never, no_longer };
enum class Modal : std::uint8_t { none, want, can, must, would_like };

struct Clause {
  Subject subject;
  Predicate predicate;
  Tense tense = Tense::present;
  Polarity polarity = Polarity::yes;
  Modal modal = Modal::none;
  Text adverb = {};         ///< spesso, often: after the Italian verb, before the English one
  Text circumstances = {};  ///< at the end: place, companion, time
};

Text statement(const Clause& clause);
/// Without a subject, to follow another clause with the same subject: "and eats it".
Text continuation(const Clause& clause);
/// A question that begins with `asked`: "dove", "where"; empty for a yes-no question. With `inverted`, the Italian
/// subject follows the verb: Dove lavora Marco?
Text question(const Clause& clause, const Text& asked = {}, bool inverted = false);
/// The infinitive with its objects: leggerlo, read it.
Text infinitive(const Predicate& predicate, Form form);

/// The form of "be": am, is, are; was, were.
std::string be(const Subject& subject, bool past = false);

}  // namespace attend::phrases
