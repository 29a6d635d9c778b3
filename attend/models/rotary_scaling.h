// Rotary positions as "rope_parameters" of Hugging Face's config.json describes them, with the scaling of models that
// were extended to longer texts.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "attend/formats/config.h"
#include "attend/ops/rotary.h"

namespace attend {

enum class RotaryScaling : std::uint8_t {
  none,     ///< "default"
  linear,   ///< all positions are divided by `factor`
  dynamic,  ///< the same as none up to the maximum length of the model, which is the maximum length here
  yarn,     ///< Peng et al. 2023: low frequencies are divided by `factor`, high ones stay
  llama3,   ///< the same with other limits (Llama 3.1)
};

struct RotaryParameters {
  double theta = 10000;  ///< the base of the frequencies
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  std::int64_t original_positions = 0;           ///< yarn, llama3: the maximum length before the extension
  double beta_fast = 32, beta_slow = 1;          ///< yarn: frequencies with that many turns in it stay, are divided
  std::optional<double> attention_factor = {};   ///< yarn: of cosines and sines; empty: computed from `factor`
  double mscale = 0, mscale_all_dim = 0;         ///< yarn: used for attention_factor if both are above 0
  double low_frequency = 1, high_frequency = 4;  ///< llama3: the same as beta_slow and beta_fast

  /// Reads an entry of "rope_parameters"; the keys of "rope_scaling", its old name, replace those of the entry. `theta`
  /// and `positions` (the maximum length of the model) are the defaults. Throws InputError, naming the key, if a value
  /// is not supported.
  static RotaryParameters read(const Config& parameters, const Config& scaling, double theta, std::int64_t positions);
  Config write() const;

  /// The frequencies of a head with R rotated features: R / 2 of them.
  std::vector<double> frequencies(std::int64_t rotary_dim) const;
  /// The factor of cosines and sines.
  double magnitude() const;
  RotaryTable table(std::int64_t positions, std::int64_t rotary_dim) const;
};

}  // namespace attend
