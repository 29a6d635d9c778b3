// attend convert: a model's folder as another folder, or as a file for other programs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/tasks/language_model/gguf_export.h"
#include "attend/explain/page.h"
#include "attend/nn/quantise.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertFlags {
  std::string model, output;
  std::vector<std::string> check;
  bool int8 = false, half = false;

  bool gguf() const { return fs::path(output).extension() == ".gguf"; }
};

/// What describes a model beside its weights goes with them as it is.
void copy_other_files(const fs::path& from, const fs::path& to) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                           "vocab.json", "merges.txt", "generation_config.json", "LICENSE"})
    if (fs::exists(from / name)) fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing);
}

std::int64_t bytes_of(const fs::path& path) {
  if (!fs::is_directory(path)) return static_cast<std::int64_t>(fs::file_size(path));
  std::int64_t total = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("model") || name.starts_with("pytorch_model"))
      total += static_cast<std::int64_t>(entry.file_size());
  }
  return total;
}

std::string megabytes(std::int64_t bytes) { return fixed(static_cast<double>(bytes) / 1e6, 1) + " MB"; }

/// The text's perplexity, or where the model is no language model the mean distance between the states or predictions.
double perplexity(const LanguageModel& model, const std::string& text) {
  const std::string texts[] = {text};
  return likelihood_of(text, model.score(texts).front()).perplexity();
}

/// Both perplexities on the given text, so that the effect of rounding is measured and not guessed.
void report_check(const ConvertFlags& flags) {
  LineReader reader(flags.check);
  std::string text;
  for (std::string line; reader.next(line);) text += line + "\n";
  if (text.empty()) fail<InputError>("convert", "there is no text to check the weights with");
  std::cerr << "Reading " << grouped(std::ssize(text)) << " bytes with both\n";
  const double before = perplexity(LanguageModel(flags.model), text);
  const double after = perplexity(LanguageModel(flags.output), text);
  const double change = 100 * (after / before - 1);
  std::cout << "perplexity  float32 " << fixed(before, 4) << "  int8 " << fixed(after, 4) << "  change "
            << (change < 0 ? "" : "+") << fixed(change, 3) << " %\n";
  if (change > 1) warn("int8 raises the perplexity by more than 1 %");
}

void run(const ConvertFlags& flags) {
  const fs::path from = flags.model, to = flags.output;
  if (!flags.check.empty() && (!flags.int8 || flags.gguf()))
    throw CLI::ValidationError("--check",
                               "compares a folder of int8 with what it was made from: give --int8, and a "
                               "folder for --output");
  if (flags.half && !flags.gguf())
    throw CLI::ValidationError("--half", "is for GGUF files: give --output a name that ends in .gguf");
  std::error_code error;
  if (fs::equivalent(from, to, error))
    throw CLI::ValidationError("--output", "is the model's own folder, which would be lost");

  const ModelFolder folder(from);
  if (flags.gguf()) {
    const GgufType type = flags.int8 ? GgufType::q8_0 : flags.half ? GgufType::f16 : GgufType::f32;
    save_gguf(load_gpt2(from), folder.tokenizer(), to, type, fs::absolute(from).lexically_normal().filename().string());
  } else {
    const std::shared_ptr<Model> model = folder.load();
    if (flags.int8) quantise(*model);
    fs::create_directories(to);
    copy_other_files(from, to);
    model->save(to);
  }
  std::cerr << to.string() << ": " << megabytes(bytes_of(to)) << ", was " << megabytes(bytes_of(from)) << '\n';
  if (!flags.check.empty()) report_check(flags);
}

}  // namespace

void add_convert(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("convert", "A model in int8, or as a GGUF file for llama.cpp");
  verb->group(kMakeAModel);
  auto flags = std::make_shared<ConvertFlags>();
  verb->add_option("-m,--model", flags->model, "The folder of a language model (GPT-2)")->type_name("DIR")->required();
  verb->add_option("-o,--output", flags->output,
                   "A folder for Attend, or a file whose name ends in .gguf, for llama.cpp")
      ->type_name("PATH")
      ->required();
  verb->add_flag("--int8", flags->int8,
                 "A byte a weight, with a scale for each row of a matrix (in a GGUF file: q8_0): a quarter of the "
                 "memory, and more than twice the speed of writing");
  verb->add_flag("--half", flags->half, "Two bytes a weight (f16), in a GGUF file")->excludes("--int8");
  verb->add_option("--check", flags->check,
                   "Print the perplexity of this text with the old weights and with the new ones")
      ->type_name("FILE ...");
  verb->footer(
      "Without --int8 weights are float32: a folder with PyTorch's files becomes one with safetensors. A folder of "
      "int8 "
      "can be run, but not trained further, and is for Attend alone.\n"
      "Examples:\n"
      "  attend convert --model gpt2 --int8 --output gpt2-int8 --check held-out.txt\n"
      "  attend convert --model gpt2 --output gpt2.gguf");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
