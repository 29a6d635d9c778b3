// What all verbs that train share: their flags, the progress of a run, its learning curve, its summary.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "attend/formats/config.h"
#include "attend/nn/module.h"
#include "attend/text/tokenizer.h"
#include "attend/train/trainer.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attend::cli {

struct TrainingFlags {
  TrainerOptions trainer;
  std::string output;
  bool resume = false, overwrite = false, json = false;
  std::int64_t batch_tokens = 4096;
  const CLI::App* verb = nullptr;  ///< whose flags these are
};

/// --config, --output, --resume, --epochs, --steps, --learning-rate and so on, with the values in `flags` as defaults.
/// The first of `metrics` is the one that decides unless told.
void add_training_flags(CLI::App& verb, TrainingFlags& flags, const std::vector<std::string>& metrics);

/// Throws InputError when the output folder holds something that would be lost. Before any long work.
void check_output(const TrainingFlags& flags);

/// Throws CLI::ValidationError when a flag asks for judgements, but there is nothing to judge by.
void check_validation(const TrainingFlags& flags, bool given);

/// Writes a model's folder: config.json with its type and options, its tokenizer, its parameters.
template <typename Model>
void save_model(Model& model, std::string_view type, const Tokenizer& tokenizer, const std::filesystem::path& folder) {
  Config config;
  config.set("model_type", std::string(type));
  model.options.write(config);
  config.save(folder / "config.json");
  save_tokenizer(tokenizer, folder);
  save_parameters(model, folder / "model.safetensors");
}

/// Trains with a progress bar; prints each judgement; keeps curve.csv, curve.html and recipe.toml, which repeats the
/// run, in the output folder; sums up on standard output. `data` is what the run depends on beside the flags (a
/// fingerprint): a resumed run must have the same. After each judgement `show` may print something of the model.
TrainingResult run_training(Trainee& trainee, TrainingFlags& flags, const std::string& title, const std::string& data,
                            const std::function<void()>& show = {});

}  // namespace attend::cli
