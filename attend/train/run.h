// What the training of every task shares: checks before any long work, and the fingerprint of a run.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attend/data/fingerprint.h"
#include "attend/formats/weights.h"
#include "attend/train/trainer.h"

namespace attend {

/// Throws InputError when the output folder cannot be made, holds a run or a model that would be lost, or is the folder
/// `from` that the model comes from (empty: a new model); and when one of the data files does not exist or is a stream,
/// since a run reads its data more than once. Empty names are passed over. Warns of text that is not valid UTF-8.
void check_run(const TrainerOptions& options, const std::filesystem::path& from,
               const std::vector<std::filesystem::path>& files, const TrainingObserver& observer = {});

/// Warns if weights are not used as they are stored (see Weights::warnings).
void warn_of_weights(const Weights& weights, const TrainingObserver& observer);

/// What a run is made from, beside its options.
struct RunInputs {
  std::string model;                              ///< the configuration, as JSON
  std::uint64_t tokenizer = 0;                    ///< its fingerprint
  std::vector<std::filesystem::path> files = {};  ///< training and validation data; empty names are passed over
  std::filesystem::path from = {};                ///< the folder that the model starts from; empty: a new model
};
/// The contents of all inputs, in order.
void add_inputs(const RunInputs& inputs, Fingerprint& all);

/// Adds options to a fingerprint: numbers, names, lists, and structs that have a visit() of their own.
class OptionFingerprint {
 public:
  explicit OptionFingerprint(Fingerprint& all) : all_(all) {}

  template <typename Value>
  void operator()(std::string_view name, const Value& value) {
    all_.add(name);
    add(value);
  }

 private:
  template <typename Value>
  void add(const Value& value) {
    if constexpr (std::integral<Value> || std::is_enum_v<Value>) {
      all_.add(static_cast<std::uint64_t>(value));
    } else if constexpr (std::floating_point<Value>) {
      all_.add(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else if constexpr (std::convertible_to<Value, std::string_view>) {
      all_.add(std::string_view(value));
    } else if constexpr (std::ranges::range<Value>) {
      all_.add(std::ranges::size(value));
      for (const auto& element : value) add(element);
    } else {
      value.visit(*this);
    }
  }

  Fingerprint& all_;
};

/// Changes with everything that must stay the same when a run is resumed: the options that options.visit() names, and
/// the contents of all inputs. What is not named there may change: how long to train, how fast, and what to print.
template <typename Options>
std::string run_fingerprint(const Options& options, const RunInputs& inputs) {
  Fingerprint all;
  options.visit(OptionFingerprint(all));
  add_inputs(inputs, all);
  return std::to_string(all.value());
}

}  // namespace attend
