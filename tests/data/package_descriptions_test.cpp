#include "attend/data/package_descriptions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

constexpr const char* kStatus =
    "Package: zorbi\n"
    "Status: install ok installed\n"
    "Conffiles:\n"
    " /etc/zorbi 89269e1298235f1b12b4c16e4065ad0d\n"
    "Description: editor of star charts\n"
    " Zorbi lets you edit star charts. It runs in\n"
    " a terminal.\n"
    " .\n"
    "  * many colours\n"
    "  * undo\tand redo\n"
    "Homepage: https://zorbi.example\n"
    "\n"
    "Package: only-a-summary\n"
    "Description: nothing more is said of it\n"
    "\n"
    "Package: brief\n"
    "Description: a text that is too short\n"
    " Too short.\n"
    "\n"
    "\n"
    "Package: lumtex-doc\n"
    "Description: viewer of maps - documentation\n"
    " With Lumtex you can look at the maps of all cities.";
constexpr const char* kTranslation =
    "Package: zorbi\n"
    "Description-md5: 0123\n"
    "Description-en: another summary\n"
    " This text is in the list of apt, which is the newer one of the two.\n"
    "\n"
    "Package: velgno\n"
    "Description-md5: 0456\n"
    "Description-en: player of songs\n"
    " Velgno is a small program to play songs from the disk or the network.\n";

TEST(PackageDescriptions, AreReadFromTheListOfInstalledPackages) {
  const test::TempFolder folder;
  std::ofstream(folder / "status") << kStatus;
  EXPECT_EQ(
      read_package_list(folder / "status"),
      (std::vector<PackageDescription>{
          {"zorbi", "Zorbi lets you edit star charts. It runs in a terminal. * many colours * undo and redo",
           "editor of star charts"},
          {"lumtex-doc", "With Lumtex you can look at the maps of all cities.", "viewer of maps - documentation"}}));
}

TEST(PackageDescriptions, ASystemKnowsThePackagesOfAptAndTheInstalledOnes) {
  const test::TempFolder root;
  EXPECT_TRUE(known_packages(root.path()).empty()) << "no Debian";
  std::filesystem::create_directories(root / "var/lib/apt/lists");
  std::filesystem::create_directories(root / "var/lib/dpkg");
  std::ofstream(root / "var/lib/dpkg/status") << kStatus;
  std::ofstream(root / "var/lib/apt/lists/a_i18n_Translation-en") << kTranslation;
  std::ofstream(root / "var/lib/apt/lists/a_i18n_Translation-de")
      << "Package: nicht\nDescription-de: nichts\n nichts\n";
  const std::vector<PackageDescription> all = known_packages(root.path());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "lumtex-doc");
  EXPECT_EQ(all[1].summary, "player of songs");
  EXPECT_EQ(all[2].summary, "another summary") << "a package is there once";
}

TEST(PackageBook, InventsPackagesThatAreAllDifferent) {
  const PackageBook book = package_book({.size = 3000, .held_out = 100});
  EXPECT_EQ(book.training.size(), 3000u);
  EXPECT_TRUE(book.known_held_out.empty());
  EXPECT_EQ(book.invented_held_out.size(), 100u);
  std::set<std::string> texts, summaries;
  for (const PackageDescription& one : book.training) {
    texts.insert(one.text), summaries.insert(one.summary);
    EXPECT_GT(one.text.size(), one.summary.size()) << one.text;
    EXPECT_EQ(one.text.find_first_of("\t\n"), std::string::npos) << one.text;
    EXPECT_TRUE(one.text.ends_with(".")) << one.text;
  }
  EXPECT_EQ(texts.size(), 3000u);
  EXPECT_GT(summaries.size(), 2000u) << "few can be known by heart";
}

TEST(PackageBook, IsTheSameEveryTimeAndAnotherWithAnotherSeed) {
  const PackageBookOptions options{.size = 50, .held_out = 5};
  EXPECT_EQ(package_book(options).training, package_book(options).training);
  EXPECT_EQ(package_book(options).invented_held_out, package_book(options).invented_held_out);
  EXPECT_NE(package_book(options).training, package_book({.size = 50, .held_out = 5, .seed = 2}).training);
}

