// A grammar of packages that do not exist, such as "a viewer of star charts for terminals". Their summaries follow from
// their descriptions: what a program does is said in other words, and names that no vocabulary has must be copied.
#pragma once
#include <string>

#include "attend/core/random.h"
#include "attend/data/package_descriptions.h"
#include "attend/data/phrases/dice.h"

namespace attend {

/// The same key gives the same package.
PackageDescription invent_package(PhiloxKey key);

/// A name that no vocabulary has, such as "zorbi".
std::string invent_name(phrases::Dice& dice);

}  // namespace attend
