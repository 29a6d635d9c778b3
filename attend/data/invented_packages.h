// A grammar of packages that do not exist, such as "a viewer of star charts for terminals". Their summaries follow from
// their descriptions: what a program does is said in other words, and names that no vocabulary has must be copied.
#pragma once
#include "attend/core/random.h"
#include "attend/data/package_descriptions.h"

namespace attend {

/// The same key gives the same package.
PackageDescription invent_package(PhiloxKey key);

}  // namespace attend
