// Predicates and clauses from the tables of words: what people and animals do, with whom, where and when.
#pragma once
#include <optional>

#include "attend/data/phrases/clause.h"

namespace attend::phrases {

/// A random subject of an action: a dropped pronoun, a name, la ragazza, Marco e Anna.
Subject somebody_acting(Dice& dice);
/// The same, but never a pronoun.
Subject somebody_else(Dice& dice);
/// A random subject for a question: never the first person.
Subject somebody_asked_about(Dice& dice);

/// Which forms some_action() may choose.
struct ActionOptions {
  Tense tense = Tense::present;
  bool negatable = true;
  bool modal = true;
  bool when = true;      ///< may add a time
  bool asked = false;    ///< inside a question
  bool pronouns = true;  ///< may use it and them for things that were not named before
};

/// A random clause with this subject.
Clause some_action(Dice& dice, const Subject& subject, const ActionOptions& options = {});
/// A random state: is hungry, is tired, is in a hurry. The tense is present or imperfect.
Clause some_state(Dice& dice, const Subject& subject, Tense tense = Tense::present);

/// A random verb with an object. The object is never the subject itself.
Predicate some_transitive(Dice& dice, const Subject& subject, Tense tense, bool negative);
Predicate predicate_of(const Transitive& verb, const NounPhrase& object);
Predicate predicate_of(const Intransitive& verb);
const Transitive& verb_with_object(Dice& dice, Kinds kinds, unsigned unwanted_use);
/// The verb with this infinitive, which must exist.
const Transitive& transitive_named(std::string_view italian);
/// Replaces the object by a pronoun: lo, la, li, le.
Predicate with_pronoun_for(Predicate predicate, const NounPhrase& object);

/// A random verb of motion with its destination: andare, tornare, restare …
Predicate some_motion(Dice& dice, Tense tense);

/// A random time that fits the tense.
Text some_time(Dice& dice, Tense tense);
/// A random hour: alle otto, at eight.
Text some_hour(Dice& dice);
/// A random place: in giardino, in the garden.
Text some_place(Dice& dice);
/// A random town or country: a Roma, in Italia.
Text some_town_or_country(Dice& dice);
/// A random companion, never the subject: con Anna, with Anna.
Text some_company(Dice& dice, const Subject& subject);
/// A random position: sul tavolo, nella borsa; for large things and for people, davanti alla chiesa.
Text some_spot(Dice& dice, bool small, Kinds around = kLandmark);

/// A random tense; common tenses are more likely.
Tense some_tense(Dice& dice);

/// Makes a sentence: a capital letter at the beginning and a punctuation mark at the end, in both languages.
Text finished(Text text, std::string_view mark = ".");
/// A random action as a statement, with the time at the beginning or at the end.
Text told(Dice& dice, const Subject& subject, const ActionOptions& options);

}  // namespace attend::phrases
