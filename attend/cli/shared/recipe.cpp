#include "attend/cli/shared/recipe.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "attend/cli/shared/arguments.h"
#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"
#include "attend/formats/toml.h"

namespace attend::cli {
namespace {

/// A verb and the groups that its flags stand in, but those that do not apply.
std::vector<const CLI::App*> parts_of(const CLI::App& verb) {
  std::vector<const CLI::App*> parts{&verb};
  for (const CLI::App* group :
       verb.get_subcommands([](const CLI::App* app) { return app->get_name().empty() && !app->get_disabled(); }))
    parts.push_back(group);
  return parts;
}

/// "attend train translation".
std::string command(const CLI::App& verb) {
  return (verb.get_parent() ? command(*verb.get_parent()) + " " : "") + verb.get_name();
}

bool is_flag(const CLI::Option& option) { return option.get_expected_min() == 0; }

void apply(CLI::App& verb, const std::filesystem::path& path, std::set<const CLI::Option*>& decided) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::set<const CLI::Option*> on_command_line, in_recipe;
  for (const CLI::App* part : parts_of(verb))
    for (const CLI::Option* option : part->get_options())
      if (option->count() > 0) on_command_line.insert(option);
  for (const TomlEntry& entry : read_toml(text.str(), path.string())) {
    const auto refuse = [&](const auto&... parts) {
      fail<InputError>("config", path.string(), ", line ", entry.line, ": ", parts...);
    };
    CLI::Option* option = verb.get_option_no_throw("--" + entry.key);
    if (!option) refuse("there is no \"", entry.key, "\" in ", command(verb), "; its --help lists all flags");
    if (!option->get_configurable()) refuse("\"", entry.key, "\" belongs on the command line, not into a recipe");
    if (!in_recipe.insert(option).second) refuse("\"", entry.key, "\" was decided by another key already");
    if (on_command_line.contains(option) || std::ranges::any_of(option->get_excludes(), [&](const CLI::Option* other) {
          return on_command_line.contains(other);
        }))
      continue;
    try {
      if (is_flag(*option)) {
        if (entry.values != std::vector<std::string>{"true"} && entry.values != std::vector<std::string>{"false"})
          refuse("\"", entry.key, "\" is true or false");
        option->add_result(option->get_flag_value(entry.key, entry.values.front()));
      } else {
        for (const std::string& value : entry.values) option->add_result(hide_list(value));
      }
      option->run_callback();
      decided.insert(option);
    } catch (const CLI::ParseError& error) {
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
    if (const auto path = folder / (name + ".toml"); std::filesystem::is_regular_file(path)) return path;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".toml") known.insert(file.path().stem());
  }
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  fail<InputError>(
      "config", name, ": there is no such file",
      all.empty() ? ", and Attend's own recipes are not beside the program" : "; Attend's recipes: " + all);
}

void add_config_flag(CLI::App& verb, std::set<const CLI::Option*>& decided) {
  verb.add_option_function<std::string>(
          "--config", [&](const std::string& name) { apply(verb, find_recipe(name), decided); },
          "Flags from a TOML file, or from one of Attend's recipes by its name; flags given here win")
      ->type_name("RECIPE")
      ->configurable(false);
}

std::string recipe_of(const CLI::App& verb) {
  std::string recipe = "# As " + command(verb) + " was run by Attend " + version() + " on " +
                       std::to_string(threads()) + " threads. To repeat it:\n#   " + command(verb) +
                       " --config recipe.toml --output FOLDER\n";
  for (const CLI::App* part : parts_of(verb)) {
    for (const CLI::Option* option : part->get_options()) {
      if (!option->get_configurable() || option->get_lnames().empty()) continue;
      if (std::ranges::any_of(option->get_excludes(), [](const CLI::Option* other) { return other->count() > 0; }))
        continue;  // it decided nothing
      std::vector<std::string> values = option->results();
      if (values.empty() && !option->get_default_str().empty()) values = {option->get_default_str()};
      if (values.empty()) continue;
      std::string text;
      for (const std::string& value : values) text += (text.empty() ? "" : ", ") + toml_value(value);
      recipe += option->get_lnames().front() + " = " + (values.size() == 1 ? text : "[" + text + "]") + '\n';
    }
  }
  return recipe;
}

}  // namespace attend::cli
