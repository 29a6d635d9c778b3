// The sentences of the phrase book: some thirty patterns, each in both languages. Every Italian sentence has one
// correct translation: ambiguous forms (suo, gli, a verb in the third person without a subject) are made clear or left
// out.
#pragma once
#include <span>

#include "attend/data/phrases/clause.h"

namespace attend::phrases {

/// A random sentence.
Text some_sentence(Dice& dice);

/// Fixed expressions: Buongiorno! Good morning!
std::span<const Translated> formulas();

}  // namespace attend::phrases
