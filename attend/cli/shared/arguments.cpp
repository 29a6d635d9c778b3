#include "attend/cli/shared/arguments.h"

#include <CLI/CLI.hpp>

namespace attend::cli {
namespace {

constexpr char kMark = '\x1f';  // a separator that nobody types, and that messages show as nothing

std::string without_mark(std::string argument) {
  if (argument.ends_with(kMark)) argument.pop_back();
  return argument;
}

}  // namespace

std::string hide_list(std::string argument) {
  if (argument.ends_with(']') || argument.ends_with(kMark)) argument += kMark;
  return argument;
}

void take_hidden_lists(CLI::App& program) {
  for (CLI::Option* option : program.get_options()) option->transform(without_mark);
  for (CLI::App* verb : program.get_subcommands([](CLI::App*) { return true; })) take_hidden_lists(*verb);
}

}  // namespace attend::cli
