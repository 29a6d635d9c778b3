// The sentences of the phrase book: some thirty patterns over the words, each in both languages at once. Every Italian
// sentence has one right translation: where Italian leaves open who is meant (suo, gli, a verb in the third person
// without subject), the grammar says it or leaves it out.
#pragma once
#include <span>

#include "attend/data/phrases/clause.h"

namespace attend::phrases {

/// One sentence of many millions.
Text some_sentence(Dice& dice);

/// What one learns by heart: Buongiorno! Good morning!
std::span<const Translated> formulas();

}  // namespace attend::phrases
