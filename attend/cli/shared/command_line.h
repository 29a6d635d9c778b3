// Reads a command line: finds the verb, sets its flags, and runs it. Only its source includes the parser, CLI11.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// A verb is missing behind `attend` or `attend train`. The text is the help.
struct MissingVerb : UsageError {
  using UsageError::UsageError;
};

/// Runs the verb that the arguments name, or prints the help or the version that they ask for. Throws UsageError, and
/// what the verb throws. `reached` becomes the verb, as soon as it is known.
void run_command(Verb& program, const std::vector<std::string>& arguments, std::ostream& out, const Verb*& reached);

}  // namespace attend::cli
