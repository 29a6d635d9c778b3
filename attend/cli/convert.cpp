// attend convert: writes a model as int8, float32 or GGUF.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/language_flags.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/explain/page.h"
#include "attend/models/adapter.h"
#include "attend/models/registry.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/tasks/embedding/text_encoder.h"
#include "attend/tasks/language_model/chat.h"
#include "attend/tasks/language_model/gguf_export.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/tasks/translation/translator.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertFlags {
  std::string model, adapter, output;
  std::vector<std::string> check;
  TranslateOptions languages;  // of the check
  bool int8 = false, half = false, bfloat16 = false, merge = false, overwrite = false;

  bool gguf() const { return fs::path(output).extension() == ".gguf"; }
};

/// Whether a file of a model's folder is rewritten, or belongs to the run that trained the model.
bool is_left_out(const fs::path& file) {
  const std::string name = file.filename().string();
  const bool weights = (name.starts_with("model") || name.starts_with("pytorch_model")) && name != "modules.json";
  return weights || name == "config.json" || name.starts_with("checkpoint") || name.starts_with("curve.") ||
         name == "best-models" || name.ends_with(".tokens") || is_update(name) || name.find(".part-") != name.npos;
}

/// Copies the files beside the weights of `model`, which is `from` or a folder in it: tokenizer,
/// generation_config.json, the other modules of a sentence-transformers model.
void copy_other_files(const fs::path& from, const fs::path& to, const fs::path& model) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const fs::path target = to / entry.path().filename();
    if (fs::equivalent(from, model) && is_left_out(entry.path())) continue;
    if (entry.is_directory())
      copy_other_files(entry.path(), target, model);
    else
      fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing);
  }
}

/// The digest of the folder's tokenizer, which need not be the one that the weights were saved with; empty if there is
/// no tokenizer that Attend can read.
std::string vocabulary_in(const fs::path& folder) {
  try {
    return vocabulary_digest(load_tokenizer(folder));
  } catch (const InputError&) {
    return "";
  }
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

double perplexity(const LanguageModel& model, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return likelihood_of(text, model.score(std::span(&text, 1)).front()).perplexity();
}

/// Counts the equal elements of two lists, for the report.
template <typename T>
std::string same(const std::vector<T>& before, const std::vector<T>& after, const char* what) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < before.size(); ++i) count += before[i] == after[i];
  return grouped(count) + " of " + counted(std::ssize(before), what) + " unchanged";
}

std::vector<std::string> translations(const ModelFolder& folder, const std::vector<std::string>& lines,
                                      const TranslateOptions& options) {
  std::vector<std::string> all;
  for (const auto& hypotheses : Translator(folder)(lines, options)) all.push_back(hypotheses.front().text);
  return all;
}

std::vector<std::size_t> labels(const Classifier& classifier, const std::vector<std::string>& lines) {
  std::vector<std::size_t> all;
  for (const Classification& one : classifier(lines)) all.push_back(one.label);
  return all;
}

/// The mean cosine between the vectors of each text.
double mean_cosine(const Tensor& before, const Tensor& after) {
  double sum = 0;
  const std::int64_t N = before.dim(0), D = before.dim(1);
  for (std::int64_t i = 0; i < N; ++i) {
    double dot = 0, a = 0, b = 0;
    for (std::int64_t d = i * D; d < (i + 1) * D; ++d) {
      const double x = before.data()[d], y = after.data()[d];
      dot += x * y, a += x * x, b += y * y;
    }
    sum += dot / std::sqrt(std::max(a * b, 1e-30));
  }
  return sum / static_cast<double>(N);
}

/// Runs both models on the given text, so that the effect of rounding is measured and not guessed.
void report_check(const ConvertFlags& flags) {
  LineReader reader(flags.check);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);)
    if (!line.empty()) lines.push_back(line);
  if (lines.empty()) fail<InputError>("convert", "there is no text to check the weights with");
  std::cerr << "Running both models on " << counted(std::ssize(lines), "line") << '\n';
  const ModelFolder before = open_model(flags.model, flags.adapter), after(transformer_in(flags.output));
  if (before.can(Ability::generate)) {
    const double old = perplexity(LanguageModel(before), lines), rounded = perplexity(LanguageModel(after), lines);
    const double change = 100 * (rounded / old - 1);
    std::cout << "perplexity  float32 " << fixed(old, 4) << "  int8 " << fixed(rounded, 4) << "  change "
              << (change < 0 ? "" : "+") << fixed(change, 3) << " %\n";
    if (change > 1) warn("int8 raises the perplexity by more than 1 %");
  } else if (before.can(Ability::translate)) {
    std::cout << same(translations(before, lines, flags.languages), translations(after, lines, flags.languages),
                      "translation")
              << '\n';
  } else if (before.can(Ability::classify)) {
    std::cout << same(labels(Classifier(before), lines), labels(Classifier(after), lines), "label") << '\n';
  } else {
    const Tensor old = TextEncoder(flags.model, before).embed(lines).vectors,
                 rounded = TextEncoder(flags.output).embed(lines).vectors;
    std::cout << "mean cosine between the vectors of float32 and int8: " << fixed(mean_cosine(old, rounded), 5) << '\n';
  }
}

