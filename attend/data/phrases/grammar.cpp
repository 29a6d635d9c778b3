#include "attend/data/phrases/grammar.h"

#include <algorithm>
#include <array>
#include <vector>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"

namespace attend::phrases {
namespace {

constexpr Translated kFormulas[] = {
    {"Buongiorno!", "Good morning!"},
    {"Buonasera!", "Good evening!"},
    {"Buonanotte!", "Good night!"},
    {"Ciao!", "Hello!"},
    {"Arrivederci!", "Goodbye!"},
    {"Grazie mille!", "Thank you very much!"},
    {"Prego.", "You are welcome."},
    {"Mi dispiace.", "I am sorry."},
    {"Come stai?", "How are you?"},
    {"Sto bene, grazie.", "I am well, thank you."},
    {"Come ti chiami?", "What is your name?"},
    {"Quanti anni hai?", "How old are you?"},
    {"Che ore sono?", "What time is it?"},
    {"Non capisco.", "I do not understand."},
    {"Non lo so.", "I do not know."},
    {"Parla inglese?", "Do you speak English?"},
    {"Il conto, per favore.", "The bill, please."},
    {"Buon viaggio!", "Have a good trip!"},
    {"Buon appetito!", "Enjoy your meal!"},
    {"Che bella giornata!", "What a beautiful day!"},
    {"A presto!", "See you soon!"},
    {"A domani!", "See you tomorrow!"},
};

constexpr Translated kOfTheTown[] = {
    {"la stazione", "the station"},           {"l'ospedale", "the hospital"},
    {"la farmacia", "the chemist's"},         {"il mercato", "the market"},
    {"la biblioteca", "the library"},         {"l'aeroporto", "the airport"},
    {"il ristorante", "the restaurant"},      {"la fermata dell'autobus", "the bus stop"},
    {"l'ufficio postale", "the post office"}, {"l'università", "the university"}};

/// What lies about in a house.
NounPhrase something_small(Dice& dice, const NounOptions& options) {
  static constexpr Kinds kBig = kVehicle | kFurniture;
  for (;;) {
    NounPhrase thing = some_noun(dice, kThing | kFood | kPress | kGift, options);
    const bool carried = !(thing.kinds & kBig) && thing.rest.find("biciclett") == std::string::npos;
    if (carried) return thing;
  }
}

/// Something that an adjective can be said of, and that the listener knows.
NounPhrase something_known(Dice& dice, Kinds kinds = ~(kPerson | kMeal)) {
  for (;;) {
    NounPhrase thing = dice.percent(20) ? owned(dice, kThing | kVehicle | kClothing, 0)
                                        : some_noun(dice, kinds, {.indefinite = false, .adjective = 0});
    // Without an article it would be bread in general.
    const bool known = thing.english != thing.rest && has_adjective(thing.kinds);
    const bool bare = thing.article.empty() && (thing.kinds & (kDish | kDrink)) && !thing.english.starts_with("this");
    if (known && !bare) return thing;
  }
}

Text adjective_of(const Subject& subject, const Adjective& adjective) {
  return {italian::agree(adjective.italian, subject.gender, number_of(subject.form)), std::string(adjective.english)};
}

/// è molto interessante, is very interesting.
Clause is_so(Dice& dice, const Subject& subject, Kinds kinds, Tense tense = Tense::present) {
  const Adjective* adjective = &adjective_for(dice, kinds);
  // La casa nuova è nuova says nothing.
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

Text describes(Dice& dice) {
  const Tense tense = dice.pick({Tense::present, Tense::present, Tense::present, Tense::imperfect});
  if (dice.percent(30)) return finished(statement(is_so(dice, somebody_else(dice), kPerson, tense)));
  const NounPhrase thing = something_known(dice);
  return finished(statement(is_so(dice, subject_of(thing), thing.kinds, tense)));
}

Text asks_how_it_is(Dice& dice) {
  const NounPhrase thing = something_known(dice);
  Clause clause = is_so(dice, subject_of(thing), thing.kinds);
  clause.polarity = Polarity::yes;
  return finished(question(clause), "?");
}

Text tells(Dice& dice) { return finished(told(dice, somebody_acting(dice), {.tense = some_tense(dice)})); }

Text asks_yes_or_no(Dice& dice) {
  const Tense tense = some_tense(dice);
  Clause clause = some_action(dice, somebody_asked_about(dice), {.tense = tense, .negatable = false, .asked = true});
  const bool timeless = clause.predicate.lasting || clause.modal != Modal::none;
  if (!timeless && dice.percent(35)) clause.circumstances = clause.circumstances + some_time(dice, tense);
  return finished(question(clause), "?");
}

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

Text asks_where_it_is(Dice& dice) {
  const NounPhrase thing =
      dice.percent(70) ? something_small(dice, {.indefinite = false}) : somebody(dice, {.indefinite = false});
  const bool plural = thing.is_plural(), past = dice.percent(25);
  return finished(Text{plural ? (past ? "dov'erano" : "dove sono") : (past ? "dov'era" : "dov'è"),
                       std::string("where ") + (plural ? (past ? "were" : "are") : (past ? "was" : "is"))} +
                      text_of(thing),
                  "?");
}

/// What is liked in general has an article in Italian and none in English.
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
    NounPhrase thing;  // mi piacciono i libri would be said of books in general
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

/// Two of a kind, and an adjective that both can have.
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

/// Two things done one after the other to the same object, which the second time is a pronoun.
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

/// How somebody feels, and what they do then.
struct Consequence {
  std::string_view feeling, english;  // with avere (fame), or an adjective that agrees
  bool with_avere;
  std::string_view verb;  // with an object of these kinds, or, when there are none, without
  Kinds objects = 0;
  std::string_view place = {};  // where to, or where, if a motion
  bool denied = false;          // what they do not do then
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
  Clause second{again(subject), {}, tense};  // without a place, which would be another one
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

Text commands(Dice& dice) {
  static constexpr std::array<std::string_view, 20> kVerbs = {
      "mangiare", "bere",      "comprare", "leggere",   "prendere",  "portare",  "aprire",
      "chiudere", "lavare",    "pulire",   "ascoltare", "aspettare", "chiamare", "accendere",
      "spegnere", "scegliere", "aiutare",  "invitare",  "cercare",   "preparare"};
  const Transitive& verb = transitive_named(dice.pick(kVerbs));
  const bool no = dice.percent(25);
  NounPhrase object = (verb.objects & kPerson) ? somebody(dice, {.indefinite = false})
                                               : some_noun(dice, verb.objects, {.indefinite = !no});
  const Predicate predicate = predicate_of(verb, object);
  const Form form = dice.pick({kTu, kTu, kTu, kVoi, kVoi, kNoi});
  Text text{std::string(no ? "non " : "") +
                (no && form == kTu ? predicate.italian : italian::imperative(predicate.italian, form)),
            std::string(form == kNoi ? (no ? "let us not " : "let us ")
                        : no         ? "do not "
                                     : "") +
                predicate.english};
  text = text + predicate.object;
  if (form == kTu && dice.percent(25)) {
    NounPhrase called = somebody_named(dice);
    while (object.english.find(called.english) != std::string::npos) called = somebody_named(dice);
    return finished({called.rest + ", " + text.italian, called.english + ", " + text.english}, "!");
  }
  if (form != kNoi && dice.percent(30))
    return finished({text.italian + ", per favore", text.english + ", please"}, "!");
  return finished(text, "!");
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
  // Chi ha visto Marco? could ask whom Marco saw: it is done to things only.
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

Text is_polite(Dice& dice) {
  const std::string name(dice.pick(names()).name);
  switch (dice.below(9)) {
    case 0: {
      static constexpr Translated kGreetings[] = {{"buongiorno", "good morning"},
                                                  {"buonasera", "good evening"},
                                                  {"buonanotte", "good night"},
                                                  {"ciao", "hello"},
                                                  {"arrivederci", "goodbye"},
                                                  {"a domani", "see you tomorrow"},
                                                  {"buon compleanno", "happy birthday"},
                                                  {"buon viaggio", "have a good trip"}};
      const Text greeting = text_of(dice.pick(kGreetings));
      return finished({greeting.italian + ", " + name, greeting.english + ", " + name}, "!");
    }
    case 1: {
      const NounPhrase thing = some_noun(dice, kGift, {.only_known = true});
      return finished({"grazie per " + thing.italian(), "thank you for " + thing.english});
    }
    case 2: {
      const Text where = text_of(dice.pick(kOfTheTown));
      return finished({"mi scusi, dov'è " + where.italian, "excuse me, where is " + where.english}, "?");
    }
    case 3: {
      const bool near = dice.percent(50);
      const NounPhrase thing =
          near ? portion(dice) : some_noun(dice, kFood | kPress | kDrink | kDish, {.counted = true});
      return finished({"vorrei " + thing.italian() + ", per favore", "I would like " + thing.english + ", please"});
    }
    case 4: {
      const NounPhrase thing = something_small(dice, {.indefinite = false});
      return finished({"ecco " + thing.italian(), (thing.is_plural() ? "here are " : "here is ") + thing.english}, "!");
    }
    case 5: {
      const NounPhrase thing =
          dice.percent(40) ? portion(dice) : some_noun(dice, kFood | kDrink | kPress | kTableware, {.counted = true});
      return finished({"posso avere " + thing.italian(), "can I have " + thing.english}, "?");
    }
    case 6:
      return finished(Text{"mi chiamo " + name + " e abito", "my name is " + name + " and I live"} + some_place(dice));
    case 7: {
      const NounPhrase thing = portion(dice), other = portion(dice);
      if (thing.english == other.english)
        return finished({"vuoi " + thing.italian(), "do you want " + thing.english}, "?");
      return finished({"vuoi " + thing.italian() + " o " + other.italian(),
                       "do you want " + thing.english + " or " + other.english},
                      "?");
    }
    default: {
      const NounPhrase who = some_relative(dice);
      const Text how = who.is_plural() ? Text{"come stanno ", "how are "} : Text{"come sta ", "how is "};
      return finished({how.italian + who.italian(), how.english + who.english}, "?");
    }
  }
}

struct Pattern {
  Text (*sentence)(Dice&);
  std::size_t weight;  // of all
};

constexpr Pattern kPatterns[] = {
    {tells, 30},
    {asks_yes_or_no, 10},
    {describes, 7},
    {asks_how_it_is, 2},
    {feels, 4},
    {needs, 2},
    {owns, 3},
    {tells_age, 1},
    {tells_profession, 2},
    {there_is, 4},
    {there_is_none, 1},
    {lies_there, 4},
    {asks_where_it_is, 1},
    {likes, 6},
    {compares, 4},
    {praises, 2},
    {relates, 6},
    {does_both, 6},
    {joins, 4},
    {gives_a_reason, 5},
    {supposes, 3},
    {tells_when, 4},
    {tells_meanwhile, 2},
    {reports, 5},
    {tells_purpose, 4},
    {has_done_for_long, 3},
    {was_born, 1},
    {lives, 2},
    {commands, 6},
    {asks_where, 3},
    {asks_when, 2},
    {asks_why, 2},
    {asks_what, 3},
    {asks_who, 2},
    {asks_how_many, 3},
    {asks_whose, 1},
    {asks_about_somebody, 1},
    {asks_price, 2},
    {tells_departure, 2},
    {tells_weather, 1},
    {is_polite, 4},
};

}  // namespace

Text some_sentence(Dice& dice) {
  std::size_t all = 0;
  for (const Pattern& pattern : kPatterns) all += pattern.weight;
  std::size_t left = dice.below(all);
  for (const Pattern& pattern : kPatterns) {
    if (left < pattern.weight) return pattern.sentence(dice);
    left -= pattern.weight;
  }
  return {};
}

std::span<const Translated> formulas() { return kFormulas; }

}  // namespace attend::phrases
