// Recipes: a verb's flags in a TOML file, one key a flag, without its dashes. What is given on the command line wins.
#pragma once
#include <filesystem>
#include <set>
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// --config RECIPE: a file, or the name of one of Attend's own. A key that is no flag of the verb, or belongs on the
/// command line (configurable(false)), is an InputError that says file, line and key; so is a bad value. The
/// flags that it decided are put into `decided`.
void add_config_flag(Verb& verb, std::set<const Flag*>& decided);

/// A recipe's file: as named, or NAME.toml among Attend's own, which are looked for beside the program (as installed
/// and as built). Throws InputError that lists what there is.
std::filesystem::path find_recipe(const std::string& name);

/// The verb's flags as they were parsed, those not given with their defaults, as a recipe that repeats it.
std::string recipe_of(const Verb& verb);

}  // namespace attend::cli
