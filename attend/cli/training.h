// What all verbs that train share: their flags, the progress of a run, its learning curve, its summary.
#pragma once
#include <string>

#include "attend/train/trainer.h"

namespace CLI {
class App;
}

namespace attend::cli {

struct TrainingFlags {
  TrainerOptions trainer;
  std::string output;
  bool resume = false, overwrite = false, json = false;
  std::int64_t batch_tokens = 4096;
};

/// --output, --resume, --epochs, --steps, --learning-rate and so on, with the values in `flags` as defaults.
void add_training_flags(CLI::App& verb, TrainingFlags& flags);

/// Throws InputError when the output folder holds something that would be lost. Before any long work.
void check_output(const TrainingFlags& flags);

/// Trains with a progress bar; prints each judgement; keeps curve.csv and curve.html in the output folder; sums up on
/// standard output. `data` is what the run depends on beside the flags (a fingerprint): a resumed run must have the
/// same.
TrainingResult run_training(Trainee& trainee, TrainingFlags& flags, const std::string& title, const std::string& data);

}  // namespace attend::cli
