// The patterns of sentences, one function per pattern, and what they share. grammar.cpp defines how often each is used.
#pragma once
#include "attend/data/phrases/clause.h"

namespace attend::phrases {

/// A random small thing in a house.
NounPhrase something_small(Dice& dice, const NounOptions& options);
/// A random definite noun phrase that an adjective can describe.
NounPhrase something_known(Dice& dice, Kinds kinds = ~(kPerson | kMeal));
/// An adjective that agrees with the subject.
Text adjective_of(const Subject& subject, const Adjective& adjective);
/// A clause with a random adjective: è molto interessante, is very interesting.
Clause is_so(Dice& dice, const Subject& subject, Kinds kinds, Tense tense = Tense::present);

// statements.cpp
Text describes(Dice& dice);
Text tells(Dice& dice);
Text feels(Dice& dice);
Text needs(Dice& dice);
Text owns(Dice& dice);
Text tells_age(Dice& dice);
Text tells_profession(Dice& dice);
Text there_is(Dice& dice);
Text there_is_none(Dice& dice);
Text lies_there(Dice& dice);
Text likes(Dice& dice);
Text compares(Dice& dice);
Text praises(Dice& dice);
Text relates(Dice& dice);
Text has_done_for_long(Dice& dice);
Text was_born(Dice& dice);
Text lives(Dice& dice);
Text tells_departure(Dice& dice);
Text tells_weather(Dice& dice);

// compounds.cpp
Text does_both(Dice& dice);
Text joins(Dice& dice);
Text gives_a_reason(Dice& dice);
Text supposes(Dice& dice);
Text tells_when(Dice& dice);
Text tells_meanwhile(Dice& dice);
Text reports(Dice& dice);
Text tells_purpose(Dice& dice);

// questions.cpp
Text asks_yes_or_no(Dice& dice);
Text asks_how_it_is(Dice& dice);
Text asks_where_it_is(Dice& dice);
Text asks_where(Dice& dice);
Text asks_when(Dice& dice);
Text asks_why(Dice& dice);
Text asks_what(Dice& dice);
Text asks_who(Dice& dice);
Text asks_how_many(Dice& dice);
Text asks_whose(Dice& dice);
Text asks_about_somebody(Dice& dice);
Text asks_price(Dice& dice);

// manners.cpp
Text commands(Dice& dice);
Text is_polite(Dice& dice);

}  // namespace attend::phrases
