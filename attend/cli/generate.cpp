// attend generate: generates texts from prompts.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct GenerateFlags {
  std::string model, adapter, output, attention_file;
  std::vector<std::string> prompts, input;
  GenerateOptions options;
  AttentionChoice shown;
  bool json = false, echo = false;
};

std::string json_line(const std::string& prompt, const Generation& one, std::size_t sample, bool several) {
  Json json{{"prompt", prompt},
            {"text", one.text},
            {"ids", one.ids},
            {"finish", finish_name(one.finish)},
            {"logprob", one.log_probability}};
  if (several) json["sample"] = sample;
  if (one.seed) json["seed"] = *one.seed;
  if (one.truncated > 0) json["truncated"] = one.truncated;
  return as_line(json);
}

/// Writes the generated texts. A line of --- separates several texts, since a text may itself have several lines.
class Writer {
 public:
  explicit Writer(const GenerateFlags& flags) : flags_(flags), writer_(flags.output) {
    if (!flags.attention_file.empty()) attention_.emplace("--attention", flags.attention_file, flags.shown);
  }

  /// Generates and writes all texts of some prompts.
  void write(const LanguageModel& model, const std::vector<std::string>& prompts, const Progress& progress) {
    const GenerationOptions& search = flags_.options.search;
    const bool several = search.nbest.value_or(1) > 1;
    // Only a single text is streamed: several texts that grow at the same time could not be read.
    const bool streams = !flags_.json && prompts.size() == 1 && !several && search.beam.value_or(1) == 1;
    if (streams) begin(prompts.front());
    const GenerationStream stream = [&](std::size_t, std::size_t, const std::string& text) {
      stop_if_interrupted();
      writer_.write(text), writer_.flush();
    };
    const auto results = model.generate(prompts, flags_.options, streams ? stream : GenerationStream(), progress);
    for (std::size_t i = 0; i < prompts.size(); ++i)
      for (std::size_t s = 0; s < results[i].size(); ++s) {
        const Generation& one = results[i][s];
        truncated_ += one.truncated > 0, invalid_ += one.invalid > 0;
        if (attention_) add_attention_map(model, prompts[i], one);
        if (flags_.json) {
          writer_.write(json_line(prompts[i], one, s, several));
          continue;
        }
        if (!streams) begin(prompts[i]), writer_.write(one.text);
        writer_.write("\n");
      }
    writer_.flush();
  }
  void finish() {
    writer_.finish();
    if (attention_) attention_->finish();
    if (truncated_ > 0)
      warn("prompts longer than the model's context, of which only the end was used (--long slide): " +
           grouped(truncated_));
    if (invalid_ > 0) warn("prompts with invalid UTF-8, which was replaced: " + grouped(invalid_));
  }

 private:
  /// Adds the attention weights of the generated tokens. Tokens that slid out of the context are not shown.
  void add_attention_map(const LanguageModel& model, const std::string& prompt, const Generation& one) {
    if (attention_->room() == 0) return attention_->leave_out(1);
    const bool slides = flags_.options.long_context == LongContext::slide;
    attention_->add(
        model.attention_map(prompt, one.ids, attention_->selection(), slides ? LongText::truncate : LongText::error));
  }
  void begin(const std::string& prompt) {
    if (texts_++ > 0) writer_.write("---\n");
    if (flags_.echo) writer_.write(prompt), writer_.flush();
  }

  const GenerateFlags& flags_;
  TextWriter writer_;
  std::optional<AttentionFile> attention_;
  std::int64_t texts_ = 0, truncated_ = 0, invalid_ = 0;
};

void run(const GenerateFlags& flags) {
  Writer writer(flags);  // throws if it cannot write, before a model is loaded
  const LanguageModel model = open_language_model(flags.model, flags.adapter);
  if (!flags.prompts.empty()) {
    ProgressBar bar("Generating", "prompts");
    writer.write(model, flags.prompts, flags.prompts.size() > 1 ? bar.progress() : Progress());
    bar.erase();
    writer.finish();
    return;
  }
  LineReader reader(flags.input);
  ProgressBar bar("Generating", "B");
  for (std::vector<std::string> lines; reader.next(lines, 256); bar.update(reader.bytes_read(), reader.total_bytes()))
    try {
      writer.write(model, lines, {});
    } catch (const TextError& error) {
      const std::int64_t first = reader.lines_read() - std::ssize(lines) + 1;
      throw InputError(reader.where(first + static_cast<std::int64_t>(error.text)) + ": " + text_of(error));
    }
  bar.erase();
  writer.finish();
}

}  // namespace

void add_generate(Verb& program) {
  Verb* verb = program.add_subcommand("generate", "Generate text from a prompt");
  verb->group(kUseAModel);
  auto flags = std::make_shared<GenerateFlags>();
  verb->add_option("prompt", flags->prompts, "Prompts")->type_name("TEXT")->default_text("the lines of --input");
  verb->add_option(
          "-m,--model", flags->model,
          "Folder of the model: GPT-2, Llama, Mistral, Qwen, Gemma 2, Phi-3, …, or one that Attend has trained")
      ->type_name("DIR")
      ->required();
  add_adapter_flag(*verb, flags->adapter);
  add_input_flag(*verb, flags->input)->excludes("prompt");
  add_output_flag(*verb, flags->output);
  verb->add_flag("--echo", flags->echo, "Print the prompt before the generated text");
  verb->add_flag("--json", flags->json,
                 "Print one JSON object per text: prompt, text, ids, finish, logprob; seed if sampled");
  add_generation_flags(*verb, flags->options.search, OptionModels::language_models);
  add_long_context_flag(*verb, flags->options.long_context);
  add_attention_file_flags(*verb, flags->attention_file, flags->shown);
  verb->footer(
      "A single text is printed token by token. Several texts are separated by lines of ---.\n"
      "With --grammar or --json-schema, the text is complete and conforms when it ends, also at --max-new-tokens; "
      "only\n"
      "--stop can cut it.\n"
      "Examples:\n"
      "  attend generate --model gpt2 'Once upon a time' --temperature 0.8 --top-p 0.95 --seed 1\n"
      "  attend generate --model gpt2 --input prompts.txt --greedy --max-new-tokens 40 --json\n"
      "  attend generate --model gpt2 $'Q: Why is the sky blue?\\nA:' --stop 'Q:' --samples 3\n"
      "  attend generate --model gpt2 'A person as JSON:' --json-schema person.json --max-new-tokens 200\n"
      "  attend generate --model gpt2 'The end' --max-new-tokens 12 --attention end.html\n"
      "  attend generate --model gpt2 'The end' --max-new-tokens 3000 --long slide --sample");
  verb->callback([flags] {
    finish_generation_flags(flags->options.search);
    run(*flags);
  });
}

}  // namespace attend::cli
