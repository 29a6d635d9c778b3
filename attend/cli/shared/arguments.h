// Arguments as they were typed. CLI11 takes "[a, b]" for a list of two, in every option that may have several values,
// and has no switch for it; but "[MASK] and [MASK]" is a text, and "[1]" may be a file.
#pragma once
#include <string>

#include "attend/cli/shared/cli11.h"

namespace attend::cli {

/// The argument with a mark behind the bracket at its end, so that CLI11 sees no list in it.
std::string hide_list(std::string argument);
/// Lets all options of a program and its verbs take the mark away before anything is made of their values.
void take_hidden_lists(CLI::App& program);

}  // namespace attend::cli
