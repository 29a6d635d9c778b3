#include "attend/data/phrases/grammar.h"

#include "attend/data/phrases/patterns.h"

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

struct Pattern {
  Text (*sentence)(Dice&);
  std::size_t weight;  // relative to the sum of all weights
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
