// What all verbs that train share: their flags, the progress of a run, its learning curve, its summary.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "attend/formats/config.h"
#include "attend/nn/module.h"
#include "attend/text/tokenizer.h"
#include "attend/train/trainer.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
}  // namespace CLI

namespace attend::cli {

struct TrainingFlags {
  TrainerOptions trainer;
  std::string output;
  bool resume = false, overwrite = false, json = false;
  std::int64_t batch_tokens = 4096;
  const CLI::App* verb = nullptr;            ///< whose flags these are
  std::set<const CLI::Option*> from_recipe;  ///< those that --config decided
};

/// --config, --output, --resume, --epochs, --steps, --learning-rate and so on, with the values in `flags` as defaults.
/// The first of `metrics` is the one that decides unless told.
void add_training_flags(CLI::App& verb, TrainingFlags& flags, const std::vector<std::string>& metrics);

// What can be checked is checked before any long work, and before anything is written.

/// Throws InputError when the output folder cannot be made, holds something that would be lost, or is the folder that
/// the model comes from (empty: it is a new one).
void check_output(const TrainingFlags& flags, const std::string& from = "");

/// Throws InputError when one of them is no file that can be read again: a run reads its texts more than once. Empty
/// names stand for none.
void check_texts(const std::vector<std::string>& files);

/// Throws CLI::ValidationError when a flag asks for judgements, but there is nothing to judge by.
void check_validation(const TrainingFlags& flags, bool given);

/// Throws CLI::ValidationError when the heads do not divide the width.
void check_heads(std::int64_t heads, std::int64_t width);

/// Trains with a progress bar; prints each judgement; keeps curve.csv and curve.html in the output folder, and with
/// the model recipe.toml, which repeats it; sums up on standard output. `data` is what must be the same when the run
/// is resumed (a fingerprint). After each judgement `show` may print something of the model.
TrainingResult run_training(Trainee& trainee, TrainingFlags& flags, const std::string& title, const std::string& data,
                            const std::function<void()>& show = {});

}  // namespace attend::cli
