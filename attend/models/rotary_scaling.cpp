#include "attend/models/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

const std::vector<std::pair<std::string, RotaryScaling>> kScalings = {
    {"default", RotaryScaling::none}, {"linear", RotaryScaling::linear}, {"dynamic", RotaryScaling::dynamic},
    {"yarn", RotaryScaling::yarn},    {"llama3", RotaryScaling::llama3}, {"longrope", RotaryScaling::longrope},
    {"su", RotaryScaling::longrope}};

/// How much of a frequency stays, from 0 to 1, that of pair i (YaRN, eq. 13, with the limits of transformers).
double kept_by_yarn(const RotaryParameters& p, std::int64_t i, std::int64_t R) {
  const auto pair_with_turns = [&](double turns) {
    return static_cast<double>(R) *
           std::log(static_cast<double>(p.original_positions) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(p.theta));
  };
  const double low = std::max(std::floor(pair_with_turns(p.beta_fast)), 0.);
  double high = std::min(std::ceil(pair_with_turns(p.beta_slow)), static_cast<double>(R - 1));
  if (low == high) high += 0.001;
  return 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0., 1.);
}

/// The same for Llama 3.1.
double kept_by_llama3(const RotaryParameters& p, double frequency) {
  const double turns = static_cast<double>(p.original_positions) * frequency / (2 * std::numbers::pi);
  if (turns > p.high_frequency) return 1;
  if (turns < p.low_frequency) return 0;
  return (turns - p.low_frequency) / (p.high_frequency - p.low_frequency);
}

}  // namespace

RotaryParameters RotaryParameters::read(const Config& parameters, const Config& scaling, std::int64_t positions,
                                        const RotaryParameters& defaults) {
  const auto from = [&](const char* key) -> const Config& { return scaling.has(key) ? scaling : parameters; };
  const auto positive = [&](const char* key, std::optional<double> fallback) {
    return static_cast<double>(from(key).positive(key, fallback));
  };
  RotaryParameters p = defaults;
  // The oldest folders call it "type".
  const char* type = from("type").has("type") && !from("rope_type").has("rope_type") ? "type" : "rope_type";
  p.scaling = from(type).choice(type, kScalings, {RotaryScaling::none});
  p.theta = from("rope_theta").number("rope_theta", p.theta);
  if (!(p.theta > 0))
    fail<InputError>("rope", "config.json: \"rope_theta\" is ", p.theta, ", expected a positive number");
  p.partial = positive("partial_rotary_factor", p.partial);
  if (p.partial > 1)
    fail<InputError>("rope", "config.json: \"partial_rotary_factor\" is ", p.partial, ", expected at most 1");
  if (p.scaling == RotaryScaling::none) return p;
  p.original_positions = from("original_max_position_embeddings")
                             .integer_in("original_max_position_embeddings", 1, bounds::kPositions,
                                         defaults.original_positions > 0 ? defaults.original_positions : positions);
  // The default of the factor.
  const bool ratio = p.scaling == RotaryScaling::yarn || p.scaling == RotaryScaling::longrope;
  p.factor = positive(
      "factor",
      ratio ? std::optional(static_cast<double>(positions) / static_cast<double>(p.original_positions)) : std::nullopt);
  p.beta_fast = positive("beta_fast", p.beta_fast), p.beta_slow = positive("beta_slow", p.beta_slow);
  if (from("attention_factor").has("attention_factor")) {
    positive("attention_factor", {});  // as a float it would not be saved unchanged
    p.attention_factor = from("attention_factor").number("attention_factor");
  }
  p.mscale = from("mscale").number("mscale", 0.0);
  p.mscale_all_dim = from("mscale_all_dim").number("mscale_all_dim", 0.0);
  if (p.scaling == RotaryScaling::llama3)
    p.low_frequency = positive("low_freq_factor", {}), p.high_frequency = positive("high_freq_factor", {});
  if (p.low_frequency >= p.high_frequency)
    fail<InputError>("rope", "config.json: \"low_freq_factor\" is ", p.low_frequency,
                     ", expected less than \"high_freq_factor\", which is ", p.high_frequency);
  if (p.scaling == RotaryScaling::longrope)
    for (const auto& [key, factors] : {std::pair{"short_factor", &p.short_factors}, {"long_factor", &p.long_factors}}) {
      *factors = from(key).numbers(key);
      if (factors->empty() || std::ranges::any_of(*factors, [](double one) { return !(one > 0); }))
        fail<InputError>("rope", "config.json: \"", key, "\" is ", from(key).json(key), ", expected positive numbers");
    }
  return p;
}

