// attend chat: a conversation with a language model. The end-of-text token separates turns, as in DialoGPT.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/tasks/language_model/conversation.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ChatFlags {
  std::string model, adapter;
  std::vector<std::string> input;
  GenerateOptions options;
  bool json = false;
};

void run(ChatFlags& flags) {
  const LanguageModel model = open_language_model(flags.model, flags.adapter);
  GenerationOptions& search = flags.options.search;
  if (!search.max_new_tokens)
    search.max_new_tokens = std::min<std::int64_t>(128, std::max<std::int64_t>(model.positions() / 4, 1));
  const std::int64_t most = model.positions() + 1 - *search.max_new_tokens;
  if (most < 1)
    throw UsageError("--max-new-tokens", "leaves no room for the conversation: the model's context is " +
                                             std::to_string(model.positions()) + " tokens");
  const bool terminal = flags.input.empty() && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  LineReader reader(flags.input);
  TextWriter writer;
  Conversation conversation(model.end());
  bool warned = false;
  const auto ask = [&] {
    if (terminal) std::cerr << "> " << std::flush;
  };
  ask();
  for (std::string line; reader.next(line); ask()) {
    if (line.empty()) continue;
    conversation.add(model.tokenizer().ids(line));
    if (conversation.shorten(static_cast<std::size_t>(most)) > 0 && !std::exchange(warned, true))
      warn("the conversation is longer than the model's context: its oldest turns are dropped from now on");
    const GenerationStream stream = [&](std::size_t, std::size_t, const std::string& text) {
      stop_if_interrupted();
      if (!flags.json) writer.write(text), writer.flush();
    };
    std::vector<std::vector<Generation>> results;
    try {
      results = model.generate({conversation.ids()}, flags.options, stream);
    } catch (const TextError& error) {
      throw InputError(reader.where() + ": " + text_of(error));
    }
    const Generation& reply = results.front().front();
    const bool streamed = search.beam.value_or(model.generation().search.beam) == 1;
    if (flags.json) {
      const Json json{
          {"prompt", line}, {"text", reply.text}, {"ids", reply.ids}, {"finish", finish_name(reply.finish)}};
      writer.write(as_line(json));
    } else {
      writer.write((streamed ? "" : reply.text) + "\n");
    }
    writer.flush();
    conversation.add(reply.finish == Finish::stop ? model.tokenizer().ids(reply.text) : reply.ids);
  }
  writer.finish();
}

}  // namespace

void add_chat(Verb& program) {
  Verb* verb = program.add_subcommand("chat", "Talk to a language model, line by line");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ChatFlags>();
  verb->add_option("-m,--model", flags->model, "Folder of the model, for example DialoGPT")
      ->type_name("DIR")
      ->required();
  add_adapter_flag(*verb, flags->adapter);
  add_input_flag(*verb, flags->input);
  verb->add_flag("--json", flags->json, "Print one JSON object per reply: prompt, text, ids, finish");
  add_generation_flags(*verb, flags->options.search, OptionModels::language_models, {"nbest"});
  add_long_context_flag(*verb, flags->options.long_context);
  verb->footer(
      "Each line of the input is a turn, and the model replies to it. The end-of-text token separates turns, as in\n"
      "DialoGPT. When a conversation is longer than the model's context, its oldest turns are dropped.\n"
      "Example: attend chat --model DialoGPT-small --top-p 0.9 --temperature 0.7 --no-repeat-ngram 3");
  verb->callback([flags] {
    finish_generation_flags(flags->options.search);
    run(*flags);
  });
}

}  // namespace attend::cli
