// Noun phrases in both languages: a noun with determiner, adjectives and possessor.
#pragma once
#include <string>

#include "attend/data/phrases/dice.h"
#include "attend/data/phrases/words.h"

namespace attend::phrases {

struct NounPhrase {
  std::string article;  ///< il, lo, l', i, gli, la, le, which merge with prepositions; may be empty
  std::string rest;
  std::string english;
  Gender gender = Gender::masculine;
  Number number = Number::singular;
  Kinds kinds = 0;

  std::string italian() const { return italian::join(article, rest); }
  std::string behind(std::string_view preposition) const {
    return italian::with_preposition(preposition, article, rest);
  }
  bool is_plural() const { return number == Number::plural; }
  bool is_person() const { return (kinds & kPerson) != 0; }
};

/// Which forms some_noun() may choose.
struct NounOptions {
  bool counted = false;     ///< three apples
  bool indefinite = true;   ///< an apple, some apples, bread
  bool only_known = false;  ///< with a definite article or a possessive
  bool plural = true;
  std::size_t adjective = 35;  ///< probability of an adjective, in percent
};

/// A random noun phrase of one of these kinds.
NounPhrase some_noun(Dice& dice, Kinds kinds, const NounOptions& options = {});
/// This noun with the definite article only.
NounPhrase the(const Noun& noun, Number number = Number::singular);
/// A random noun of one of these kinds.
const Noun& noun_of(Dice& dice, Kinds kinds);
/// The noun by its Italian name, which must exist.
const Noun& noun_named(std::string_view italian);

/// A random person: a name, mia madre, la ragazza.
NounPhrase somebody(Dice& dice, const NounOptions& options = {});
NounPhrase somebody_named(Dice& dice);
/// A random relative: mia sorella, i miei cugini.
NounPhrase some_relative(Dice& dice, bool plural = true);
/// Both, joined by "and": Marco e Anna.
NounPhrase both(const NounPhrase& first, const NounPhrase& second);

/// A random countable thing with its owner: la macchina nuova del dottore, the doctor's new car.
NounPhrase owned(Dice& dice, Kinds kinds, std::size_t adjective = 30);
/// A random amount of food or drink: un bicchiere di vino, due tazze di tè.
NounPhrase portion(Dice& dice);

/// A random adjective that fits these kinds.
const Adjective& adjective_for(Dice& dice, Kinds kinds, bool gradable = false);
bool has_adjective(Kinds kinds);

}  // namespace attend::phrases
