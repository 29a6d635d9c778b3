// Recipes: a verb's flags in a TOML file. A key is the name of a flag without its dashes. Flags on the command line
// override the recipe.
#pragma once
#include <filesystem>
#include <set>
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// --config RECIPE: a file, or the name of one of Attend's recipes. Throws InputError with file, line and key if a key
/// is not a flag of the verb, if recipes may not set it (configurable(false)), or if its value is invalid. The flags
/// that the recipe has set are added to `decided`.
void add_config_flag(Verb& verb, std::set<const Flag*>& decided);

/// The path of a recipe: `name` if this file exists, otherwise NAME.toml among Attend's recipes, which are searched
/// relative to the program, as installed and as built. Throws InputError that lists Attend's recipes.
std::filesystem::path find_recipe(const std::string& name);

/// A recipe that repeats the run: all flags of the verb with the values that were given, or their defaults.
std::string recipe_of(const Verb& verb);

}  // namespace attend::cli
