// Patterns of sentences with two clauses.
#include <algorithm>
#include <array>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"
#include "attend/data/phrases/patterns.h"

namespace attend::phrases {
namespace {

/// A feeling, and an action that follows from it.
struct Consequence {
  std::string_view feeling, english;  // a noun for avere (fame), or an adjective that agrees
  bool with_avere;
  std::string_view verb;  // has an object of these kinds; without kinds, it has none
  Kinds objects = 0;
  std::string_view place = {};  // follows the verb: al ristorante, a casa
  bool denied = false;          // the action is negated
};
constexpr Consequence kConsequences[] = {
    {"fame", "hungry", true, "mangiare", kFood | kDish},
    {"fame", "hungry", true, "comprare", kFood | kDish},
    {"fame", "hungry", true, "cucinare", kCooked},
    {"fame", "hungry", true, "andare", 0, "al ristorante"},
    {"sete", "thirsty", true, "bere", kDrink},
    {"sete", "thirsty", true, "comprare", kDrink},
    {"sonno", "sleepy", true, "dormire"},
    {"sonno", "sleepy", true, "tornare", 0, "a casa"},
    {"sonno", "sleepy", true, "leggere", kReading, {}, true},
    {"freddo", "cold", true, "indossare", kClothing},
    {"freddo", "cold", true, "restare", 0, "a casa"},
    {"caldo", "hot", true, "nuotare"},
    {"caldo", "hot", true, "andare", 0, "al mare"},
    {"caldo", "hot", true, "indossare", kClothing, {}, true},
    {"paura", "afraid", true, "accendere", kMachine},
    {"paura", "afraid", true, "chiamare", kPerson},
    {"paura", "afraid", true, "entrare", kInside, {}, true},
    {"fretta", "in a hurry", true, "correre"},
    {"fretta", "in a hurry", true, "prendere", kTransport},
    {"fretta", "in a hurry", true, "aspettare", kTransport, {}, true},
    {"stanco", "tired", false, "riposare"},
    {"stanco", "tired", false, "pulire", kRoom, {}, true},
    {"stanco", "tired", false, "studiare", 0, {}, true},
    {"stanco", "tired", false, "restare", 0, "in albergo"},
    {"malato", "sick", false, "lavorare", 0, {}, true},
    {"malato", "sick", false, "telefonare", kPerson},
    {"malato", "sick", false, "andare", 0, "all'ospedale"},
    {"felice", "happy", false, "cantare", kTune},
    {"felice", "happy", false, "ballare"},
    {"felice", "happy", false, "invitare", kPerson},
    {"triste", "sad", false, "piangere"},
    {"triste", "sad", false, "scrivere", kWriting},
    {"triste", "sad", false, "ascoltare", kTune},
    {"ricco", "rich", false, "comprare", kVehicle | kInstrument | kFurniture},
    {"timido", "shy", false, "salutare", kPerson, {}, true},
    {"timido", "shy", false, "parlare", kPerson, {}, true},
    {"arrabbiato", "angry", false, "rompere", kTableware},
    {"arrabbiato", "angry", false, "rispondere", kAsking, {}, true},
    {"curioso", "curious", false, "aprire", kOpening},
    {"curioso", "curious", false, "leggere", kReading},
    {"gentile", "kind", false, "aiutare", kPerson},
};

Clause cause_of(const Consequence& consequence, const Subject& subject, Tense tense) {
  const std::string feeling(consequence.feeling);
  return {subject,
          {consequence.with_avere ? "avere" : "essere",
           "be " + std::string(consequence.english),
           {consequence.with_avere ? feeling : italian::agree(feeling, subject.gender, number_of(subject.form)), ""},
           "",
           ""},
          tense};
}

Clause effect_of(Dice& dice, const Consequence& consequence, const Subject& subject, Tense tense) {
  Clause clause{subject, {}, tense};
  if (consequence.denied) clause.polarity = Polarity::no;
  if (!consequence.place.empty()) {
    do clause.predicate = some_motion(dice, tense);
    while (clause.predicate.italian != consequence.verb || clause.predicate.object.italian != consequence.place);
  } else if (consequence.objects == 0) {
    clause.predicate = predicate_of(*std::ranges::find(intransitives(), consequence.verb, &Intransitive::italian));
  } else {
    const bool person = (consequence.objects & kPerson) != 0;
    const NounOptions options{.indefinite = !consequence.denied && !person};
    NounPhrase object = person ? somebody(dice, options) : some_noun(dice, consequence.objects, options);
    while (person && subject.english.find(object.english) != std::string::npos) object = somebody(dice, options);
    clause.predicate = predicate_of(transitive_named(consequence.verb), object);
  }
  return clause;
}

}  // namespace

/// Two actions on the same object, which is a pronoun in the second one.
Text does_both(Dice& dice) {
  struct Sequence {
    std::string_view first, second;
    Kinds objects;
    bool but_not = false;
  };
  static constexpr Sequence kSequences[] = {{"comprare", "mangiare", kFood | kDish},
                                            {"comprare", "bere", kDrink},
                                            {"comprare", "leggere", kPress},
                                            {"comprare", "indossare", kClothing},
                                            {"cercare", "trovare", kThing, true},
                                            {"cercare", "trovare", kClothing, true},
                                            {"aprire", "chiudere", kOpening},
                                            {"lavare", "indossare", kClothing},
                                            {"scegliere", "comprare", kClothing | kPress},
                                            {"accendere", "spegnere", kMachine},
                                            {"rompere", "riparare", kGadget},
                                            {"vedere", "salutare", kPerson},
                                            {"incontrare", "aiutare", kPerson},
                                            {"cucinare", "mangiare", kCooked},
                                            {"prendere", "nascondere", kThing},
                                            {"perdere", "trovare", kThing},
                                            {"trovare", "vendere", kThing},
                                            {"incontrare", "invitare", kPerson},
                                            {"guardare", "comprare", kClothing}};
  const Sequence& sequence = dice.pick(kSequences);
  const Subject subject = dice.percent(50) ? some_pronoun(dice) : somebody_else(dice);
  NounPhrase object =
      sequence.objects == kPerson ? somebody(dice) : some_noun(dice, sequence.objects, {.counted = true});
  while (subject.english.find(object.english) != std::string::npos) object = somebody(dice);
  const Tense tense = dice.pick({Tense::past, Tense::past, Tense::present, Tense::future});
  const auto verb = [](std::string_view name) -> const Transitive& {
    const auto& table = transitives();
    return *std::ranges::find_if(table, [&](const Transitive& v) {
      return v.italian == name && (name != "guardare" || v.english == "look at");
    });
  };
  Clause first{subject, predicate_of(verb(sequence.first), object), tense};
  Clause second{subject, with_pronoun_for(predicate_of(verb(sequence.second), object), object), tense};
  Text text = statement(first);
  if (tense != Tense::present && dice.percent(40)) text = some_time(dice, tense) + text;
  if (!sequence.but_not) return finished(text + Text{"e", "and"} + continuation(second));
  second.polarity = Polarity::no;
  second.subject = again(subject);
  return finished(
      {text.italian + ", ma " + statement(second).italian, text.english + ", but " + statement(second).english});
}

Text joins(Dice& dice) {
  const Tense tense = dice.pick({Tense::present, Tense::past, Tense::future});
  const ActionOptions options{.tense = tense, .modal = false, .when = false, .pronouns = false};
  const Subject first = somebody_else(dice);
  Subject second = somebody_else(dice);
  while (second.english == first.english) second = somebody_else(dice);
  const Text one = told(dice, first, options), two = told(dice, second, options);
  if (dice.percent(60)) return finished(one + Text{"e", "and"} + two);
  return finished({one.italian + ", ma " + two.italian, one.english + ", but " + two.english});
}

Text gives_a_reason(Dice& dice) {
  const bool before = dice.percent(50);
  const Subject subject = dice.percent(45) ? some_pronoun(dice) : somebody_else(dice);
  const Consequence& consequence = dice.pick(kConsequences);
  Clause effect = effect_of(dice, consequence, subject, before ? Tense::past : Tense::present);
  const bool modal = !before && !consequence.denied && dice.percent(35);
  if (modal) effect.modal = dice.pick({Modal::want, Modal::would_like, Modal::must});
  const Text cause = statement(cause_of(consequence, again(subject), before ? Tense::imperfect : Tense::present));
  const Text when = before && dice.percent(30) ? some_time(dice, Tense::past) : Text{};
  return finished(when + statement(effect) + Text{"perché", "because"} + cause);
}

Text supposes(Dice& dice) {
  const Subject subject = dice.percent(75) ? some_pronoun(dice) : somebody_else(dice);
  const Consequence* consequence = &dice.pick(kConsequences);
  while (consequence->denied || consequence->feeling == "gentile") consequence = &dice.pick(kConsequences);
  const Text cause = statement(cause_of(*consequence, subject, Tense::present));
  Clause effect = effect_of(dice, *consequence, again(subject), Tense::present);
  effect.modal = dice.pick({Modal::can, Modal::can, Modal::must});
  const Text result = statement(effect);
  return finished({"se " + cause.italian + ", " + result.italian, "if " + cause.english + ", " + result.english});
}

Text tells_when(Dice& dice) {
  const Subject subject = dice.percent(45) ? some_pronoun(dice) : somebody_else(dice);
  const Tense tense = dice.pick({Tense::present, Tense::past});
  Clause first{subject, some_motion(dice, tense), tense};
  while (first.predicate.italian == "andare" || first.predicate.italian == "restare")
    first.predicate = some_motion(dice, tense);
  Clause second{again(subject), {}, tense};  // without a place, since it would differ from the first one
  do second.predicate = some_transitive(dice, subject, tense, false);
  while (second.predicate.lasting || second.predicate.object.empty());
  const Text then = statement(second), when = statement(first);
  return finished({"quando " + when.italian + ", " + then.italian, "when " + when.english + ", " + then.english});
}

Text tells_meanwhile(Dice& dice) {
  const Subject first = somebody_else(dice);
  Subject second = somebody_else(dice);
  while (second.english == first.english) second = somebody_else(dice);
  const ActionOptions options{
      .tense = Tense::progressive, .negatable = false, .modal = false, .when = false, .pronouns = false};
  const Text one = told(dice, first, options), two = told(dice, second, options);
  return finished({"mentre " + one.italian + ", " + two.italian, "while " + one.english + ", " + two.english});
}

Text reports(Dice& dice) {
  static constexpr Translated kSay[] = {{"dire", "say"}, {"sapere", "know"}};
  const Translated& verb = dice.pick(kSay);
  Clause main{somebody_acting(dice), {std::string(verb.italian), std::string(verb.english), {}, "", ""}};
  while (main.subject.pronoun == "it") main.subject = somebody_acting(dice);
  Subject other = somebody_else(dice);
  while (other.english == main.subject.english) other = somebody_else(dice);
  const Text said =
      dice.percent(75) ? told(dice, other, {.tense = some_tense(dice)}) : statement(some_state(dice, other));
  return finished(statement(main) + Text{"che", "that"} + said);
}

Text tells_purpose(Dice& dice) {
  static constexpr std::array<std::string_view, 13> kPurposes = {
      "comprare", "vendere", "vedere",   "incontrare", "aiutare",   "leggere",  "mangiare",
      "bere",     "cercare", "prendere", "salutare",   "aspettare", "disegnare"};
  const Subject subject = dice.percent(50) ? some_pronoun(dice) : somebody_else(dice);
  const Tense tense = dice.pick({Tense::present, Tense::past, Tense::future, Tense::progressive});
  Predicate motion = some_motion(dice, tense);
  while (motion.italian != "andare" && motion.italian != "tornare") motion = some_motion(dice, tense);
  const Transitive& verb = transitive_named(dice.pick(kPurposes));
  const bool person = verb.objects == kPerson || ((verb.objects & kPerson) && dice.percent(60));
  NounPhrase object = person ? somebody(dice) : some_noun(dice, verb.objects & ~kPerson, {.counted = true});
  while (person && subject.english.find(object.english) != std::string::npos) object = somebody(dice);
  Text text = statement({subject, motion, tense});
  if (tense != Tense::progressive && dice.percent(40)) text = some_time(dice, tense) + text;
  return finished(text + Text{"per", "to"} + infinitive(predicate_of(verb, object), subject.form));
}

}  // namespace attend::phrases
