#include "attend/data/phrases/actions.h"

#include <algorithm>
#include <array>
#include <vector>

namespace attend::phrases {
namespace {

constexpr Translated kHabits[] = {
    {"ogni giorno", "every day"},     {"ogni mattina", "every morning"}, {"ogni sera", "every evening"},
    {"ogni settimana", "every week"}, {"la domenica", "on Sundays"},     {"il sabato", "on Saturdays"},
    {"il lunedì", "on Mondays"},      {"il venerdì", "on Fridays"},      {"di mattina", "in the morning"},
    {"di sera", "in the evening"},    {"d'estate", "in summer"},         {"d'inverno", "in winter"},
    {"dopo cena", "after dinner"},
};
constexpr Translated kNow[] = {{"adesso", "now"}, {"in questo momento", "at the moment"}};
constexpr Translated kOnceBefore[] = {
    {"ieri", "yesterday"},
    {"ieri", "yesterday"},
    {"ieri sera", "yesterday evening"},
    {"ieri mattina", "yesterday morning"},
    {"stamattina", "this morning"},
    {"la settimana scorsa", "last week"},
    {"l'anno scorso", "last year"},
    {"il mese scorso", "last month"},
    {"lunedì scorso", "last Monday"},
    {"sabato scorso", "last Saturday"},
    {"l'altro ieri", "the day before yesterday"},
};
constexpr Translated kLater[] = {
    {"domani", "tomorrow"},
    {"domani", "tomorrow"},
    {"domani mattina", "tomorrow morning"},
    {"domani sera", "tomorrow evening"},
    {"dopodomani", "the day after tomorrow"},
    {"la settimana prossima", "next week"},
    {"l'anno prossimo", "next year"},
    {"il mese prossimo", "next month"},
    {"lunedì prossimo", "next Monday"},
    {"sabato prossimo", "next Saturday"},
    {"presto", "soon"},
};
constexpr Translated kSpans[] = {{"giorni", "days"}, {"settimane", "weeks"}, {"mesi", "months"}, {"anni", "years"}};
constexpr Translated kHowOften[] = {{"sempre", "always"}, {"spesso", "often"}, {"raramente", "rarely"}};

constexpr Translated kWhereAnimalsAre[] = {
    {"in giardino", "in the garden"},      {"in cucina", "in the kitchen"},
    {"in campagna", "in the countryside"}, {"a casa", "at home"},
    {"sul divano", "on the sofa"},         {"sotto il tavolo", "under the table"}};

Text some_span(Dice& dice) { return text_of(dice.pick(numbers().first(9))) + text_of(dice.pick(kSpans)); }

/// An object pronoun that does not include the subject, for verbs whose object is a person.
struct ToUs {
  std::string_view italian, english;
  std::array<Form, 2> not_by;
};
constexpr ToUs kToUs[] = {
    {"mi", "me", {kIo, kNoi}}, {"ti", "you", {kTu, kVoi}}, {"ci", "us", {kIo, kNoi}}, {"vi", "you", {kTu, kVoi}}};

const ToUs& one_of_us(Dice& dice, Form subject) {
  for (;;) {
    const ToUs& pronoun = dice.pick(kToUs);
    if (std::ranges::find(pronoun.not_by, subject) == pronoun.not_by.end()) return pronoun;
  }
}

NounPhrase other_person(Dice& dice, const Subject& subject, const NounOptions& options) {
  for (;;) {
    NounPhrase other = somebody(dice, options);
    const bool same = subject.english.find(other.english) != std::string::npos ||
                      other.english.find(subject.english) != std::string::npos;
    if (!same) return other;
  }
}

Predicate some_giving(Dice& dice, const Subject& subject, bool negative) {
  struct Giving {
    std::string_view italian, english;
    Kinds gifts;
  };
  static constexpr Giving kGivings[] = {{"dare", "give", kGift | kFood},
                                        {"mandare", "send", kGift},
                                        {"mostrare", "show", kGift | kClothing | kPress},
                                        {"prestare", "lend", kThing | kPress},
                                        {"portare", "bring", kGift | kFood | kDrink},
                                        {"scrivere", "write", kAsking}};
  const Giving& giving = dice.pick(kGivings);
  Predicate predicate{std::string(giving.italian), std::string(giving.english), {}, "", ""};
  NounPhrase gift = some_noun(dice, giving.gifts, {.indefinite = !negative, .adjective = 20});
  while (giving.italian == "scrivere" && !(gift.kinds & kWriting))
    gift = some_noun(dice, giving.gifts, {.indefinite = !negative});
  predicate.object = text_of(gift);
  if (dice.percent(45)) {
    const ToUs& pronoun = one_of_us(dice, subject.form);
    predicate.pronoun = pronoun.italian, predicate.english_pronoun = pronoun.english;
    return predicate;
  }
  const NounPhrase receiver = other_person(dice, subject, {.indefinite = false});
  predicate.object = predicate.object + Text{receiver.behind("a"), "to " + receiver.english};
  return predicate;
}

bool by_animals(const Subject& subject) { return subject.pronoun == "it"; }

}  // namespace

Subject somebody_else(Dice& dice) {
  if (dice.percent(10)) {
    const NounPhrase first = somebody_named(dice);
    NounPhrase second = somebody_named(dice);
    while (second.english == first.english) second = somebody_named(dice);
    return subject_of(both(first, second));
  }
  return subject_of(somebody(dice, {.indefinite = dice.percent(12)}));
}

Subject somebody_asked_about(Dice& dice) {
  if (dice.percent(55)) return somebody_else(dice);
  Subject subject = some_pronoun(dice);
  while (subject.form == kIo || subject.form == kNoi) subject = some_pronoun(dice);
  return subject;
}

Subject somebody_acting(Dice& dice) {
  if (dice.percent(45)) return some_pronoun(dice);
  if (dice.percent(8)) return subject_of(some_noun(dice, kPet, {.plural = false}));
  return somebody_else(dice);
}

Predicate predicate_of(const Transitive& verb, const NounPhrase& object) {
  Predicate predicate{
      std::string(verb.italian), std::string(verb.english), {object.behind(verb.preposition), object.english}, "", ""};
  predicate.lasting = verb.use & kLasting;
  return predicate;
}

Predicate predicate_of(const Intransitive& verb) {
  Predicate predicate{std::string(verb.italian), std::string(verb.english), {}, "", ""};
  predicate.reflexive = verb.use & kReflexive;
  return predicate;
}

const Transitive& verb_with_object(Dice& dice, Kinds kinds, unsigned unwanted_use) {
  std::vector<const Transitive*> fitting;
  for (const Transitive& verb : transitives())
    if ((verb.objects & kinds) && !(verb.use & unwanted_use)) fitting.push_back(&verb);
  return *dice.pick(fitting);
}

const Transitive& transitive_named(std::string_view italian) {
  return *std::ranges::find(transitives(), italian, &Transitive::italian);
}

Predicate with_pronoun_for(Predicate predicate, const NounPhrase& object) {
  const bool feminine = object.gender == Gender::feminine;
  predicate.object = {};
  predicate.pronoun = object.is_plural() ? (feminine ? "le" : "li") : (feminine ? "la" : "lo");
  predicate.english_pronoun = object.is_plural() ? "them" : !object.is_person() ? "it" : feminine ? "her" : "him";
  predicate.pronoun_gender = object.gender, predicate.pronoun_number = object.number;
  return predicate;
}

Predicate some_transitive(Dice& dice, const Subject& subject, Tense tense, bool negative) {
  const unsigned unwanted = tense == Tense::present       ? 0
                            : tense == Tense::progressive ? kLasting | kSudden
                                                          : unsigned{kLasting};
  const Transitive* verb = &verb_with_object(dice, ~Kinds{0}, unwanted);
  while (by_animals(subject) && !(verb->use & kAnimalsToo)) verb = &verb_with_object(dice, ~Kinds{0}, unwanted);
  const NounOptions options{.counted = (verb->use & kCounted) && !negative, .indefinite = !negative};
  if (by_animals(subject)) {
    const bool drinks = verb->objects == kDrink;
    NounPhrase fodder = some_noun(dice, kFodder, options);
    while (((fodder.kinds & kDrink) != 0) != drinks) fodder = some_noun(dice, kFodder, options);
    return predicate_of(*verb, fodder);
  }
  // The kind of the object is chosen first; otherwise persons would be rare, since there are more things.
  if ((verb->objects & kPerson) && (verb->objects == kPerson || dice.percent(50))) {
    if (verb->preposition.empty() && dice.percent(25)) {
      Predicate predicate = predicate_of(*verb, {});
      const ToUs& pronoun = one_of_us(dice, subject.form);
      predicate.pronoun = pronoun.italian, predicate.english_pronoun = pronoun.english;
      return predicate;
    }
    return predicate_of(*verb, other_person(dice, subject, options));
  }
  const Kinds things = verb->objects & ~kPerson;
  const bool countable = things & ~(kDish | kDrink | kCooked | kMeal);
  if (countable && dice.percent(10)) return predicate_of(*verb, owned(dice, things));
  if (things == kDrink && !negative && dice.percent(35)) return predicate_of(*verb, portion(dice));
  const NounPhrase object = some_noun(dice, things, options);
  // If the object can only be a thing, a pronoun may replace it: lo leggo is I read it.
  if (!(verb->objects & kPerson) && !(verb->use & kNoPronoun) && dice.percent(12))
    return with_pronoun_for(predicate_of(*verb, object), object);
  return predicate_of(*verb, object);
}

Predicate some_motion(Dice& dice, Tense tense) {
  struct Motion {
    std::string_view italian, english;
    bool towards;
  };
  static constexpr Motion kMotions[] = {{"andare", "go", true},        {"andare", "go", true},
                                        {"venire", "come", true},      {"tornare", "come back", true},
                                        {"arrivare", "arrive", false}, {"restare", "stay", false}};
  const Motion* motion = &dice.pick(kMotions);
  while (tense == Tense::progressive && motion->italian == "restare") motion = &dice.pick(kMotions);
  const Place* place = &dice.pick(places());
  while (motion->italian == "arrivare" && place->at == "at home") place = &dice.pick(places());
  return {std::string(motion->italian),
          std::string(motion->english),
          {std::string(place->italian), std::string(motion->towards ? place->to : place->at)},
          "",
          ""};
}

Text some_time(Dice& dice, Tense tense) {
  switch (tense) {
    case Tense::progressive:
      return text_of(dice.pick(kNow));
    case Tense::past:
      if (dice.percent(20)) return some_span(dice) + Text{"fa", "ago"};
      return text_of(dice.pick(kOnceBefore));
    case Tense::future:
      if (dice.percent(20)) return Text{"fra", "in"} + some_span(dice);
      return text_of(dice.pick(kLater));
    case Tense::since:
      return Text{"da", "for"} + some_span(dice);
    default:
      return text_of(dice.pick(kHabits));
  }
}

Text some_hour(Dice& dice) {
  const std::size_t hour = dice.below(12);
  const std::size_t part = dice.below(4);
  // numbers() begins at two. One o'clock is added here: it is feminine singular in Italian.
  const Text number = hour == 0 ? Text{"una", "one"} : text_of(numbers()[hour - 1]);
  Text text{(hour == 0 ? "all'" : "alle ") + number.italian, ""};
  if (part == 2) text.italian += " e mezza", text.english = "at half past " + number.english;
  if (part == 3) text.italian += " e un quarto", text.english = "at a quarter past " + number.english;
  if (part < 2) text.english = "at " + number.english;
  return text;
}

Text some_place(Dice& dice) {
  const Place& place = dice.pick(places());
  return {std::string(place.italian), std::string(place.at)};
}

Text some_town_or_country(Dice& dice) {
  const Place& place = dice.pick(places().last(15));  // the towns and countries are at the end of the table
  return {std::string(place.italian), std::string(place.at)};
}

Text some_company(Dice& dice, const Subject& subject) {
  const NounPhrase other = other_person(dice, subject, {.indefinite = false, .adjective = 10});
  return {other.behind("con"), "with " + other.english};
}

Text some_spot(Dice& dice, bool small, Kinds around) {
  struct Relation {
    std::string_view italian, english;
  };
  static constexpr Relation kAround[] = {
      {"dietro", "behind"}, {"vicino a", "near"}, {"davanti a", "in front of"}, {"accanto a", "next to"}};
  const auto spot = [&](Relation relation, Kinds kinds) {
    const NounPhrase where = some_noun(dice, kinds, {.only_known = true, .plural = false, .adjective = 20});
    return Text{where.behind(relation.italian), std::string(relation.english) + ' ' + where.english};
  };
  if (!small) return spot(dice.pick(kAround), around);
  if (dice.percent(45)) return spot({"su", "on"}, kSurface);
  if (dice.percent(60)) return spot({"in", "in"}, kContainer);
  return spot({"sotto", "under"}, kSurface);
}

Tense some_tense(Dice& dice) {
  using enum Tense;
  return dice.pick({present, present, present, progressive, past, past, past, future, future});
}

Clause some_state(Dice& dice, const Subject& subject, Tense tense) {
  static constexpr Translated kFeelings[] = {{"fame", "hungry"},  {"sete", "thirsty"},     {"freddo", "cold"},
                                             {"caldo", "hot"},    {"sonno", "sleepy"},     {"ragione", "right"},
                                             {"paura", "afraid"}, {"fretta", "in a hurry"}};
  Clause clause{subject, {}, tense};
  if (dice.percent(55)) {
    const Translated& feeling = dice.pick(kFeelings);
    clause.predicate = {"avere", "be " + std::string(feeling.english), {std::string(feeling.italian), ""}, "", ""};
    return clause;
  }
  const Adjective& adjective = adjective_for(dice, by_animals(subject) ? kAnimal : kPerson);
  const std::string agreed = italian::agree(adjective.italian, subject.gender, number_of(subject.form));
  clause.predicate = {"essere", "be", {agreed, std::string(adjective.english)}, "", ""};
  if (adjective.gradable && dice.percent(35)) {
    static constexpr Translated kDegrees[] = {{"molto", "very"}, {"un po'", "a bit"}, {"troppo", "too"}};
    const Translated& degree = dice.pick(kDegrees);
    clause.predicate.object = text_of(degree).italian.ends_with('\'')
                                  ? Text{std::string(degree.italian) + ' ' + agreed,
                                         std::string(degree.english) + ' ' + std::string(adjective.english)}
                                  : text_of(degree) + clause.predicate.object;
  }
  clause.predicate.english = "be " + clause.predicate.object.english, clause.predicate.object.english = "";
  return clause;
}

Clause some_action(Dice& dice, const Subject& subject, const ActionOptions& options) {
  Clause clause{subject, {}, options.tense};
  const Tense tense = options.tense;
  if (options.negatable && dice.percent(22)) {
    clause.polarity = dice.pick({Polarity::no, Polarity::no, Polarity::no, Polarity::never, Polarity::no_longer});
    const bool fits = clause.polarity == Polarity::no ||
                      (clause.polarity == Polarity::never && tense != Tense::progressive) || tense == Tense::present;
    if (!fits) clause.polarity = Polarity::no;
  }
  const bool negative = clause.polarity != Polarity::yes;
  const bool animal = by_animals(subject);
  bool anywhere = false, sudden = false;
  const std::size_t kind = dice.below(100);
  if (kind < 56) {
    do clause.predicate = some_transitive(dice, subject, tense, negative);
    while (!options.pronouns &&
           (clause.predicate.english_pronoun == "it" || clause.predicate.english_pronoun == "them"));
    const Transitive& verb = *std::ranges::find_if(transitives(), [&](const Transitive& v) {
      return v.italian == clause.predicate.italian && v.english == clause.predicate.english;
    });
    anywhere = verb.use & kAnywhere, sudden = verb.use & kSudden;
  } else if (kind < 74 || animal) {
    const Intransitive* verb = &dice.pick(intransitives());
    while (animal && !(verb->use & kAnimalsToo)) verb = &dice.pick(intransitives());
    clause.predicate = predicate_of(*verb);
    anywhere = !(verb->use & kNowhere);
    if (anywhere && dice.percent(60))
      clause.circumstances = animal ? text_of(dice.pick(kWhereAnimalsAre)) : some_place(dice), anywhere = false;
    const bool with_others = !animal && verb->italian != "sposare";  // sposarsi con Anna is to marry her
    if (with_others && dice.percent(15)) clause.circumstances = clause.circumstances + some_company(dice, subject);
    if ((verb->italian == "svegliare" || verb->italian == "alzare") && tense != Tense::progressive && dice.percent(70))
      clause.circumstances = clause.circumstances + some_hour(dice);
  } else if (kind < 89) {
    clause.predicate = some_motion(dice, tense);
    if (dice.percent(15)) clause.circumstances = some_company(dice, subject);
  } else {
    clause.predicate = some_giving(dice, subject, negative);
  }
  if (anywhere && !animal && dice.percent(20)) clause.circumstances = clause.circumstances + some_place(dice);
  if (clause.predicate.lasting) return clause;
  if (options.modal && !animal && !sudden && (tense == Tense::present || tense == Tense::future) && dice.percent(22)) {
    using enum Modal;
    clause.modal =
        tense == Tense::future ? dice.pick({can, must}) : dice.pick({want, want, can, can, must, would_like});
    // non dovere is ambiguous: must not, or need not.
    if (clause.modal == must && negative) clause.modal = can;
    if (clause.polarity != Polarity::yes) clause.polarity = Polarity::no;
  }
  const bool plain = clause.modal == Modal::none && clause.polarity == Polarity::yes && !options.asked;
  if (plain && tense == Tense::present && dice.percent(25)) clause.adverb = text_of(dice.pick(kHowOften));
  return clause;
}

Text told(Dice& dice, const Subject& subject, const ActionOptions& options) {
  Clause clause = some_action(dice, subject, options);
  const bool timeless = !options.when || clause.predicate.lasting || !clause.adverb.empty() ||
                        clause.polarity == Polarity::never || clause.polarity == Polarity::no_longer ||
                        (clause.modal != Modal::none && options.tense == Tense::present);
  if (timeless || !dice.percent(options.tense == Tense::present ? 40 : 55)) return statement(clause);
  const Text when = some_time(dice, options.tense);
  if (dice.percent(35)) return when + statement(clause);
  clause.circumstances = clause.circumstances + when;
  return statement(clause);
}

Text finished(Text text, std::string_view mark) {
  // e and a get a d before the same vowel: ed Elena, ad Anna.
  for (std::size_t i = 0; i + 3 < text.italian.size(); ++i) {
    const std::string_view rest = std::string_view(text.italian).substr(i);
    const bool and_e = rest.starts_with(" e e") || rest.starts_with(" e E") || rest.starts_with(" e è");
    const bool to_a = rest.starts_with(" a a") || rest.starts_with(" a A");
    if (and_e || to_a) text.italian.insert(i + 2, 1, 'd');
  }
  if (text.italian.starts_with("a A")) text.italian.insert(1, 1, 'd');
  for (std::string* side : {&text.italian, &text.english}) {
    if ((*side)[0] >= 'a' && (*side)[0] <= 'z') (*side)[0] = static_cast<char>((*side)[0] - 'a' + 'A');
    if (side->starts_with("è ")) side->replace(0, 2, "È");
    *side += mark;
  }
  return text;
}

}  // namespace attend::phrases
