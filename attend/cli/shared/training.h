// What all verbs that train share: the flags of the trainer, the progress display, the learning curve and the summary.
#pragma once
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "attend/cli/shared/flags.h"
#include "attend/models/adapter.h"
#include "attend/train/trainer.h"

namespace attend::cli {

struct TrainingFlags {
  bool json = false;
  TrainerOptions* trainer = nullptr;  ///< the options that the flags set
  const Verb* verb = nullptr;         ///< the verb that has the flags
  std::set<const Flag*> from_recipe;  ///< those that --config set
};

/// --NAME PATH, and --NAME PATH …
Flag* add_path_flag(Verb& verb, const std::string& name, std::filesystem::path& path, const std::string& help,
                    const char* type = "FILE");
Flag* add_paths_flag(Verb& verb, const std::string& name, std::vector<std::filesystem::path>& paths,
                     const std::string& help);

/// --config, --output, --resume, --epochs, --steps, --learning-rate and so on, with the options' values as defaults.
/// The first of `metrics` is the default of --metric.
void add_training_flags(Verb& verb, TrainingFlags& flags, TrainerOptions& options, std::int64_t& batch_tokens,
                        const std::vector<std::string>& metrics);
/// The same for data that are generated without end: there are no epochs, and batches do not count tokens.
void add_training_flags(Verb& verb, TrainingFlags& flags, TrainerOptions& options,
                        const std::vector<std::string>& metrics);

/// --lora, --lora-alpha, --lora-dropout and --lora-targets.
void add_lora_flags(Verb& verb, LoraOptions& options);

/// Throws UsageError if a flag needs validation data and there is none.
void check_validation(const TrainingFlags& flags, bool given, const std::string& needed = "--validation");

/// Throws UsageError if the width is not a multiple of the number of heads.
void check_heads(std::int64_t heads, std::int64_t width);

/// Calls training(observer) with an observer that shows a progress bar and prints each evaluation. Writes curve.html
/// into the output folder, and with each model recipe.toml, which repeats the run. Prints a summary on standard output.
void run_training(const TrainingFlags& flags, const std::string& title,
                  const std::function<TrainingResult(const TrainingObserver&)>& training);

}  // namespace attend::cli
