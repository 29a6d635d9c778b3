#include "attend/cli/verbs.h"

namespace attend::cli {

Verb* add_parent(Verb& program, const std::string& name, const std::string& description) {
  Verb* parent = program.add_subcommand(name, description);
  parent->footer("`attend help " + name + " VERB` describes a verb.");
  return parent;
}

}  // namespace attend::cli
