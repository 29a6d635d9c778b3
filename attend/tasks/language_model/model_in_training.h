// The language model of a training run: a new one, that of a folder, or adapters for it. The tasks that train language
// models share it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct ModelInTrainingOptions {
  std::filesystem::path from = {};  ///< the folder of a model to fine-tune; empty: a new one
  CausalLmOptions model = {};       ///< of a new model
  std::int64_t context = 0;  ///< the positions of a new model; tokens that a model of a folder must be able to read
  std::optional<float> dropout = {};  ///< of all kinds; empty: the values of the model
  LoraOptions lora = {};              ///< for fine-tuning: train adapters only
  std::uint64_t seed = 1;

  /// From the options of a task, which have the same names.
  static ModelInTrainingOptions of(const auto& task) {
    return {.from = task.from,
            .model = task.model,
            .context = task.context,
            .dropout = task.dropout,
            .lora = task.lora,
            .seed = task.trainer.seed};
  }
};

struct ModelInTraining {
  CausalLm model;
  std::vector<NamedTensor> trained;  ///< leaves of the tape

  /// Throws InputError if the model does not fit the tokenizer or the context.
  ModelInTraining(const ModelInTrainingOptions& options, const Tokenizer& tokenizer);
  ModelInTraining(const ModelInTraining&) = delete;

  /// Saves the model with its tokenizer and generation_config.json and chat template, or the adapters.
  void save(const Tokenizer& tokenizer, const std::filesystem::path& folder);

 private:
  std::filesystem::path from_;
  AdapterInfo adapter_;
};

}  // namespace attend
