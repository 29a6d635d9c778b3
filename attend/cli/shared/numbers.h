// Checks of numbers on the command line.
#pragma once
#include <functional>
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// The number must satisfy a condition; `must` is the text of the error: "must be above 0".
Check number_that(const std::string& must, std::function<bool(double)> holds);

/// The number must be from `least` to `most`, both included.
Check between(double least, double most);

extern const Check kPositive, kNotNegative;

}  // namespace attend::cli
