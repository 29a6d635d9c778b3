#include "attend/models/check_weights.h"

#include <charconv>
#include <set>

#include "attend/core/error.h"
#include "attend/core/wording.h"

namespace attend {

void check_layers(const char* op, const Config& config, const Weights& weights, std::string_view layers,
                  std::string_view key, std::int64_t expected) {
  std::set<std::int64_t> found;
  for (const std::string& name : weights.names()) {
    const std::size_t at = name.find(layers);
    if (at == std::string::npos || (at > 0 && name[at - 1] != '.') || !name.ends_with(".weight")) continue;
    std::int64_t number = 0;
    const char* begin = name.data() + at + layers.size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
    if (error == std::errc() && end != begin && *end == '.') found.insert(number);
  }
  if (!found.empty() && std::ssize(found) != expected)
    fail<InputError>(op, config.name(), ": \"", key, "\" is ", expected, ", but the weights in ", weights.name(),
                     " have ", found.size(), " layers (", layers, *found.begin(), " to ", layers, *found.rbegin(), ")");
}

void check_parameters(const char* op, const Config& config, const Weights& weights, double least) {
  // A model that misses a few tensors is refused later, by their names. This check is about memory.
  constexpr double kFewParameters = 1 << 24;
  const std::uint64_t held = weights.elements();
  if (least > 2 * static_cast<double>(held) + kFewParameters)
    fail<InputError>(op, config.name(), ": a model of these sizes has at least ", least, " parameters, but ",
                     weights.name(), " holds ", grouped(held), "; do the two files belong together?");
}

}  // namespace attend
