// The words of the phrase book, with their translations and with the kinds of words that they can be combined with.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "attend/data/phrases/italian.h"

namespace attend::phrases {

/// The kinds of a noun, as a set of bits. Verbs and adjectives list the kinds that they can be combined with.
using Kinds = std::uint64_t;
enum Kind : Kinds {
  kPerson = 1 << 0,
  kAnimal = 1 << 1,
  kFood = 1 << 2,  ///< countable: an apple
  kDish = 1 << 3,  ///< not countable: bread
  kCooked = 1 << 4,
  kDrink = 1 << 5,
  kMeal = 1 << 6,  ///< in English without an article: dinner
  kReading = 1 << 7,
  kWriting = 1 << 8,   ///< can be written
  kAsking = 1 << 9,    ///< can be answered
  kSchool = 1 << 10,   ///< can be explained and understood
  kMemory = 1 << 11,   ///< can be remembered and forgotten
  kThing = 1 << 12,    ///< can be carried, lost and found
  kGift = 1 << 13,     ///< can be given and sent
  kPress = 1 << 14,    ///< is read, and sold
  kGadget = 1 << 15,   ///< breaks and is repaired
  kMachine = 1 << 16,  ///< is turned on and off
  kTableware = 1 << 17,
  kClothing = 1 << 18,
  kFurniture = 1 << 19,
  kOpening = 1 << 20,    ///< can be opened and closed
  kContainer = 1 << 21,  ///< things are in it
  kSurface = 1 << 22,    ///< things are on it
  kLandmark = 1 << 23,   ///< things are behind it, near it, in front of it
  kRoom = 1 << 24,
  kInside = 1 << 25,     ///< can be entered
  kVehicle = 1 << 26,    ///< is driven
  kTransport = 1 << 27,  ///< comes, goes and is waited for
  kSight = 1 << 28,      ///< can be visited
  kBuilt = 1 << 29,
  kQuiet = 1 << 30,
  kTall = Kinds{1} << 31,
  kNature = Kinds{1} << 32,
  kShow = Kinds{1} << 33,
  kMatch = Kinds{1} << 34,
  kTune = Kinds{1} << 35,
  kInstrument = Kinds{1} << 36,
  kClose = Kinds{1} << 37,  ///< a person with a possessive: my friend, my doctor
  kPet = Kinds{1} << 38,
  kFodder = Kinds{1} << 39,  ///< is eaten or drunk by animals
};

struct Noun {
  std::string_view italian;
  Gender gender;
  std::string_view english;
  Kinds kinds;
  std::string_view plural = {};          ///< empty: by rule
  std::string_view english_plural = {};  ///< empty: by rule
  bool countable() const { return !(kinds & (kDish | kDrink | kMeal)); }
};

/// A word for a relative: mia madre.
struct Relative {
  std::string_view italian;
  Gender gender;
  std::string_view english;
  std::string_view plural = {};  ///< empty: only used in the singular
  std::string_view english_plural = {};
};

struct Name {
  std::string_view name;
  Gender gender;
};

struct Adjective {
  std::string_view italian, english;
  Kinds kinds;
  std::string_view comparative = {};  ///< English; empty: formed with "more"
  bool gradable = true;               ///< can be combined with very, too, more
};

/// How a verb is used, as a set of bits.
enum Use : std::uint8_t {
  kAnimalsToo = 1 << 0,  ///< animals can be the subject, too
  kLasting = 1 << 1,     ///< a state: only in the present, not progressive
  kNoPronoun = 1 << 2,   ///< its object is not replaced by a pronoun
  kCounted = 1 << 3,     ///< its object may have a number: three apples
  kReflexive = 1 << 4,
  kNowhere = 1 << 5,   ///< is not combined with a place
  kAnywhere = 1 << 6,  ///< can be combined with any place
  kSudden = 1 << 7,    ///< happens in a moment: not progressive
};

/// A verb with an object: Italian verb and preposition (rispondere a), English (answer).
struct Transitive {
  std::string_view italian, preposition, english;
  Kinds objects;
  unsigned use = 0;
};

struct Intransitive {
  std::string_view italian, english;
  unsigned use = 0;
};

/// A place, as a position (at) and as a destination (to).
struct Place {
  std::string_view italian, at, to;
};

struct Translated {
  std::string_view italian, english;
};

std::span<const Noun> nouns();
std::span<const Relative> relatives();
std::span<const Name> names();
std::span<const Adjective> adjectives();
std::span<const Transitive> transitives();
std::span<const Intransitive> intransitives();
std::span<const Place> places();
/// 2 to 12, and round numbers up to 100.
std::span<const Translated> numbers();

}  // namespace attend::phrases
