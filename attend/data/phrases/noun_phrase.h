// Noun phrases in both languages: a noun with determiner, adjectives and possessor.
#pragma once
#include <string>

#include "attend/data/phrases/dice.h"
#include "attend/data/phrases/words.h"

namespace attend::phrases {

struct NounPhrase {
  std::string article;  ///< il, lo, l', i, gli, la, le, which prepositions swallow; or none
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

/// What a noun phrase may be.
struct NounOptions {
  bool counted = false;     ///< three apples
  bool indefinite = true;   ///< an apple, some apples, bread
  bool only_known = false;  ///< with a definite article or a possessive
  bool plural = true;
  std::size_t adjective = 35;  ///< percent that have one
};

/// Something of one of these kinds.
NounPhrase some_noun(Dice& dice, Kinds kinds, const NounOptions& options = {});
/// Of exactly this noun, with a definite article and nothing else.
NounPhrase the(const Noun& noun, Number number = Number::singular);
/// A noun of these kinds.
const Noun& noun_of(Dice& dice, Kinds kinds);
/// The noun by its Italian name, which must exist.
const Noun& noun_named(std::string_view italian);

/// Somebody: a name, mia madre, la ragazza.
NounPhrase somebody(Dice& dice, const NounOptions& options = {});
NounPhrase somebody_named(Dice& dice);
/// mia sorella, i miei cugini.
NounPhrase some_relative(Dice& dice, bool plural = true);
/// Marco e Anna.
NounPhrase both(const NounPhrase& first, const NounPhrase& second);

/// Something countable that somebody owns: la macchina nuova del dottore, the doctor's new car.
NounPhrase owned(Dice& dice, Kinds kinds, std::size_t adjective = 30);
/// un bicchiere di vino, due tazze di tè.
NounPhrase portion(Dice& dice);

/// An adjective that fits.
const Adjective& adjective_for(Dice& dice, Kinds kinds, bool gradable = false);
bool has_adjective(Kinds kinds);

}  // namespace attend::phrases
