#include "attend/data/invented_packages.h"

#include <array>

namespace attend {
namespace {

using phrases::Dice;

/// What a program works on: in a sentence, and before the word for the program.
struct Matter {
  const char *plural, *before;
};
constexpr Matter kMatters[] = {{"pictures", "picture"},
                               {"photographs", "photograph"},
                               {"songs", "song"},
                               {"films", "film"},
                               {"letters and reports", "document"},
                               {"spreadsheets", "spreadsheet"},
                               {"e-mails", "e-mail"},
                               {"maps of cities", "city map"},
                               {"star charts", "star chart"},
                               {"games of chess", "chess"},
                               {"recipes", "recipe"},
                               {"log files", "log file"},
                               {"backups", "backup"},
                               {"passwords", "password"},
                               {"calendars", "calendar"},
                               {"addresses of friends", "address"},
                               {"fonts", "font"},
                               {"web pages", "web page"},
                               {"network traffic", "network traffic"},
                               {"disk partitions", "partition"},
                               {"compressed archives", "archive"},
                               {"databases", "database"},
                               {"three-dimensional models", "3D model"},
                               {"circuit diagrams", "circuit diagram"},
                               {"weather forecasts", "weather"},
                               {"subtitles of films", "subtitle"},
                               {"radio programmes", "radio"},
                               {"comics", "comic"},
                               {"crossword puzzles", "crossword"},
                               {"sheets of music", "sheet music"},
                               {"invoices", "invoice"},
                               {"genetic sequences", "DNA sequence"},
                               {"bar codes", "bar code"},
                               {"screenshots", "screenshot"},
                               {"train timetables", "timetable"},
                               {"family trees", "family tree"}};

/// What it does: the verb, and the word for such a program.
struct Deed {
  const char *verb, *tool;
};
constexpr Deed kDeeds[] = {{"edit", "editor"},         {"look at", "viewer"},
                           {"convert", "converter"},   {"compare", "comparator"},
                           {"search", "search tool"},  {"sort", "organizer"},
                           {"print", "printing tool"}, {"record", "recorder"},
                           {"check", "checker"},       {"encrypt", "encryption tool"},
                           {"download", "downloader"}, {"share", "sharing service"}};

/// Where it runs: sentences that say so, and the end of the summary.
struct Place {
  std::array<const char*, 2> sentences;
  const char* summary;
};
constexpr Place kPlaces[] = {
    {{"It fits into the GNOME desktop.", "Its windows follow the style of GNOME."}, " for GNOME"},
    {{"It is at home in the KDE desktop.", "Its windows follow the style of KDE."}, " for KDE"},
    {{"It runs in a terminal.", "It needs a keyboard and no windows, also on a remote machine."}, " for terminals"},
    {{"It is used with a web browser.", "Any web browser can be its window."}, " with a web interface"},
    {{"It was designed for small touch screens.", "It is operated with one finger."}, " for phones"},
    {{"Commands are read from scripts.", "It is made for scripts, and asks no questions."}, " for scripts"}};

/// Which part of a program the package has.
struct Piece {
  std::array<const char*, 2> sentences;
  const char* summary;
};
constexpr Piece kPieces[] = {
    {{"This package contains the manual.", "The documentation is in this package."}, " - documentation"},
    {{"This package contains the headers that developers need.", "Install this package to compile programs with it."},
     " - development files"},
    {{"This package contains sounds and icons, which are the same on all machines.",
      "The files in this package do not depend on the processor."},
     " - data files"},
    {{"This package contains the symbols for a debugger.", "Install this package to find out why it crashes."},
     " - debugging symbols"},
    {{"This package contains the bindings for Python.", "With this package it can be used from Python."},
     " - Python bindings"},
    {{"This package contains the examples.", "Small examples to start with are in this package."}, " - examples"}};

constexpr const char* kPeople[] = {"students",   "teachers",   "musicians", "engineers", "travellers",
                                   "librarians", "scientists", "beginners", "gardeners", "journalists"};
constexpr const char* kAdjectives[] = {"small", "fast", "simple", "complete", "portable", "free", "modern", "reliable"};
constexpr const char* kLanguages[] = {"C", "C++", "Python", "Perl", "Rust", "Go", "Java", "Haskell", "Ruby"};
constexpr const char* kRemarks[] = {"It has been translated into many languages.",
                                    "Long work can be paused and continued later.",
                                    "All settings are kept in one file.",
                                    "It starts in less than a second.",
                                    "Mistakes can be undone.",
                                    "The colours can be changed.",
                                    "It needs little memory.",
                                    "It comes with two hundred tests.",
                                    "Errors are explained in plain words.",
                                    "It works without a connection to the network.",
                                    "Its first version appeared twenty years ago.",
                                    "Nothing is sent to anybody.",
                                    "Several people can use it at the same time.",
                                    "It was written in a winter holiday."};
constexpr const char* kSyllables[] = {"ka",  "zor", "bi",  "lum", "tex", "ri",  "mo",  "vel", "gno", "pa",
                                      "shi", "dro", "fen", "qua", "ti",  "nux", "ber", "so",  "wi",  "jan",
                                      "ple", "gra", "hu",  "yle", "cor", "du",  "ma",  "nit", "os",  "rev"};

std::string capitalized(std::string name) {
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

}  // namespace

std::string invent_name(phrases::Dice& dice) {
  std::string name;
  for (std::size_t left = 2 + dice.below(3); left > 0; --left) name += dice.pick(kSyllables);
  return name;
}

PackageDescription invent_package(PhiloxKey key) {
  Dice dice(key);
  PackageDescription package{.name = invent_name(dice), .text = {}, .summary = {}};
  const std::string name = capitalized(package.name), other = capitalized(invent_name(dice));
  const Matter& matter = dice.pick(kMatters);
  const Deed& deed = dice.pick(kDeeds);
  const std::string work = std::string(deed.verb) + " " + matter.plural;
  std::vector<std::string> middle;  // sentences in any order
  const auto add_tool = [&](std::string first) {
    package.text = std::move(first), package.summary = std::string(matter.before) + " " + deed.tool;
    if (dice.percent(25)) return;
    const Place& place = dice.pick(kPlaces);
    middle.emplace_back(dice.pick(place.sentences)), package.summary += place.summary;
  };
  switch (dice.below(6)) {
    case 0:
      add_tool(name + " is a " + dice.pick(kAdjectives) + " program to " + work + ".");
      break;
    case 1:
      add_tool("With " + name + ", " + dice.pick(kPeople) + " can " + work + ".");
      break;
    case 2:
      add_tool(name + " lets you " + work + ".");
      break;
    case 3: {
      const std::string language = dice.pick(kLanguages);
      package.text = name + " is a library with which programs in " + language + " " + work + ".";
      package.summary = language + " library to " + work;
      break;
    }
    case 4:
      package.text = name + " extends " + other + ", so that it can also " + work + ".";
      package.summary = "plugin of " + other + " to " + work;
      break;
    default:
      package.text = name + " helps " + dice.pick(kPeople) + " who use " + other + " to " + work + ".";
      package.summary = std::string(matter.before) + " " + deed.tool + " for users of " + other;
      break;
  }
  for (std::size_t left = dice.below(3); left > 0; --left) middle.emplace_back(dice.pick(kRemarks));
  if (dice.percent(15)) {  // another program, which the summary leaves out
    const std::string another = capitalized(invent_name(dice));
    const Deed& its_deed = dice.pick(kDeeds);
    middle.push_back("Unlike " + another + ", it does not " + its_deed.verb + " " + dice.pick(kMatters).plural + ".");
  }
  if (dice.percent(60)) {
    const Piece& piece = dice.pick(kPieces);
    middle.emplace_back(dice.pick(piece.sentences)), package.summary += piece.summary;
  } else if (dice.percent(15)) {
    const std::string next = capitalized(invent_name(dice));
    middle.push_back("This package is empty and eases the upgrade to " + next + ", as the program is called now.");
    package.summary = "transitional package for " + next;
  }
  for (; !middle.empty();) {
    const auto next = middle.begin() + static_cast<std::ptrdiff_t>(dice.below(middle.size()));
    package.text += " " + *next;
    middle.erase(next);
  }
  return package;
}

}  // namespace attend
