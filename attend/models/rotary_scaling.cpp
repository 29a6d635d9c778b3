#include "attend/models/rotary_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attend/core/error.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

const std::vector<std::pair<std::string, RotaryScaling>> kScalings = {{"default", RotaryScaling::none},
                                                                      {"linear", RotaryScaling::linear},
                                                                      {"dynamic", RotaryScaling::dynamic},
                                                                      {"yarn", RotaryScaling::yarn},
                                                                      {"llama3", RotaryScaling::llama3}};

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

RotaryParameters RotaryParameters::read(const Config& parameters, const Config& scaling, double theta,
                                        std::int64_t positions) {
  const auto from = [&](const char* key) -> const Config& { return scaling.has(key) ? scaling : parameters; };
  const auto positive = [&](const char* key, std::optional<double> fallback) {
    return static_cast<double>(from(key).positive(key, fallback));
  };
  RotaryParameters p;
  // The oldest folders call it "type".
  const char* type = scaling.has("type") && !scaling.has("rope_type") ? "type" : "rope_type";
  p.scaling = from(type).choice(type, kScalings, {RotaryScaling::none});
  p.theta = from("rope_theta").number("rope_theta", theta);
  if (!(p.theta > 0))
    fail<InputError>("rope", "config.json: \"rope_theta\" is ", p.theta, ", expected a positive number");
  if (from("partial_rotary_factor").number("partial_rotary_factor", 1.0) != 1)
    fail<InputError>("rope", "config.json: \"partial_rotary_factor\" is not supported");
  if (p.scaling == RotaryScaling::none) return p;
  p.original_positions = from("original_max_position_embeddings")
                             .integer_in("original_max_position_embeddings", 1, bounds::kPositions, positions);
  const bool ratio = p.scaling == RotaryScaling::yarn;  // the default of its factor
  p.factor = positive(
      "factor",
      ratio ? std::optional(static_cast<double>(positions) / static_cast<double>(p.original_positions)) : std::nullopt);
  p.beta_fast = positive("beta_fast", p.beta_fast), p.beta_slow = positive("beta_slow", p.beta_slow);
  if (from("attention_factor").has("attention_factor")) p.attention_factor = positive("attention_factor", {});
  p.mscale = from("mscale").number("mscale", 0.0);
  p.mscale_all_dim = from("mscale_all_dim").number("mscale_all_dim", 0.0);
  if (p.scaling == RotaryScaling::llama3)
    p.low_frequency = positive("low_freq_factor", {}), p.high_frequency = positive("high_freq_factor", {});
  if (p.low_frequency >= p.high_frequency)
    fail<InputError>("rope", "config.json: \"low_freq_factor\" is ", p.low_frequency,
                     ", expected less than \"high_freq_factor\", which is ", p.high_frequency);
  return p;
}

Config RotaryParameters::write() const {
  Config config;
  config.set("rope_type", name_of(scaling, kScalings)), config.set("rope_theta", theta);
  if (scaling == RotaryScaling::none) return config;
  config.set("factor", factor);
  if (scaling == RotaryScaling::yarn) {
    config.set("beta_fast", beta_fast), config.set("beta_slow", beta_slow);
    config.set("attention_factor", magnitude());
  }
  if (scaling == RotaryScaling::llama3)
    config.set("low_freq_factor", low_frequency), config.set("high_freq_factor", high_frequency);
  if (scaling == RotaryScaling::yarn || scaling == RotaryScaling::llama3)
    config.set("original_max_position_embeddings", original_positions);
  return config;
}

std::vector<double> RotaryParameters::frequencies(std::int64_t rotary_dim) const {
  std::vector<double> all = rotary_frequencies(rotary_dim, theta);
  for (std::size_t i = 0; i < all.size(); ++i) {
    double kept = 1;
    if (scaling == RotaryScaling::linear) kept = 0;
    if (scaling == RotaryScaling::yarn) kept = kept_by_yarn(*this, static_cast<std::int64_t>(i), rotary_dim);
    if (scaling == RotaryScaling::llama3) kept = kept_by_llama3(*this, all[i]);
    all[i] *= kept + (1 - kept) / factor;
  }
  return all;
}

double RotaryParameters::magnitude() const {
  if (scaling != RotaryScaling::yarn) return 1;
  const auto grown = [&](double by) { return factor <= 1 ? 1 : 0.1 * by * std::log(factor) + 1; };  // YaRN, eq. 15
  const double computed = mscale > 0 && mscale_all_dim > 0 ? grown(mscale) / grown(mscale_all_dim) : grown(1);
  return attention_factor.value_or(computed);
}

RotaryTable RotaryParameters::table(std::int64_t positions, std::int64_t rotary_dim) const {
  return {positions, frequencies(rotary_dim), RotaryLayout::halves, magnitude()};
}

}  // namespace attend
