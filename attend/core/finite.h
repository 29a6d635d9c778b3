// Checks that the numbers of a model's answer are finite. One damaged weight turns every number that depends on it into
// NaN, which would otherwise look like an answer: an empty list, a perplexity of 1, the first label.
#pragma once
#include <span>
#include <string_view>

#include "attend/core/error.h"

namespace attend {

/// Thrown if the weights of a model are damaged. The program exits with status 2 for it, as for an InputError; a server
/// does not blame the request.
class ModelError : public Error {
 public:
  using Error::Error;
};

/// Whether no number is NaN or infinite. Cost: one pass over the numbers.
bool all_finite(std::span<const float> numbers);

/// Throws the ModelError for numbers that are not finite.
[[noreturn]] void fail_not_finite(std::string_view where);

/// Throws ModelError unless all numbers are finite.
inline void check_finite(std::string_view where, std::span<const float> numbers) {
  if (!all_finite(numbers)) fail_not_finite(where);
}

}  // namespace attend
