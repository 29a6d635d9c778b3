#include "attend/train/run.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/wording.h"
#include "attend/data/invalid_text.h"
#include "attend/data/token_store.h"
#include "attend/models/adapter.h"
#include "attend/train/average.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<RunFolder> open_output(const TrainerOptions& options, const fs::path& from) {
  const fs::path& folder = options.output;
  if (!from.empty() && holds_adapter(from))
    fail<InputError>("finetune", from.string(), ": holds an adapter; merge it into its model first: attend convert ",
                     "--merge --model ", from.string(), " --output DIR");
  if (folder.empty()) fail<InputError>("output", "the output folder is missing: name one with --output");
  check_output_folder(folder);
  std::error_code not_there;
  if (!from.empty() && fs::equivalent(from, folder, not_there))
    fail<InputError>("output", from.string(), ": is both --from and --output; choose another folder for the new model");
  auto opened = std::make_shared<RunFolder>(folder);
  if (options.resume || options.overwrite) return opened;
  if (fs::exists(opened->checkpoint()))
    fail<InputError>("output", folder.string(),
                     ": holds a training run; add --resume to continue it, or --overwrite to start again");
  for (const char* name : {"config.json", "adapter_config.json", "model.safetensors", "model.safetensors.index.json",
                           "pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (fs::exists(folder / name))
      fail<InputError>("output", folder.string(), ": holds a model; add --overwrite, or choose another folder");
  return opened;
}

void check_file(const fs::path& file) {
  std::error_code unknown;
  const fs::file_status status = fs::status(file, unknown);
  if (file == "-" || (fs::exists(status) && fs::is_other(status)))
    fail<InputError>("train", file.string(), ": is a stream, but training reads its data more than once; use a file");
  if (!fs::exists(status)) fail<InputError>("train", file.string(), ": there is no such file");
  if (fs::is_directory(status)) fail<InputError>("train", file.string(), ": is a folder, expected a file");
}

/// The configuration and the weights in a model's folder, without the checkpoint of a run.
std::vector<fs::path> model_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(current_folder(folder))) {
    const std::string name = entry.path().filename();
    const bool weights = name.starts_with("model") && name.ends_with(".safetensors");
    if (weights || name.starts_with("pytorch_model") || name == "config.json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::shared_ptr<RunFolder> check_run(const TrainerOptions& options, const fs::path& from,
                                     const std::vector<fs::path>& files, const TrainingObserver& observer) {
  auto folder = open_output(options, from);
  std::vector<fs::path> texts;
  for (const fs::path& file : files) {
    if (file.empty()) continue;
    check_file(file);
    if (!is_token_store(file)) texts.push_back(file);
  }
  if (const InvalidText invalid = invalid_text_in(texts); invalid.count > 0) observer.warn(invalid.warning());
  if (!options.resume) folder->begin();
  return folder;
}

void warn_of_weights(const Weights& weights, const TrainingObserver& observer) {
  const std::vector<std::string> all = weights.warnings();
  if (all.empty()) return;
  observer.warn(all.front() +
                (all.size() > 1 ? "; the same holds for " + counted(std::ssize(all) - 1, "other tensor") : ""));
}

std::string parameters_to_train(const std::vector<NamedTensor>& trained, std::int64_t all, bool adapters) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : distinct(trained)) count += parameter.tensor.numel();
  if (adapters) return counted(count, "parameter") + " to train, " + grouped(all) + " frozen";
  return (count < all ? grouped(count) + " of " : "") + counted(all, "parameter") + (count < all ? " to train" : "");
}

void add_inputs(const RunInputs& inputs, Fingerprint& all) {
  all.add(inputs.model).add(inputs.tokenizer);
  for (const fs::path& file : inputs.files)
    if (!file.empty()) all.add_contents(file);
  if (!inputs.from.empty())
    for (const fs::path& file : model_files(inputs.from)) all.add(file.filename().string()).add_contents(file);
}

}  // namespace attend
