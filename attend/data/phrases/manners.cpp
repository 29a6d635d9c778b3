// Patterns of commands and polite phrases.
#include <algorithm>
#include <array>

#include "attend/data/phrases/actions.h"
#include "attend/data/phrases/english.h"
#include "attend/data/phrases/patterns.h"

namespace attend::phrases {
namespace {

constexpr Translated kOfTheTown[] = {
    {"la stazione", "the station"},           {"l'ospedale", "the hospital"},
    {"la farmacia", "the chemist's"},         {"il mercato", "the market"},
    {"la biblioteca", "the library"},         {"l'aeroporto", "the airport"},
    {"il ristorante", "the restaurant"},      {"la fermata dell'autobus", "the bus stop"},
    {"l'ufficio postale", "the post office"}, {"l'università", "the university"}};

}  // namespace

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

}  // namespace attend::phrases
