// What a number on the command line must be.
#pragma once
#include <functional>
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// A number for which a condition holds; `must` is what the error says: "must be above 0".
Check number_that(const std::string& must, std::function<bool(double)> holds);

/// From the least to the most, both included.
Check between(double least, double most);

extern const Check kPositive, kNotNegative;

}  // namespace attend::cli
