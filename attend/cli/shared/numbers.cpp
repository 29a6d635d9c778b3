#include "attend/cli/shared/numbers.h"

#include <cstdlib>

namespace attend::cli {

Check number_that(const std::string& must, std::function<bool(double)> holds) {
  return [must, holds = std::move(holds)](const std::string& given) {
    char* end = nullptr;
    const double value = std::strtod(given.c_str(), &end);
    const bool number = !given.empty() && *end == '\0';
    return number && holds(value) ? std::string() : must + ", got " + given;
  };
}

Check between(double least, double most) {
  const auto text = [](double limit) {
    return limit == static_cast<double>(static_cast<std::int64_t>(limit)) ? text_of(static_cast<std::int64_t>(limit))
                                                                          : text_of(limit);
  };
  return number_that("must be from " + text(least) + " to " + text(most),
                     [=](double x) { return x >= least && x <= most; });
}

const Check kPositive = number_that("must be above 0", [](double x) { return x > 0; });
const Check kNotNegative = number_that("must not be negative", [](double x) { return x >= 0; });

}  // namespace attend::cli
