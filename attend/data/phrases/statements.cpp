// Patterns of statements with one main clause.
#include <algorithm>
#include <array>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"
#include "attend/data/phrases/patterns.h"

namespace attend::phrases {
namespace {

/// Things that are liked in general have an article in Italian and none in English.
Text in_general(Dice& dice, bool& plural) {
  const Noun& noun =
      noun_of(dice, kFood | kDish | kDrink | kAnimal | kClothing | kReading | kSight | kNature | kShow | kTune);
  plural = noun.countable();
  const NounPhrase phrase = the(noun, plural ? Number::plural : Number::singular);
  Text text{phrase.italian(), phrase.english.substr(4)};
  if (!dice.percent(45)) return text;
  const Adjective& adjective = adjective_for(dice, noun.kinds);
  text.italian += ' ' + italian::agree(adjective.italian, noun.gender, phrase.number);
  text.english = std::string(adjective.english) + ' ' + text.english;
  return text;
}

/// il libro che Marco ha comprato, la ragazza che lavora in banca.
NounPhrase with_relative_clause(Dice& dice) {
  if (dice.percent(45)) {
    const Noun& noun = noun_of(dice, kPerson);
    const NounPhrase who = the(noun, dice.percent(25) ? Number::plural : Number::singular);
    Subject subject = subject_of(who);
    const Text clause = continuation(some_action(
        dice, subject,
        {.tense = dice.pick({Tense::present, Tense::past}), .negatable = false, .modal = false, .pronouns = false}));
    NounPhrase whole = who;
    whole.rest += " che " + clause.italian, whole.english += " who " + clause.english;
    return whole;
  }
  const Noun* noun = nullptr;
  const Transitive* verb = nullptr;
  do {
    noun = &noun_of(dice, kThing | kFood | kPress | kClothing | kSight | kShow | kFurniture | kWriting);
    verb = &verb_with_object(dice, noun->kinds, kLasting | kNoPronoun);
  } while (verb->objects & kPerson);
  NounPhrase whole = the(*noun, dice.percent(30) ? Number::plural : Number::singular);
  Clause clause{dice.percent(55) ? some_pronoun(dice) : somebody_else(dice), predicate_of(*verb, whole), Tense::past};
  clause.predicate.object = {};
  if (dice.percent(35)) clause.circumstances = some_time(dice, clause.tense);
  const Text said = statement(clause);
  whole.rest += " che " + said.italian, whole.english += " that " + said.english;
  return whole;
}

}  // namespace

Text describes(Dice& dice) {
  const Tense tense = dice.pick({Tense::present, Tense::present, Tense::present, Tense::imperfect});
  if (dice.percent(30)) return finished(statement(is_so(dice, somebody_else(dice), kPerson, tense)));
  const NounPhrase thing = something_known(dice);
  return finished(statement(is_so(dice, subject_of(thing), thing.kinds, tense)));
}

Text tells(Dice& dice) { return finished(told(dice, somebody_acting(dice), {.tense = some_tense(dice)})); }

Text feels(Dice& dice) {
  const bool asked = dice.percent(20);
  const Subject subject = asked ? somebody_asked_about(dice) : somebody_acting(dice);
  Clause clause = some_state(dice, subject, dice.percent(75) ? Tense::present : Tense::imperfect);
  if (asked) return finished(question(clause), "?");
  if (dice.percent(20)) clause.polarity = Polarity::no;
  return finished(statement(clause));
}

Text needs(Dice& dice) {
  const NounPhrase thing = something_known(dice, kThing | kClothing | kFurniture | kVehicle);
  const bool asked = dice.percent(20);
  Clause clause{asked ? somebody_asked_about(dice) : somebody_else(dice),
                {"avere", "need", {"bisogno " + thing.behind("di"), thing.english}, "", ""}};
  if (asked) return finished(question(clause), "?");
  if (dice.percent(45)) clause.subject = some_pronoun(dice);
  if (dice.percent(20)) clause.polarity = Polarity::no;
  return finished(statement(clause));
}

Text owns(Dice& dice) {
  const Kinds kinds = kAnimal | kThing | kVehicle | kClothing | kInstrument;
  NounPhrase thing;
  do thing = some_noun(dice, kinds, {.counted = true, .adjective = 50});
  while (!thing.article.empty() || thing.english.starts_with("all "));
  Clause clause{somebody_asked_about(dice), {"avere", "have", text_of(thing), "", ""}};
  if (dice.percent(20)) clause.tense = Tense::imperfect;
  if (dice.percent(25)) return finished(question(clause), "?");
  if (dice.percent(40)) clause.subject = some_pronoun(dice);
  return finished(statement(clause));
}

Text tells_age(Dice& dice) {
  static constexpr Translated kAges[] = {
      {"due anni", "two"},          {"tre anni", "three"},   {"cinque anni", "five"},  {"sei anni", "six"},
      {"sette anni", "seven"},      {"otto anni", "eight"},  {"dieci anni", "ten"},    {"dodici anni", "twelve"},
      {"quindici anni", "fifteen"}, {"vent'anni", "twenty"}, {"trent'anni", "thirty"}, {"quarant'anni", "forty"},
      {"cinquant'anni", "fifty"}};
  const Translated& age = dice.pick(kAges);
  const Tense tense = dice.pick({Tense::present, Tense::present, Tense::imperfect});
  Subject subject =
      dice.percent(40) ? some_pronoun(dice) : subject_of(somebody(dice, {.indefinite = false, .plural = false}));
  return finished(
      statement({subject,
                 {"avere", "be " + std::string(age.english) + " years old", {std::string(age.italian), ""}, "", ""},
                 tense}));
}

Text tells_profession(Dice& dice) {
  static constexpr std::array<std::string_view, 11> kProfessions = {"dottore",   "professore", "cuoco",   "avvocato",
                                                                    "ingegnere", "scrittore",  "pittore", "cameriere",
                                                                    "maestra",   "infermiera", "attrice"};
  const Noun& profession = noun_named(dice.pick(kProfessions));
  Subject subject = some_pronoun(dice);
  while (subject.gender != profession.gender || number_of(subject.form) == Number::plural)
    subject = dice.percent(30) ? some_pronoun(dice)
                               : subject_of(dice.percent(50) ? somebody_named(dice) : some_relative(dice, false));
  const Tense tense = dice.percent(75) ? Tense::present : Tense::imperfect;
  Clause clause{
      subject,
      {"essere", "be " + english::with_article(profession.english), {std::string(profession.italian), ""}, "", ""},
      tense};
  if (dice.percent(15)) clause.polarity = Polarity::no;
  const bool asked = clause.polarity == Polarity::yes && subject.form != kIo && dice.percent(20);
  return asked ? finished(question(clause), "?") : finished(statement(clause));
}

Text there_is(Dice& dice) {
  const bool alive = dice.percent(35);
  NounPhrase thing =
      alive ? some_noun(dice, kAnimal | kPerson, {.counted = true}) : something_small(dice, {.counted = true});
  while (!thing.article.empty() || thing.english.starts_with("all ") || thing.english.starts_with("th"))
    thing = alive ? some_noun(dice, kAnimal | kPerson, {.counted = true}) : something_small(dice, {.counted = true});
  const Text spot = some_spot(dice, !alive);
  const bool past = dice.percent(25), asked = dice.percent(20), plural = thing.is_plural();
  const std::string italian = plural ? (past ? "c'erano" : "ci sono") : (past ? "c'era" : "c'è");
  const std::string english = plural ? (past ? "were" : "are") : (past ? "was" : "is");
  if (asked) return finished(Text{italian, english + " there"} + text_of(thing) + spot, "?");
  return finished(Text{italian, "there " + english} + text_of(thing) + spot);
}

Text there_is_none(Dice& dice) {
  static constexpr Translated kWhere[] = {{"nel frigorifero", "in the fridge"},
                                          {"sul tavolo", "on the table"},
                                          {"in cucina", "in the kitchen"},
                                          {"a casa", "at home"}};
  const Noun& noun = noun_of(dice, kDish | kDrink);
  const bool more = dice.percent(30), past = dice.percent(30);
  return finished(
      Text{std::string("non c'") + (past ? "era" : "è") + (more ? " più " : " ") + std::string(noun.italian),
           std::string("there ") + (past ? "was" : "is") + (more ? " no more " : " no ") + std::string(noun.english)} +
      text_of(dice.pick(kWhere)));
}

Text lies_there(Dice& dice) {
  if (dice.percent(30)) {
    NounPhrase who = somebody(dice, {.indefinite = false});
    Clause clause{subject_of(who), {"essere", "be", {}, "", ""}, dice.percent(65) ? Tense::present : Tense::imperfect};
    const Text place = dice.percent(60) ? some_place(dice) : some_spot(dice, false);
    clause.predicate.english = "be " + place.english, clause.predicate.object = {place.italian, ""};
    if (dice.percent(20)) clause.polarity = Polarity::no;
    return finished(statement(clause));
  }
  const NounPhrase thing = something_small(dice, {.indefinite = false});
  const Text spot = some_spot(dice, true);
  Clause clause{subject_of(thing),
                {"essere", "be " + spot.english, {spot.italian, ""}, "", ""},
                dice.percent(70) ? Tense::present : Tense::imperfect};
  if (dice.percent(20)) clause.polarity = Polarity::no;
  return dice.percent(15) && clause.polarity == Polarity::yes ? finished(question(clause), "?")
                                                              : finished(statement(clause));
}

Text likes(Dice& dice) {
  struct Liker {
    std::string_view italian, english;
  };
  static constexpr Liker kLikers[] = {{"mi", "I"}, {"mi", "I"}, {"ti", "you"}, {"ci", "we"}, {"vi", "you"}};
  bool plural = false;
  Text liked;
  const std::size_t kind = dice.below(100);
  if (kind < 50) {
    liked = in_general(dice, plural);
  } else if (kind < 80) {
    NounPhrase thing;  // never with "the", since mi piacciono i libri means books in general
    do thing = something_known(dice, kClothing | kReading | kShow | kTune | kSight | kFood | kVehicle);
    while (thing.english.starts_with("the "));
    plural = thing.is_plural();
    liked = text_of(thing);
  } else {
    static constexpr std::array<std::string_view, 8> kHobbies = {"mangiare", "leggere", "cucinare",  "visitare",
                                                                 "suonare",  "bere",    "disegnare", "comprare"};
    const Transitive& hobby = transitive_named(dice.pick(kHobbies));
    const Text what = dice.percent(50) ? infinitive(predicate_of(hobby, some_noun(dice, hobby.objects)), kIo)
                                       : infinitive(predicate_of(dice.pick(intransitives().first(13))), kIo) +
                                             (dice.percent(50) ? some_place(dice) : Text{});
    liked = {what.italian, "to " + what.english};
  }
  const bool past = dice.percent(15), no = dice.percent(25), ask = !no && dice.percent(30);
  const std::string verb = past ? (plural ? "piacevano" : "piaceva") : (plural ? "piacciono" : "piace");
  Subject liker;
  std::string whom;
  if (dice.percent(50)) {
    const Liker& pronoun = dice.pick(kLikers);
    liker = {"", std::string(pronoun.english), "", pronoun.english == "I" ? kIo : pronoun.english == "we" ? kNoi : kTu};
    whom = (no ? "non " : "") + std::string(pronoun.italian);
  } else {
    const NounPhrase who = somebody(dice, {.indefinite = false});
    liker = subject_of(who);
    whom = who.behind("a") + (no ? " non" : "");
  }
  const bool asked = ask && liker.form != kIo && liker.form != kNoi, much = !no && !asked && dice.percent(25);
  Clause clause{liker,
                {"piacere", "like", {"", liked.english + (much ? " very much" : "")}, "", ""},
                past ? Tense::imperfect : Tense::present};
  if (no) clause.polarity = Polarity::no;
  const std::string italian = whom + ' ' + verb + (much ? " molto " : " ") + liked.italian;
  if (asked) return finished({italian, question(clause).english}, "?");
  return finished({italian, statement(clause).english});
}

/// Two noun phrases of one kind, and an adjective that fits both.
Text compares(Dice& dice) {
  NounPhrase first, second;
  const Adjective* adjective = nullptr;
  if (dice.percent(50)) {
    adjective = &adjective_for(dice, kPerson, true);
    first = somebody(dice, {.indefinite = false, .adjective = 0});
    do second = somebody(dice, {.indefinite = false, .adjective = 0});
    while (second.english == first.english);
  } else {
    static constexpr Kinds kGroups[] = {kFood,    kClothing, kFurniture, kTransport, kSight,
                                        kReading, kShow,     kAnimal,    kDrink,     kRoom};
    const Kinds group = dice.pick(kGroups);
    const NounOptions options{.indefinite = false, .only_known = true, .adjective = 0};
    do {
      first = some_noun(dice, group, options), second = some_noun(dice, group, options);
      adjective = &adjective_for(dice, first.kinds & second.kinds, true);
    } while (second.english == first.english || first.rest == second.rest);
  }
  const Subject subject = subject_of(first);
  const Text said = adjective_of(subject, *adjective);
  const bool equal = dice.percent(30);
  const Text compared =
      equal ? Text{said.italian + " come " + second.italian(), "as " + said.english + " as " + second.english}
            : Text{"più " + said.italian + ' ' + second.behind("di"),
                   english::comparative(adjective->english, adjective->comparative) + " than " + second.english};
  Clause clause{subject, {"essere", "be " + compared.english, {compared.italian, ""}, "", ""}};
  if (dice.percent(15)) clause.polarity = Polarity::no;
  return dice.percent(15) && clause.polarity == Polarity::yes ? finished(question(clause), "?")
                                                              : finished(statement(clause));
}

Text praises(Dice& dice) {
  static constexpr Translated kAmong[] = {{"della città", "in the city"},
                                          {"del mondo", "in the world"},
                                          {"del paese", "in the village"},
                                          {"d'Italia", "in Italy"}};
  const bool person = dice.percent(40);
  const Noun& noun = noun_of(dice, person ? kPerson : kSight | kReading | kShow | kClothing | kVehicle | kAnimal);
  const Adjective& adjective = adjective_for(dice, noun.kinds, true);
  const Number number = !person && dice.percent(25) ? Number::plural : Number::singular;
  NounPhrase best = the(noun, number);
  best.rest += " più " + italian::agree(adjective.italian, noun.gender, number);
  best.english = "the " + english::superlative(adjective.english, adjective.comparative) + best.english.substr(3);
  const bool plural = number == Number::plural;
  Text who{italian::agree("questo", noun.gender, number), plural ? "these" : "this"};
  if (person) {
    NounPhrase named = somebody_named(dice);
    while (named.gender != noun.gender) named = somebody_named(dice);
    who = text_of(named);
  }
  return finished(who + Text{plural ? "sono" : "è", plural ? "are" : "is"} + text_of(best) +
                  text_of(dice.pick(kAmong)));
}

Text relates(Dice& dice) {
  NounPhrase head = with_relative_clause(dice);
  while (!has_adjective(head.kinds)) head = with_relative_clause(dice);
  if (dice.percent(30)) {
    const Transitive& verb = verb_with_object(dice, head.kinds, kLasting | kAnimalsToo);
    Clause clause{some_pronoun(dice), predicate_of(verb, head),
                  dice.pick({Tense::past, Tense::progressive, Tense::future})};
    return finished(statement(clause));
  }
  return finished(statement(is_so(dice, subject_of(head), head.kinds)));
}

Text has_done_for_long(Dice& dice) {
  static constexpr Translated kLong[] = {
      {"vivere", "live"}, {"abitare", "live"}, {"lavorare", "work"}, {"studiare", "study"}};
  const Translated& verb = dice.pick(kLong);
  const Subject subject = dice.percent(45) ? some_pronoun(dice) : somebody_else(dice);
  Clause clause{
      subject, {std::string(verb.italian), std::string(verb.english), some_place(dice), "", ""}, Tense::since};
  if (dice.percent(25)) {
    clause.subject = somebody_asked_about(dice);
    return finished(question(clause, {"da quanto tempo", "how long"}), "?");
  }
  clause.circumstances = some_time(dice, Tense::since);
  return finished(statement(clause));
}

Text was_born(Dice& dice) {
  const Subject subject = dice.percent(40) ? some_pronoun(dice) : somebody_else(dice);
  const Text place = some_town_or_country(dice);
  Clause clause{subject, {"nascere", "be born " + place.english, {place.italian, ""}, "", ""}, Tense::past};
  return finished(statement(clause));
}

Text lives(Dice& dice) {
  const Subject subject = dice.percent(40) ? some_pronoun(dice) : somebody_else(dice);
  Clause clause{
      subject,
      {"abitare", "live", dice.percent(60) ? some_place(dice) : some_spot(dice, false, kBuilt | kTall), "", ""},
      dice.pick({Tense::present, Tense::present, Tense::future})};
  if (dice.percent(15)) clause.polarity = dice.pick({Polarity::no, Polarity::no_longer});
  if (clause.tense == Tense::future && clause.polarity == Polarity::no_longer) clause.polarity = Polarity::no;
  return finished(statement(clause));
}

Text tells_departure(Dice& dice) {
  static constexpr std::array<Translated, 9> kCities = {{{"Roma", "Rome"},
                                                         {"Milano", "Milan"},
                                                         {"Napoli", "Naples"},
                                                         {"Firenze", "Florence"},
                                                         {"Venezia", "Venice"},
                                                         {"Torino", "Turin"},
                                                         {"Londra", "London"},
                                                         {"Parigi", "Paris"},
                                                         {"Berlino", "Berlin"}}};
  const bool leaves = dice.percent(60), asked = dice.percent(25);
  NounPhrase transport = the(noun_named(dice.pick({"treno", "autobus", "aereo"})));
  if (dice.percent(60)) {
    const Translated& city = dice.pick(kCities);
    transport.rest += (leaves ? " per " : " da ") + std::string(city.italian);
    transport.english += (leaves ? " to " : " from ") + std::string(city.english);
  }
  Clause clause{subject_of(transport),
                {leaves ? "partire" : "arrivare", leaves ? "leave" : "arrive", {}, "", ""},
                dice.pick({Tense::present, Tense::present, Tense::past, Tense::future})};
  if (asked) return finished(question(clause, {"a che ora", "what time"}, true), "?");
  clause.circumstances = some_hour(dice);
  return finished(statement(clause));
}

Text tells_weather(Dice& dice) {
  struct Weather {
    std::string_view present, future, adjective;
  };
  static constexpr Weather kWeather[] = {{"fa caldo", "farà caldo", "hot"}, {"fa freddo", "farà freddo", "cold"}};
  const Text place = some_town_or_country(dice);
  if (dice.percent(35)) {
    const bool snow = dice.percent(35);
    static constexpr Translated kOften[] = {{"spesso", "often"}, {"sempre", "always"}, {"raramente", "rarely"}};
    const Translated& often = dice.pick(kOften);
    return finished({place.italian + (snow ? " nevica " : " piove ") + std::string(often.italian),
                     "it " + std::string(often.english) + (snow ? " snows " : " rains ") + place.english});
  }
  const Weather& weather = dice.pick(kWeather);
  const Translated degree =
      dice.pick({Translated{"", ""}, Translated{"molto ", "very "}, Translated{"troppo ", "too "}});
  const bool today = dice.percent(60);
  std::string italian(today ? weather.present : weather.future);
  italian.insert(italian.find(' ') + 1, degree.italian);
  return finished(Text{(today ? "oggi " : "domani ") + italian, (today ? "today it is " : "tomorrow it will be ") +
                                                                    std::string(degree.english) +
                                                                    std::string(weather.adjective)} +
                  place);
}

}  // namespace attend::phrases
