#include "attend/cli/verbs.h"

#include <CLI/CLI.hpp>

namespace attend::cli {

CLI::App* add_parent(CLI::App& program, const std::string& name, const std::string& description) {
  CLI::App* parent = program.add_subcommand(name, description);
  parent->require_subcommand(1);
  parent->footer("attend " + name + " VERB --help tells what a verb takes.");
  return parent;
}

}  // namespace attend::cli