Config RotaryParameters::write() const {
  Config config;
  config.set("rope_type", name_of(scaling, kScalings)), config.set("rope_theta", theta);
  if (partial != 1) config.set("partial_rotary_factor", partial);
  if (scaling == RotaryScaling::none) return config;
  config.set("factor", factor);
  if (scaling == RotaryScaling::yarn) {
    config.set("beta_fast", beta_fast), config.set("beta_slow", beta_slow);
    config.set("attention_factor", magnitude());
  }
  if (scaling == RotaryScaling::llama3)
    config.set("low_freq_factor", low_frequency), config.set("high_freq_factor", high_frequency);
  if (scaling == RotaryScaling::longrope) {
    config.set("short_factor", short_factors), config.set("long_factor", long_factors);
    config.set("attention_factor", magnitude());
  }
  if (scaling == RotaryScaling::yarn || scaling == RotaryScaling::llama3 || scaling == RotaryScaling::longrope)
    config.set("original_max_position_embeddings", original_positions);
  return config;
}

std::int64_t RotaryParameters::rotary_dim(std::int64_t head_dim) const {
  const auto dim = static_cast<std::int64_t>(static_cast<double>(head_dim) * partial);
  if (dim < 2 || dim % 2 != 0)
    fail<InputError>("rope", "config.json: rotary positions need an even number of features in a head: got ", dim,
                     " of ", head_dim);
  return dim;
}

std::vector<double> RotaryParameters::frequencies(std::int64_t head_dim, bool long_text) const {
  const std::int64_t R = rotary_dim(head_dim);
  std::vector<double> all = rotary_frequencies(R, theta);
  const std::vector<double>& factors = long_text ? long_factors : short_factors;
  if (scaling == RotaryScaling::longrope && factors.size() != all.size())
    fail<InputError>("rope", "config.json: \"", long_text ? "long_factor" : "short_factor", "\" has ", factors.size(),
                     " numbers, expected ", all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double kept = 1;
    if (scaling == RotaryScaling::linear) kept = 0;
    if (scaling == RotaryScaling::yarn) kept = kept_by_yarn(*this, static_cast<std::int64_t>(i), R);
    if (scaling == RotaryScaling::llama3) kept = kept_by_llama3(*this, all[i]);
    all[i] *= scaling == RotaryScaling::longrope ? 1 / factors[i] : kept + (1 - kept) / factor;
  }
  return all;
}

double RotaryParameters::magnitude() const {
  if (scaling == RotaryScaling::longrope) {
    const double computed =
        factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(original_positions)));
    return attention_factor.value_or(computed);
  }
  if (scaling != RotaryScaling::yarn) return 1;
  const auto grown = [&](double by) { return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1; };  // YaRN, eq. 15
  const double computed = mscale > 0 && mscale_all_dim > 0 ? grown(mscale) / grown(mscale_all_dim) : grown(1);
  return attention_factor.value_or(computed);
}

RotaryTable RotaryParameters::table(std::int64_t positions, std::int64_t head_dim) const {
  return {positions, frequencies(head_dim), RotaryLayout::halves, magnitude()};
}

RotaryAngles::RotaryAngles(const RotaryParameters& parameters, std::int64_t head_dim)
    : frequencies_(parameters.frequencies(head_dim)), magnitude_(parameters.magnitude()) {
  if (parameters.scaling != RotaryScaling::longrope) return;
  long_frequencies_ = parameters.frequencies(head_dim, true);
  short_length_ = parameters.original_positions;
}

RotaryTable RotaryAngles::operator()(std::span<const std::int32_t> positions,
                                     std::span<const std::int64_t> lengths) const {
  const auto half = std::ssize(frequencies_);
  RotaryTable table;
  table.cosines = Tensor::empty({std::ssize(positions), half}), table.sines = Tensor::like(table.cosines);
  parallel_for(std::ssize(positions), 1 + 256 / half, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const auto& all = short_length_ > 0 && lengths[at] > short_length_ ? long_frequencies_ : frequencies_;
      float *cosine = table.cosines.data() + row * half, *sine = table.sines.data() + row * half;
      for (const double frequency : all) {
        const double angle = static_cast<double>(positions[at]) * frequency;
        *cosine++ = static_cast<float>(magnitude_ * std::cos(angle));
        *sine++ = static_cast<float>(magnitude_ * std::sin(angle));
      }
    }
  });
  return table;
}

}  // namespace attend
