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
  std::string italian;  ///< empty: the verb's ending tells who
  std::string english;
  std::string pronoun;  ///< English, when it is spoken of again: she
  Form form = kIo;
  Gender gender = Gender::masculine;
};
Subject subject_of(const NounPhrase& phrase);
/// io, tu, noi, voi, loro (mostly unsaid), lui and lei (always said, as the verb does not tell them apart).
Subject some_pronoun(Dice& dice);
/// The same one again, unsaid in Italian, a pronoun in English.
Subject again(const Subject& subject);

/// What is said of the subject. English verbs may be phrases: "wait for", "be hungry".
struct Predicate {
  std::string italian;  ///< infinitive
  std::string english;
  Text object;                  ///< behind the verb, with preposition
  std::string pronoun;          ///< mi, lo, li before the verb, at the end of an infinitive
  std::string english_pronoun;  ///< me, it, them
  Gender pronoun_gender = Gender::masculine;
  Number pronoun_number = Number::singular;
  bool reflexive = false;
  bool lasting = false;  ///< a state: nothing that happens every morning
};

enum class Tense : std::uint8_t {
  present,
  progressive,
  past,       ///< passato prossimo, English past; with "never" the present perfect
  imperfect,  ///< of states: English past
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
  Text adverb = {};         ///< spesso, often: behind the Italian verb, before the English one
  Text circumstances = {};  ///< at the end: where, with whom, when
};

Text statement(const Clause& clause);
/// Without a subject, to follow another of the same subject: "and eats it".
Text continuation(const Clause& clause);
/// A question, with what is asked for in front: "dove", "where"; or nothing for yes or no. With `inverted` the Italian
/// subject stands behind the verb: Dove lavora Marco?
Text question(const Clause& clause, const Text& asked = {}, bool inverted = false);
/// leggerlo, read it.
Text infinitive(const Predicate& predicate, Form form);

/// am, is, are; was, were.
std::string be(const Subject& subject, bool past = false);

}  // namespace attend::phrases
