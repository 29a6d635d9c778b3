// Rotary positions as "rope_parameters" of Hugging Face's config.json describes them, with the scaling of models that
// were extended to longer texts.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/formats/config.h"
#include "attend/ops/rotary.h"

namespace attend {

enum class RotaryScaling : std::uint8_t {
  none,      ///< "default"
  linear,    ///< all positions are divided by `factor`
  dynamic,   ///< the same as none up to the maximum length of the model, which is the maximum length here
  yarn,      ///< Peng et al. 2023: low frequencies are divided by `factor`, high ones stay
  llama3,    ///< the same with other limits (Llama 3.1)
  longrope,  ///< Ding et al. 2024: each frequency is divided by a factor of its own; texts that are longer than the
             ///< original maximum have other factors
};

struct RotaryParameters {
  double theta = 10000;  ///< the base of the frequencies
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  double partial = 1;                           ///< the fraction of the features of a head that is rotated
  std::int64_t original_positions = 0;          ///< yarn, llama3, longrope: the maximum length before the extension
  double beta_fast = 32, beta_slow = 1;         ///< yarn: frequencies with that many turns in it stay, are divided
  std::optional<double> attention_factor = {};  ///< yarn, longrope: of cosines and sines; empty: computed from `factor`
  double mscale = 0, mscale_all_dim = 0;        ///< yarn: used for attention_factor if both are above 0
  double low_frequency = 1, high_frequency = 4;               ///< llama3: the same as beta_slow and beta_fast
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope: of each frequency

  /// Reads an entry of "rope_parameters"; the keys of "rope_scaling", its old name, replace those of the entry.
  /// `positions` is the maximum length of the model. What the entry does not have is taken from `defaults`. Throws
  /// InputError, naming the key, if a value is not supported.
  static RotaryParameters read(const Config& parameters, const Config& scaling, std::int64_t positions,
                               const RotaryParameters& defaults);
  Config write() const;

  /// R: the number of rotated features of a head.
  std::int64_t rotary_dim(std::int64_t head_dim) const;
  /// The R / 2 frequencies; longrope: those of texts of up to original_positions tokens, or of longer ones.
  std::vector<double> frequencies(std::int64_t head_dim, bool long_text = false) const;
  /// The factor of cosines and sines.
  double magnitude() const;
  RotaryTable table(std::int64_t positions, std::int64_t head_dim) const;
};

/// Computes the rows of rotary tables when they are needed, so that a model for very long texts needs no large table.
class RotaryAngles {
 public:
  RotaryAngles() = default;
  RotaryAngles(const RotaryParameters& parameters, std::int64_t head_dim);

  bool defined() const { return !frequencies_.empty(); }
  /// Texts with more tokens than this have other frequencies; 0: all texts have the same.
  std::int64_t short_length() const { return short_length_; }
  /// Row i is for position positions[i] of a text of lengths[i] tokens.
  RotaryTable operator()(std::span<const std::int32_t> positions, std::span<const std::int64_t> lengths) const;

 private:
  std::vector<double> frequencies_, long_frequencies_;
  double magnitude_ = 1;
  std::int64_t short_length_ = 0;
};

}  // namespace attend
