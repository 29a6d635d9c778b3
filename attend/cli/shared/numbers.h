// What a number on the command line must be. CLI11's own checks say it with the limits of the number's type, hundreds
// of digits of them.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

namespace attend::cli {

/// A number for which a condition holds; `must` is what the error says: "must be above 0".
template <typename Condition>
CLI::Validator number_that(const std::string& must, Condition holds) {
  return CLI::Validator(
      [must, holds](std::string& given) {
        char* end = nullptr;
        const double value = std::strtod(given.c_str(), &end);
        const bool number = !given.empty() && *end == '\0';
        return number && holds(value) ? std::string() : must + ", got " + given;
      },
      "");
}

inline const CLI::Validator kPositive = number_that("must be above 0", [](double x) { return x > 0; });
inline const CLI::Validator kNotNegative = number_that("must not be negative", [](double x) { return x >= 0; });

/// From the least to the most, both included.
template <typename Number>
CLI::Validator between(Number least, Number most) {
  std::ostringstream must;
  must << "must be from " << least << " to " << most;
  return number_that(must.str(),
                     [=](double x) { return x >= static_cast<double>(least) && x <= static_cast<double>(most); });
}

}  // namespace attend::cli
