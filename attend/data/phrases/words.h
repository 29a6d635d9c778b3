// The words of the phrase book, with their translations and with the kinds of words that they can be combined with.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "attend/data/phrases/italian.h"

namespace attend::phrases {

/// What a noun stands for, as a set of bits: what verbs and adjectives ask for.
using Kinds = std::uint64_t;
enum Kind : Kinds {
  kPerson = 1 << 0,
  kAnimal = 1 << 1,
  kFood = 1 << 2,  ///< that one counts: an apple
  kDish = 1 << 3,  ///< that one does not: bread
  kCooked = 1 << 4,
  kDrink = 1 << 5,
  kMeal = 1 << 6,  ///< in English without an article: dinner
  kReading = 1 << 7,
  kWriting = 1 << 8,   ///< what people write
  kAsking = 1 << 9,    ///< wants an answer
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
  kInside = 1 << 25,     ///< one enters it
  kVehicle = 1 << 26,    ///< is driven
  kTransport = 1 << 27,  ///< comes, goes and is waited for
  kSight = 1 << 28,      ///< worth a visit
  kBuilt = 1 << 29,
  kQuiet = 1 << 30,
  kTall = Kinds{1} << 31,
  kNature = Kinds{1} << 32,
  kShow = Kinds{1} << 33,
  kMatch = Kinds{1} << 34,
  kTune = Kinds{1} << 35,
  kInstrument = Kinds{1} << 36,
  kClose = Kinds{1} << 37,  ///< a person whom one calls one's own: a friend, a doctor
  kPet = Kinds{1} << 38,
  kFodder = Kinds{1} << 39,  ///< what animals eat and drink
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

/// Who is named by how they are related to somebody: mia madre.
struct Relative {
  std::string_view italian;
  Gender gender;
  std::string_view english;
  std::string_view plural = {};  ///< empty: only one at a time
  std::string_view english_plural = {};
};

struct Name {
  std::string_view name;
  Gender gender;
};

struct Adjective {
  std::string_view italian, english;
  Kinds kinds;
  std::string_view comparative = {};  ///< of English; empty: with "more"
  bool gradable = true;               ///< very, too, more
};

/// How a verb is used, as a set of bits.
enum Use : std::uint8_t {
  kAnimalsToo = 1 << 0,  ///< not only people do it
  kLasting = 1 << 1,     ///< a state: only in the present, without "am -ing"
  kNoPronoun = 1 << 2,   ///< lo and la do not stand for its object
  kCounted = 1 << 3,     ///< of its objects there may be three
  kReflexive = 1 << 4,
  kNowhere = 1 << 5,   ///< goes with no place
  kAnywhere = 1 << 6,  ///< goes with any place
  kSudden = 1 << 7,    ///< happens at once: no "am -ing"
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

/// A place where one is, and where one goes.
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
