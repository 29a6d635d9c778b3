// Functions that the training of all tasks shares: checks before the run starts, and the fingerprint of a run.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
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

/// Checks the output folder and the data files before a run, and locks the folder: the result is for
/// TrainerOptions::folder. With options.overwrite, the checkpoint of an old run is no longer used. Throws InputError
/// - if the output folder cannot be created, holds a run or a model that would be overwritten, is written to by another
///   process, or is the folder `from` that the model is loaded from (empty: a new model);
/// - if a data file does not exist or is a stream, since a run reads its data more than once. Empty names are ignored.
/// Warns of text that is not valid UTF-8.
std::shared_ptr<RunFolder> check_run(const TrainerOptions& options, const std::filesystem::path& from,
                                     const std::vector<std::filesystem::path>& files,
                                     const TrainingObserver& observer = {});

/// Passes the first of Weights::warnings() to the observer, with the number of the others.
void warn_of_weights(const Weights& weights, const TrainingObserver& observer);

/// "1,000 parameters"; "100 of 1,000 parameters to train" if some are frozen; "100 parameters to train, 1,000 frozen"
/// if adapters are trained.
std::string parameters_to_train(const std::vector<NamedTensor>& trained, std::int64_t all, bool adapters = false);

/// The inputs of a run, besides its options.
struct RunInputs {
  std::string model;                              ///< the configuration of the model, as JSON
  std::uint64_t tokenizer = 0;                    ///< the fingerprint of the tokenizer
  std::vector<std::filesystem::path> files = {};  ///< training and validation data; empty names are ignored
  std::filesystem::path from = {};                ///< the folder that the model is loaded from; empty: a new model
};
/// Adds the contents of all inputs to a fingerprint.
void add_inputs(const RunInputs& inputs, Fingerprint& all);

/// Adds options to a fingerprint: numbers, strings, lists, and structs with a visit() method.
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

/// The fingerprint of everything that must not change when a run is resumed: the options that options.visit() names,
/// and the contents of all inputs. Of the trainer's options, those that may change are listed in TrainerOptions.
template <typename Options>
std::string run_fingerprint(const Options& options, const RunInputs& inputs) {
  Fingerprint all;
  options.visit(OptionFingerprint(all));
  add_inputs(inputs, all);
  return std::to_string(all.value());
}

}  // namespace attend