TEST(PackageBook, WhatOneCallHoldsOutIsInTheTrainingSetOfNoOther) {
  std::vector<PackageDescription> known;
  for (int i = 0; i < 400; ++i)
    for (const char* part : {"", "-doc"})  // of one program
      known.push_back({"p" + std::to_string(i) + part,
                       "Program " + std::to_string(i) + " does something useful. It has more" + part + ".", "x"});
  const PackageBook small = package_book({.size = 500, .held_out = 200, .known = known});
  const PackageBook large = package_book({.size = 900, .held_out = 50, .seed = 7, .known = known});
  EXPECT_GT(small.known_held_out.size(), 10u);
  EXPECT_LT(small.known_held_out.size(), 100u);
  std::set<std::string> programs, held_out;
  const auto program = [](const PackageDescription& one) { return one.name.substr(0, one.name.find('-')); };
  for (const PackageDescription& one : small.known_held_out) programs.insert(program(one)), held_out.insert(one.text);
  for (const PackageDescription& one : small.invented_held_out) held_out.insert(one.text);
  for (const PackageDescription& one : large.training) {
    EXPECT_FALSE(programs.contains(program(one))) << one.name;
    EXPECT_FALSE(held_out.contains(one.text)) << one.text;
  }
  const auto of_system = [](const PackageDescription& one) { return one.summary == "x"; };
  EXPECT_EQ(std::ranges::count_if(large.training, of_system) +
                std::ssize(package_book({.size = 0, .held_out = 900, .known = known}).known_held_out),
            800)
      << "invented ones only fill up";
}

/// Programs with a subject each, and a package of their documentation.
std::vector<PackageDescription> some_known() {
  std::vector<PackageDescription> known;
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i), first = "Program " + number + " does something useful. ";
    known.push_back({"p" + number, first + "It is number " + number + ", which is a number.", "tool " + number});
    known.push_back({"p" + number + "-doc", first + "This package contains manual " + number + ".",
                     "tool " + number + " - manual"});
  }
  return known;
}

TEST(PackageBook, ComposesDescriptionsFromPartsOfKnownOnes) {
  const PackageBookOptions options{
      .size = 1000, .held_out = 100, .known = some_known(), .most_known = 50, .compose = true};
  const PackageBook book = package_book(options);
  EXPECT_EQ(book.training, package_book(options).training);
  EXPECT_EQ(book.training.size(), 1000u);
  EXPECT_EQ(std::ranges::count_if(book.training,
                                  [](const auto& one) {
                                    return !one.name.empty() && one.name[0] == 'p' && one.name.size() > 1 &&
                                           std::isdigit(one.name[1]);
                                  }),
            50);
  std::size_t composed = 0, with_end = 0;
  for (const PackageDescription& one : book.training) {
    if (!one.name.empty()) continue;
    ++composed;
    with_end += one.summary.ends_with(" - manual");
    const std::string subject = one.summary.substr(0, one.summary.find(" - "));
    EXPECT_NE(one.text.find(subject.substr(1)), std::string::npos) << one.text << " => " << one.summary;
    EXPECT_EQ(one.text.find('\t'), std::string::npos);
    EXPECT_TRUE(one.text.ends_with(".")) << one.text;
  }
  EXPECT_NEAR(static_cast<double>(composed), 950 * 0.75, 2);
  EXPECT_NEAR(static_cast<double>(with_end), static_cast<double>(composed) * 0.4, 80);
}

TEST(PackageBook, NothingOfAHeldOutDescriptionIsInAComposedOne) {
  const PackageBook book =
      package_book({.size = 1000, .held_out = 100, .known = some_known(), .most_known = 0, .compose = true});
  ASSERT_GT(book.known_held_out.size(), 5u);
  for (const PackageDescription& one : book.training)
    for (const PackageDescription& held_out : book.known_held_out) {
      const std::string number = held_out.name.substr(1, held_out.name.find('-') - 1);
      for (const std::string& part : {"tool " + number, "manual " + number + ".", "number " + number + ","}) {
        const std::size_t at = one.text.find(part);
        EXPECT_TRUE(at == std::string::npos || std::isdigit(static_cast<unsigned char>(one.text[at + part.size()])))
            << one.text;
      }
    }
}

TEST(PackageBook, ComposesNothingFromTooFewParts) {
  std::vector<PackageDescription> few = some_known();
  few.resize(20);
  for (const PackageDescription& one :
       package_book({.size = 200, .known = few, .most_known = 0, .compose = true}).training)
    EXPECT_FALSE(one.name.empty()) << one.text;
}

TEST(PackageBook, MoreThanTheGrammarHasIsAnError) {
  EXPECT_ERROR(package_book({.size = 1 << 30}), "expected at most 1000000");
  EXPECT_ERROR(package_book({.size = -1}), "expected at most 1000000");
}

}  // namespace
}  // namespace attend
