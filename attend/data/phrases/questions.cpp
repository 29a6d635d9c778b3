// Patterns of questions.
#include <algorithm>
#include <array>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"
#include "attend/data/phrases/patterns.h"

namespace attend::phrases {

Text asks_yes_or_no(Dice& dice) {
  const Tense tense = some_tense(dice);
  Clause clause = some_action(dice, somebody_asked_about(dice), {.tense = tense, .negatable = false, .asked = true});
  const bool timeless = clause.predicate.lasting || clause.modal != Modal::none;
  if (!timeless && dice.percent(35)) clause.circumstances = clause.circumstances + some_time(dice, tense);
  return finished(question(clause), "?");
}

Text asks_how_it_is(Dice& dice) {
  const NounPhrase thing = something_known(dice);
  Clause clause = is_so(dice, subject_of(thing), thing.kinds);
  clause.polarity = Polarity::yes;
  return finished(question(clause), "?");
}

Text asks_where_it_is(Dice& dice) {
  const NounPhrase thing =
      dice.percent(70) ? something_small(dice, {.indefinite = false}) : somebody(dice, {.indefinite = false});
  const bool plural = thing.is_plural(), past = dice.percent(25);
  return finished(Text{plural ? (past ? "dov'erano" : "dove sono") : (past ? "dov'era" : "dov'è"),
                       std::string("where ") + (plural ? (past ? "were" : "are") : (past ? "was" : "is"))} +
                      text_of(thing),
                  "?");
}

Text asks_where(Dice& dice) {
  const Tense tense = some_tense(dice);
  Clause clause{somebody_asked_about(dice), {"andare", "go", {}, "", ""}, tense};
  if (dice.percent(55)) {
    const Intransitive* verb = &dice.pick(intransitives());
    while (verb->use & (kNowhere | kReflexive)) verb = &dice.pick(intransitives());
    clause.predicate = predicate_of(*verb);
  }
  if (dice.percent(40)) clause.circumstances = some_time(dice, tense);
  return finished(question(clause, {"dove", "where"}, true), "?");
}

Text asks_when(Dice& dice) {
  static constexpr Translated kComing[] = {
      {"arrivare", "arrive"}, {"partire", "leave"}, {"tornare", "come back"}, {"uscire", "go out"}};
  const Tense tense = dice.pick({Tense::past, Tense::future, Tense::present});
  Clause clause{somebody_asked_about(dice), {}, tense};
  if (clause.subject.italian.empty()) {
    clause.predicate =
        dice.percent(50) ? some_motion(dice, tense) : some_transitive(dice, clause.subject, Tense::past, true);
    return finished(question(clause, {"quando", "when"}), "?");
  }
  const Translated& verb = dice.pick(kComing);
  clause.predicate = {std::string(verb.italian), std::string(verb.english), {}, "", ""};
  return finished(question(clause, {"quando", "when"}, true), "?");
}

Text asks_why(Dice& dice) {
  const Tense tense = dice.pick({Tense::past, Tense::progressive, Tense::progressive});
  const ActionOptions options{.tense = tense, .negatable = false, .modal = false, .asked = true};
  return finished(question(some_action(dice, somebody_asked_about(dice), options), {"perché", "why"}), "?");
}

Text asks_what(Dice& dice) {
  const Tense tense = dice.pick({Tense::past, Tense::past, Tense::progressive, Tense::present, Tense::future});
  const unsigned unwanted = kLasting | kNoPronoun | (tense == Tense::progressive ? unsigned{kSudden} : 0);
  const Transitive* verb = &dice.pick(transitives());
  while ((verb->use & unwanted) || verb->objects == kPerson) verb = &dice.pick(transitives());
  Clause clause{somebody_asked_about(dice), predicate_of(*verb, {}), tense};
  if (tense == Tense::present) clause.modal = dice.pick({Modal::want, Modal::would_like, Modal::must});
  if (tense != Tense::present && dice.percent(50)) clause.circumstances = some_time(dice, tense);
  return finished(question(clause, {"cosa", "what"}, true), "?");
}

Text asks_who(Dice& dice) {
  const Subject who{"chi", "who", "he", kLui, Gender::masculine};
  const Tense tense = dice.pick({Tense::past, Tense::past, Tense::progressive, Tense::future});
  const unsigned unwanted = kLasting | (tense == Tense::progressive ? unsigned{kSudden} : 0);
  // The object is always a thing: Chi ha visto Marco? could also mean whom Marco saw.
  const Transitive* verb = &verb_with_object(dice, ~Kinds{0}, unwanted);
  while (verb->objects & kPerson) verb = &verb_with_object(dice, ~Kinds{0}, unwanted);
  const NounPhrase object = some_noun(dice, verb->objects, {.indefinite = false});
  const bool pronoun = !(verb->use & kNoPronoun) && dice.percent(15);
  const Predicate predicate = predicate_of(*verb, object);
  return finished(statement({who, pronoun ? with_pronoun_for(predicate, object) : predicate, tense}), "?");
}

Text asks_how_many(Dice& dice) {
  static constexpr std::array<std::string_view, 8> kVerbs = {"comprare", "mangiare", "leggere", "vedere",
                                                             "vendere",  "scrivere", "trovare", "bere"};
  const Transitive& verb = transitive_named(dice.pick(kVerbs));
  const Noun& noun = noun_of(dice, verb.objects & ~kPerson);
  const Number number = noun.countable() ? Number::plural : Number::singular;
  const NounPhrase counted = the(noun, number);
  const Tense tense = dice.pick({Tense::past, Tense::past, Tense::future, Tense::present});
  Clause clause{somebody_asked_about(dice), predicate_of(verb, counted), tense};
  clause.predicate.object = {};
  if (tense != Tense::present ? dice.percent(40) : true) clause.circumstances = some_time(dice, tense);
  const Text asked{italian::agree("quanto", noun.gender, number) + ' ' + counted.rest,
                   (number == Number::plural ? "how many " : "how much ") + counted.english.substr(4)};
  return finished(question(clause, asked, true), "?");
}

Text asks_whose(Dice& dice) {
  const Noun& noun = noun_of(dice, kThing | kClothing | kVehicle | kAnimal);
  const Number number = dice.percent(35) ? Number::plural : Number::singular;
  const NounPhrase thing = the(noun, number);
  const bool plural = number == Number::plural, near = dice.percent(60);
  const std::string that =
      near ? (!plural && thing.article == "l'" ? "quest'" : italian::agree("questo", noun.gender, number))
           : italian::like_article("que", noun.gender, number, thing.rest);
  return finished({std::string("di chi ") + (plural ? "sono " : "è ") + italian::join(that, thing.rest),
                   "whose " + thing.english.substr(4) + (plural ? " are " : " is ") +
                       (plural ? (near ? "these" : "those") : (near ? "this" : "that"))},
                  "?");
}

Text asks_about_somebody(Dice& dice) {
  const NounPhrase who =
      dice.percent(40) ? somebody_named(dice) : somebody(dice, {.indefinite = false, .plural = false});
  if (dice.percent(50)) return finished({"quanti anni ha " + who.italian(), "how old is " + who.english}, "?");
  NounPhrase other = some_relative(dice, false);
  if (dice.percent(50)) other = some_noun(dice, kPerson | kAnimal, {.indefinite = false, .plural = false});
  return finished(
      {"come si chiama " + other.italian(), "what is " + english::possessive(other.english, false) + " name"}, "?");
}

Text asks_price(Dice& dice) {
  NounPhrase thing = something_known(dice, kFood | kClothing | kThing | kFurniture | kPress | kVehicle);
  const bool plural = thing.is_plural();
  if (dice.percent(40))
    return finished({std::string("quanto ") + (plural ? "costano " : "costa ") + thing.italian(),
                     std::string("how much ") + (plural ? "do " : "does ") + thing.english + " cost"},
                    "?");
  const Translated& price = dice.pick(numbers());
  return finished(text_of(thing) +
                  Text{std::string(plural ? "costano " : "costa ") + std::string(price.italian) + " euro",
                       std::string(plural ? "cost " : "costs ") + std::string(price.english) + " euros"});
}

}  // namespace attend::phrases
