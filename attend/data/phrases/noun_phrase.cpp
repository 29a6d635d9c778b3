#include "attend/data/phrases/noun_phrase.h"

#include <algorithm>
#include <array>
#include <vector>

#include "attend/data/phrases/english.h"

namespace attend::phrases {
namespace {

struct Possessive {
  std::string_view masculine, feminine, masculine_plural, feminine_plural, english;
  std::string_view agree(Gender gender, Number number) const {
    const bool one = number == Number::singular;
    return gender == Gender::masculine ? (one ? masculine : masculine_plural) : (one ? feminine : feminine_plural);
  }
};

// suo is left out, since it is ambiguous: his, her or its.
constexpr Possessive kPossessives[] = {
    {"mio", "mia", "miei", "mie", "my"},
    {"tuo", "tua", "tuoi", "tue", "your"},
    {"nostro", "nostra", "nostri", "nostre", "our"},
    {"vostro", "vostra", "vostri", "vostre", "your"},
    {"loro", "loro", "loro", "loro", "their"},
};

/// Adjectives that can also precede the noun, with the same meaning.
bool may_precede(const Adjective& adjective) {
  return std::ranges::any_of(std::array{"bello", "grande", "piccolo", "nuovo", "vecchio"},
                             [&](std::string_view word) { return adjective.italian == word; });
}

std::string before_noun(const Adjective& adjective, Gender gender, Number number, std::string_view noun) {
  if (adjective.italian == "bello") return italian::like_article("be", gender, number, noun);
  return italian::agree(adjective.italian, gender, number);
}

std::string plural_of(const Noun& noun) {
  return noun.plural.empty() ? italian::plural(noun.italian) : std::string(noun.plural);
}

/// A noun with its adjectives, without determiner.
struct Core {
  std::string italian, english;
};

Core bare(const Noun& noun, Number number) {
  if (number == Number::singular) return {std::string(noun.italian), std::string(noun.english)};
  return {plural_of(noun),
          noun.english_plural.empty() ? english::plural(noun.english) : std::string(noun.english_plural)};
}

Core described(Dice& dice, const Noun& noun, Number number, std::size_t chance) {
  Core core = bare(noun, number);
  if (!dice.percent(chance) || !has_adjective(noun.kinds)) return core;
  const Adjective& adjective = adjective_for(dice, noun.kinds);
  const auto place_behind = [&](const Adjective& word) {
    core.italian += ' ' + italian::agree(word.italian, noun.gender, number);
    core.english = std::string(word.english) + ' ' + core.english;
  };
  if (!may_precede(adjective) || dice.percent(30)) {
    place_behind(adjective);
    return core;
  }
  if (dice.percent(20)) {  // una bella casa bianca, a beautiful white house
    const Adjective& second = adjective_for(dice, noun.kinds);
    if (!second.gradable) place_behind(second);
  }
  core.italian = italian::join(before_noun(adjective, noun.gender, number, core.italian), core.italian);
  core.english = std::string(adjective.english) + ' ' + core.english;
  return core;
}

enum class Determiner : std::uint8_t { the, a, some, none, count, many, all, my, this_one, that_one };

Determiner determiner_for(Dice& dice, const Noun& noun, Number number, const NounOptions& options) {
  using enum Determiner;
  if (noun.kinds & kMeal) return the;
  if (options.only_known) return dice.percent(75) ? the : my;
  if (!noun.countable()) {
    if (!options.indefinite) return dice.pick({the, the, none, this_one});
    return dice.pick({the, the, none, none, some, some, many, this_one, my});
  }
  if (number == Number::plural) {
    if (!options.indefinite) return dice.pick({the, the, the, my, this_one, that_one});
    if (options.counted && dice.percent(35)) return dice.pick({Determiner::count, Determiner::count, Determiner::many});
    return dice.pick({the, the, the, some, some, all, my, this_one, that_one});
  }
  if (!options.indefinite) return dice.pick({the, the, the, my, this_one, that_one});
  return dice.pick({the, the, the, the, a, a, a, my, this_one, that_one});
}

NounPhrase determined(Dice& dice, Determiner determiner, const Noun& noun, Number number, const Core& core) {
  NounPhrase phrase{"", core.italian, core.english, noun.gender, number, noun.kinds};
  const bool plural = number == Number::plural;
  const std::string article = italian::definite_article(noun.gender, number, core.italian);
  switch (determiner) {
    case Determiner::the:
      phrase.article = article;
      if (!(noun.kinds & kMeal)) phrase.english = "the " + core.english;
      break;
    case Determiner::a:
      phrase.rest = italian::join(italian::indefinite_article(noun.gender, core.italian), core.italian);
      phrase.english = english::with_article(core.english);
      break;
    case Determiner::some:
      phrase.rest = italian::with_preposition("di", article, core.italian);
      phrase.english = "some " + core.english;
      break;
    case Determiner::none:
      break;
    case Determiner::count: {
      const Translated& count = dice.pick(numbers().first(11));
      phrase.rest = std::string(count.italian) + ' ' + core.italian;
      phrase.english = std::string(count.english) + ' ' + core.english;
      break;
    }
    case Determiner::many:
      phrase.rest = italian::agree("molto", noun.gender, number) + ' ' + core.italian;
      phrase.english = (plural ? "many " : "a lot of ") + core.english;
      break;
    case Determiner::all:
      phrase.rest = italian::agree("tutto", noun.gender, number) + ' ' + italian::join(article, core.italian);
      phrase.english = "all the " + core.english;
      break;
    case Determiner::my: {
      const Possessive& whose = dice.pick(kPossessives);
      phrase.rest = std::string(whose.agree(noun.gender, number)) + ' ' + core.italian;
      phrase.article = italian::definite_article(noun.gender, number, phrase.rest);
      phrase.english = std::string(whose.english) + ' ' + core.english;
      break;
    }
    case Determiner::this_one: {
      const bool elided = !plural && article == "l'";
      phrase.rest = italian::join(elided ? "quest'" : italian::agree("questo", noun.gender, number), core.italian);
      phrase.english = (plural ? "these " : "this ") + core.english;
      break;
    }
    case Determiner::that_one:
      phrase.rest = italian::join(italian::like_article("que", noun.gender, number, core.italian), core.italian);
      phrase.english = (plural ? "those " : "that ") + core.english;
      break;
  }
  return phrase;
}

}  // namespace

const Noun& noun_of(Dice& dice, Kinds kinds) {
  std::vector<const Noun*> fitting;
  for (const Noun& noun : nouns())
    if (noun.kinds & kinds) fitting.push_back(&noun);
  return *dice.pick(fitting);
}

const Noun& noun_named(std::string_view italian) { return *std::ranges::find(nouns(), italian, &Noun::italian); }

bool has_adjective(Kinds kinds) {
  return std::ranges::any_of(adjectives(), [&](const Adjective& a) { return (a.kinds & kinds) != 0; });
}

const Adjective& adjective_for(Dice& dice, Kinds kinds, bool gradable) {
  std::vector<const Adjective*> fitting;
  for (const Adjective& adjective : adjectives())
    if ((adjective.kinds & kinds) && (adjective.gradable || !gradable)) fitting.push_back(&adjective);
  return *dice.pick(fitting);
}

NounPhrase the(const Noun& noun, Number number) {
  const Core core = bare(noun, number);
  return {italian::definite_article(noun.gender, number, core.italian),
          core.italian,
          (noun.kinds & kMeal ? "" : "the ") + core.english,
          noun.gender,
          number,
          noun.kinds};
}

NounPhrase some_noun(Dice& dice, Kinds kinds, const NounOptions& options) {
  const Noun& noun = noun_of(dice, kinds);
  const Number number = noun.countable() && options.plural && dice.percent(35) ? Number::plural : Number::singular;
  Determiner determiner = determiner_for(dice, noun, number, options);
  if (determiner == Determiner::my && (noun.kinds & (kPerson | kClose)) == kPerson) determiner = Determiner::the;
  const bool plain = (noun.kinds & kMeal) != 0;
  return determined(dice, determiner, noun, number, described(dice, noun, number, plain ? 0 : options.adjective));
}

NounPhrase somebody_named(Dice& dice) {
  const Name& name = dice.pick(names());
  return {"", std::string(name.name), std::string(name.name), name.gender, Number::singular, kPerson};
}

NounPhrase some_relative(Dice& dice, bool plural) {
  const Relative& relative = dice.pick(relatives());
  const Possessive& whose = dice.pick(kPossessives);
  const bool many = plural && !relative.plural.empty() && dice.percent(30);
  const Number number = many ? Number::plural : Number::singular;
  NounPhrase phrase{"", "", "", relative.gender, number, kPerson};
  phrase.rest =
      std::string(whose.agree(relative.gender, number)) + ' ' + std::string(many ? relative.plural : relative.italian);
  // mia sorella has no article, but le mie sorelle and la loro sorella have.
  if (many || whose.masculine == "loro")
    phrase.article = italian::definite_article(relative.gender, number, phrase.rest);
  phrase.english = std::string(whose.english) + ' ' + std::string(many ? relative.english_plural : relative.english);
  return phrase;
}

NounPhrase somebody(Dice& dice, const NounOptions& options) {
  const std::size_t roll = dice.below(100);
  if (roll < 30) return somebody_named(dice);
  if (roll < 50) return some_relative(dice, options.plural);
  NounOptions fewer = options;
  fewer.adjective /= 2;
  return some_noun(dice, kPerson, fewer);
}

NounPhrase both(const NounPhrase& first, const NounPhrase& second) {
  return {first.article,
          first.rest + " e " + second.italian(),
          first.english + " and " + second.english,
          first.gender == second.gender ? first.gender : Gender::masculine,
          Number::plural,
          first.kinds & second.kinds};
}

NounPhrase owned(Dice& dice, Kinds kinds, std::size_t adjective) {
  const Noun* noun = &noun_of(dice, kinds);
  while (!noun->countable()) noun = &noun_of(dice, kinds);
  const Number number = dice.percent(30) ? Number::plural : Number::singular;
  NounOptions known;
  known.only_known = true;
  const NounPhrase owner = somebody(dice, known);
  const Core core = described(dice, *noun, number, adjective);
  return {italian::definite_article(noun->gender, number, core.italian),
          core.italian + ' ' + owner.behind("di"),
          english::possessive(owner.english, owner.is_plural()) + ' ' + core.english,
          noun->gender,
          number,
          noun->kinds};
}

NounPhrase portion(Dice& dice) {
  struct Vessel {
    std::string_view vessel, drink;
  };
  static constexpr Vessel kPortions[] = {{"bicchiere", "vino"},
                                         {"bicchiere", "acqua"},
                                         {"bicchiere", "latte"},
                                         {"bicchiere", "birra"},
                                         {"bicchiere", "succo d'arancia"},
                                         {"tazza", "tè"},
                                         {"tazza", "caffè"},
                                         {"tazza", "latte"},
                                         {"bottiglia", "vino"},
                                         {"bottiglia", "acqua"},
                                         {"bottiglia", "latte"},
                                         {"bottiglia", "birra"}};
  const Vessel& chosen = dice.pick(kPortions);
  const Noun &vessel = noun_named(chosen.vessel), &drink = noun_named(chosen.drink);
  const Number number = dice.percent(30) ? Number::plural : Number::singular;
  Core core = bare(vessel, number);
  core.italian += (drink.italian == "acqua" ? " d'" : " di ") + std::string(drink.italian);
  core.english += " of " + std::string(drink.english);
  const Determiner determiner = number == Number::plural ? Determiner::count : Determiner::a;
  NounPhrase phrase = determined(dice, determiner, vessel, number, core);
  phrase.kinds = drink.kinds;
  return phrase;
}

}  // namespace attend::phrases
