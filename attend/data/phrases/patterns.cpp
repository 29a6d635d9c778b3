#include "attend/data/phrases/patterns.h"

#include <algorithm>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"

namespace attend::phrases {

NounPhrase something_small(Dice& dice, const NounOptions& options) {
  static constexpr Kinds kBig = kVehicle | kFurniture;
  for (;;) {
    NounPhrase thing = some_noun(dice, kThing | kFood | kPress | kGift, options);
    const bool carried = !(thing.kinds & kBig) && thing.rest.find("biciclett") == std::string::npos;
    if (carried) return thing;
  }
}

NounPhrase something_known(Dice& dice, Kinds kinds) {
  for (;;) {
    NounPhrase thing = dice.percent(20) ? owned(dice, kThing | kVehicle | kClothing, 0)
                                        : some_noun(dice, kinds, {.indefinite = false, .adjective = 0});
    // Without an article, it would mean bread in general.
    const bool known = thing.english != thing.rest && has_adjective(thing.kinds);
    const bool bare = thing.article.empty() && (thing.kinds & (kDish | kDrink)) && !thing.english.starts_with("this");
    if (known && !bare) return thing;
  }
}

Text adjective_of(const Subject& subject, const Adjective& adjective) {
  return {italian::agree(adjective.italian, subject.gender, number_of(subject.form)), std::string(adjective.english)};
}

Clause is_so(Dice& dice, const Subject& subject, Kinds kinds, Tense tense) {
  const Adjective* adjective = &adjective_for(dice, kinds);
  // Avoids sentences such as La casa nuova è nuova.
  while (subject.english.find(adjective->english) != std::string::npos) adjective = &adjective_for(dice, kinds);
  Text said = adjective_of(subject, *adjective);
  if (adjective->gradable && dice.percent(40)) {
    static constexpr Translated kDegrees[] = {
        {"molto", "very"}, {"troppo", "too"}, {"davvero", "really"}, {"abbastanza", "quite"}};
    said = text_of(dice.pick(kDegrees)) + said;
  }
  Clause clause{subject, {"essere", "be " + said.english, {said.italian, ""}, "", ""}, tense};
  if (dice.percent(15)) clause.polarity = Polarity::no;
  return clause;
}

}  // namespace attend::phrases
