// Predicates and clauses from the tables of words: what people and animals do, with whom, where and when.
#pragma once
#include <optional>

#include "attend/data/phrases/clause.h"

namespace attend::phrases {

/// Somebody who does something: a dropped pronoun, a name, la ragazza, Marco e Anna.
Subject somebody_acting(Dice& dice);
/// The same, but never a pronoun.
Subject somebody_else(Dice& dice);
/// Of whom one asks: not oneself.
Subject somebody_asked_about(Dice& dice);

/// How an action may be told.
struct ActionOptions {
  Tense tense = Tense::present;
  bool negatable = true;
  bool modal = true;
  bool when = true;      ///< may say when
  bool asked = false;    ///< inside a question
  bool pronouns = true;  ///< may say it and them of what was not named before
};

/// The subject does one thing or another.
Clause some_action(Dice& dice, const Subject& subject, const ActionOptions& options = {});
/// A state: is hungry, is tired, is in a hurry. Present or imperfect.
Clause some_state(Dice& dice, const Subject& subject, Tense tense = Tense::present);

/// A verb and its object. The object is not the subject itself.
Predicate some_transitive(Dice& dice, const Subject& subject, Tense tense, bool negative);
Predicate predicate_of(const Transitive& verb, const NounPhrase& object);
Predicate predicate_of(const Intransitive& verb);
const Transitive& verb_with_object(Dice& dice, Kinds kinds, unsigned unwanted_use);
/// The verb by its infinitive and English.
const Transitive& transitive_named(std::string_view italian);
/// Puts lo, la, li, le in the place of the object.
Predicate with_pronoun_for(Predicate predicate, const NounPhrase& object);

/// andare, tornare, restare …, with where to.
Predicate some_motion(Dice& dice, Tense tense);

/// When: fitting to the tense.
Text some_time(Dice& dice, Tense tense);
/// alle otto, at eight.
Text some_hour(Dice& dice);
/// in giardino, in the garden.
Text some_place(Dice& dice);
/// a Roma, in Italia.
Text some_town_or_country(Dice& dice);
/// con Anna, with Anna: somebody other than the subject.
Text some_company(Dice& dice, const Subject& subject);
/// sul tavolo, nella borsa; or, of what is big or alive, davanti alla chiesa.
Text some_spot(Dice& dice, bool small, Kinds around = kLandmark);

/// present, past, future …, as often as people use them.
Tense some_tense(Dice& dice);

/// A sentence: first letters in capitals, and a mark at the end.
Text finished(Text text, std::string_view mark = ".");
/// What happens, told with the time in front or at the end.
Text told(Dice& dice, const Subject& subject, const ActionOptions& options);

}  // namespace attend::phrases