void run(const ConvertFlags& flags) {
  const bool is_adapter = holds_adapter(flags.model);
  if (is_adapter && !flags.adapter.empty()) throw UsageError("--adapter", "is not for a model that is an adapter");
  const bool adapted = is_adapter || !flags.adapter.empty();
  if (adapted != flags.merge)
    throw UsageError("--merge", adapted ? "is missing: it writes a model with the weights of the adapter"
                                        : "needs an adapter: give its folder as --model, or as --adapter");
  const fs::path to = flags.output;
  const fs::path from = current_folder(is_adapter ? AdapterFolder(flags.model).base() : fs::path(flags.model));
  if (!flags.check.empty() && (!flags.int8 || flags.gguf()))
    throw UsageError("--check", "compares an int8 folder with its original: give --int8, and a folder for --output");
  for (const auto& [name, given] : {std::pair{"--half", flags.half}, {"--bf16", flags.bfloat16}})
    if (given && !flags.gguf()) throw UsageError(name, "is for GGUF files: give --output a name that ends in .gguf");
  std::error_code error;
  if (fs::equivalent(flags.model, to, error))
    throw UsageError("--output", "is the folder of the model itself; give another one");
  const fs::path below = fs::weakly_canonical(to, error).lexically_relative(fs::weakly_canonical(from, error));
  if (!below.empty() && *below.begin() != "..")
    throw UsageError("--output", "is inside the folder of the model; give a folder or file outside it");

  const fs::path inside = fs::relative(transformer_in(from), from);  // of a sentence-transformers model
  const ModelFolder folder = is_adapter ? ModelFolder(flags.model) : open_model(from, flags.adapter);
  std::optional<FolderLock> lock;
  if (!flags.gguf()) {
    check_output_folder(to);
    lock.emplace(to);
  }
  const bool taken = flags.gguf()
                         ? fs::exists(to)
                         : fs::exists(to / inside / "config.json") || fs::exists(to / inside / "model.safetensors");
  if (taken && !flags.overwrite)
    fail<InputError>("output", to.string(), ": holds a model; add --overwrite, or name another ",
                     flags.gguf() ? "file" : "folder");
  if (flags.gguf()) {
    const GgufType type = flags.int8       ? GgufType::q8_0
                          : flags.half     ? GgufType::f16
                          : flags.bfloat16 ? GgufType::bf16
                                           : GgufType::f32;
    CausalLm model = load_causal_lm(folder.path());
    folder.attach_adapter(model);
    merge_adapters(model);
    save_gguf(model, folder.tokenizer(), to, type, fs::absolute(flags.model).lexically_normal().filename().string(),
              chat_template_of(folder));
  } else {
    const std::shared_ptr<Model> model = folder.load();
    merge_adapters(*model);
    if (flags.int8) quantise(*model);
    FolderUpdate update(to);
    const fs::path& stage = update.stage();
    copy_other_files(from, stage, folder.path());
    if (const fs::path chat = folder.adapter_path() / "chat_template.jinja"; folder.has_adapter() && fs::exists(chat))
      fs::copy_file(chat, stage / inside / chat.filename(), fs::copy_options::overwrite_existing);
    const std::string vocabulary = vocabulary_in(from / inside);
    // A merged model has the precision of its folder.
    model->save(stage / inside, vocabulary, flags.merge && !flags.int8 ? folder.weights().precision() : DType::f32);
    // Older folders have the options of generation in config.json, which is rewritten.
    if (folder.can(Ability::translate) && !vocabulary.empty() && !fs::exists(stage / inside / "generation_config.json"))
      load_translation_model(folder).generation.save(stage / inside);
    if (const auto mode = recorded_sentence_mode(folder.config())) record_sentence_mode(stage / inside, *mode);
    check_mapped_files();  // the weights were copied from these files
    update.commit();
  }
  std::cerr << to.string() << ": " << megabytes(bytes_of(to)) << ", was " << megabytes(bytes_of(from)) << '\n';
  if (!flags.check.empty()) report_check(flags);
}

}  // namespace

void add_convert(Verb& program) {
  Verb* verb = program.add_subcommand("convert",
                                      "Quantize a model to int8, merge an adapter, or write a GGUF file for llama.cpp");
  verb->group(kMakeAModel);
  auto flags = std::make_shared<ConvertFlags>();
  verb->add_option("-m,--model", flags->model,
                   "Folder of the model; GGUF files can be made from GPT-2, Llama and Mistral")
      ->type_name("DIR")
      ->required();
  verb->add_option("-o,--output", flags->output, "Folder to write, or a file ending in .gguf for llama.cpp")
      ->type_name("PATH")
      ->required();
  verb->add_flag("--int8", flags->int8,
                 "Store matrices as int8 with one scale per row (in a GGUF file: q8_0); takes a quarter of the memory");
  verb->add_flag("--half", flags->half, "Store two bytes per weight (f16); GGUF files only")->excludes("--int8");
  verb->add_flag("--bf16", flags->bfloat16, "Store two bytes per weight (bfloat16); GGUF files only")
      ->excludes("--int8")
      ->excludes("--half");
  verb->add_flag("--merge", flags->merge, "Add the adapter to the weights, and write a model that needs no adapter");
  add_adapter_flag(*verb, flags->adapter);
  verb->add_flag("--overwrite", flags->overwrite, "Convert even if the output already holds a model");
  Flag* check =
      verb->add_option(
              "--check", flags->check,
              "With --int8: run both models on the lines of these files, and print how perplexity, translations, "
              "labels or vectors change")
          ->type_name("FILE");
  add_language_flags(*verb, flags->languages.source_language, flags->languages.target_language);
  for (const char* name : {"--source-lang", "--target-lang"}) verb->get_option(name)->needs(check);
  verb->footer(
      "Without --int8, weights are float32; PyTorch files become safetensors. Only Attend reads an int8 folder, which\n"
      "cannot be trained further.\n"
      "Examples:\n"
      "  attend convert --model gpt2 --int8 --output gpt2-int8 --check held-out.txt\n"
      "  attend convert --model gpt2 --output gpt2.gguf\n"
      "  attend convert --model gpt2-letters --merge --output gpt2-merged");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
