#include "attend/cli/shared/recipe.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "attend/formats/toml.h"

namespace attend::cli {
namespace {

void apply(Verb& verb, const std::filesystem::path& path, std::set<const Flag*>& decided) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::set<const Flag*> on_command_line, in_recipe;
  for (const Flag* option : verb.flags())
    if (option->given()) on_command_line.insert(option);
  for (const TomlEntry& entry : read_toml(text.str(), path.string())) {
    const auto refuse = [&](const auto&... parts) {
      fail<InputError>("config", path.string(), ", line ", entry.line, ": ", parts...);
    };
    Flag* option = verb.find_option("--" + entry.key);
    if (!option) refuse("there is no \"", entry.key, "\" in ", verb.command(), "; its --help lists all flags");
    if (!option->is_configurable()) refuse("\"", entry.key, "\" belongs on the command line, not in a recipe");
    if (!in_recipe.insert(option).second) refuse("\"", entry.key, "\" was already set by another key");
    if (on_command_line.contains(option) ||
        std::ranges::any_of(option->excluded(), [&](const Flag* other) { return on_command_line.contains(other); }))
      continue;
    try {
      if (option->kind() == Flag::Kind::on_off) {
        if (entry.values != std::vector<std::string>{"true"} && entry.values != std::vector<std::string>{"false"})
          refuse("\"", entry.key, "\" is true or false");
        const auto name = std::ranges::find(option->names(), "--" + entry.key, &Flag::Name::text);
        option->give({(entry.values.front() == "true") != name->negates ? "true" : "false"});
      } else {
        option->give(entry.values);
      }
      option->apply();
      decided.insert(option);
    } catch (const UsageError& error) {
      refuse(error.what());
    }
  }
}

/// Where Attend's own recipes may be: the program is in bin/ of an installation, or in build/PRESET/ of the repository.
std::vector<std::filesystem::path> recipe_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path above = program.parent_path().parent_path();
  for (const std::filesystem::path& folder : {above / "share/attend/recipes", above.parent_path() / "recipes"})
    if (std::filesystem::is_directory(folder, none)) folders.push_back(folder);
  return folders;
}

}  // namespace

std::filesystem::path find_recipe(const std::string& name) {
  if (std::filesystem::is_regular_file(name)) return name;
  std::set<std::string> known;
  for (const std::filesystem::path& folder : recipe_folders()) {
    if (auto path = folder / (name + ".toml"); std::filesystem::is_regular_file(path)) return path;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".toml") known.insert(file.path().stem());
  }
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  fail<InputError>(
      "config", name, ": there is no such file",
      all.empty() ? ", and Attend's own recipes are not beside the program" : "; Attend's recipes: " + all);
}

void add_config_flag(Verb& verb, std::set<const Flag*>& decided) {
  verb.add_option_function<std::string>(
          "--config", [&](const std::string& name) { apply(verb, find_recipe(name), decided); },
          "Read flags from a TOML file, or from one of Attend's recipes by its name; flags on the command line take "
          "precedence")
      ->type_name("RECIPE")
      ->configurable(false);
}

std::string recipe_of(const Verb& verb) {
  std::string recipe = "# As " + verb.command() + " was run by Attend " + version() + " on " +
                       std::to_string(threads()) + " threads. To repeat it:\n#   " + verb.command() +
                       " --config recipe.toml --output FOLDER\n";
  for (const Flag* option : verb.flags()) {
    if (!option->is_configurable() || !option->name().starts_with("--")) continue;
    if (std::ranges::any_of(option->excluded(), &Flag::given)) continue;  // it had no effect
    std::vector<std::string> values = option->values();
    if (values.empty() && !option->default_value().empty()) values = {option->default_value()};
    if (values.empty()) continue;
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + toml_value(value);
    recipe += option->name().substr(2) + " = " + (values.size() == 1 ? text : "[" + text + "]") + '\n';
  }
  return recipe;
}

}  // namespace attend::cli
