// Reads a command line: finds the verb, sets its flags, and runs it. Only command_line.cpp includes the parser, CLI11.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// Thrown if a verb is missing after `attend` or `attend train`. The text is the help.
struct MissingVerb : UsageError {
  using UsageError::UsageError;
};

/// Runs the verb that the arguments name, or prints the help or the version. Throws UsageError, and what the verb
/// throws. Sets `reached` to the verb as soon as it is known.
void run_command(Verb& program, const std::vector<std::string>& arguments, std::ostream& out, const Verb*& reached);

}  // namespace attend::cli
