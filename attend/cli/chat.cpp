// attend chat: a conversation with a language model. The model's chat template makes the prompts; without one, the
// end-of-text token separates turns, as in DialoGPT.
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
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/file.h"
#include "attend/core/machine.h"
#include "attend/models/adapter.h"
#include "attend/models/gguf_model.h"
#include "attend/tasks/language_model/chat.h"
#include "attend/tasks/language_model/conversation.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ChatFlags {
  std::string model, adapter, system;
  std::vector<std::string> input;
  GenerateOptions options;
  bool json = false;
  std::int64_t prefix_cache = -1;  // megabytes
  // Of the template.
  bool render = false, no_generation_prompt = false, continue_final_message = false;
  std::string messages, template_file, tools, documents, template_args;
};

std::string text_of_file(const std::string& flag, const std::string& path) {
  if (path.empty()) return "";
  try {
    const MappedFile file = map_file(path);
    return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
  } catch (const Error& error) {
    throw UsageError(flag, error.what());
  }
}

/// The template of --template, or of the model's folder.
std::optional<ChatTemplate> open_template(const ChatFlags& flags, const Tokenizer* tokenizer) {
  if (flags.template_file.empty()) {
    if (!flags.adapter.empty() || holds_adapter(flags.model) || is_gguf(flags.model))
      return chat_template_of(open_model(flags.model, flags.adapter));
    return ChatTemplate::of_folder(flags.model, tokenizer);
  }
  text_of_file("--template", flags.template_file);  // for a usage error if there is no such file
  const ChatTemplate chat = ChatTemplate::of_file(flags.template_file);
  return flags.model.empty() ? chat : chat.with_tokens_of(flags.model, tokenizer);
}

ChatInput chat_input(const ChatFlags& flags) {
  return {.messages = flags.messages.empty() ? "[]" : text_of_file("--messages", flags.messages),
          .tools = text_of_file("--tools", flags.tools),
          .documents = text_of_file("--template-documents", flags.documents),
          .arguments = flags.template_args,
          .generation_prompt = !flags.no_generation_prompt && !flags.continue_final_message,
          .continue_final_message = flags.continue_final_message};
}

void render(const ChatFlags& flags) {
  if (flags.messages.empty()) throw UsageError("--render", "needs --messages FILE");
  if (flags.model.empty() && flags.template_file.empty())
    throw UsageError("--render", "needs --model DIR or --template FILE");
  // The tokens that a family of tokenizers has without naming them in its files. A folder without a tokenizer has none.
  std::optional<Tokenizer> tokenizer;
  try {
    if (!flags.model.empty())
      tokenizer = is_gguf(flags.model) ? ModelFolder(flags.model).tokenizer() : load_tokenizer(flags.model);
  } catch (const InputError&) {
    if (!std::filesystem::is_directory(flags.model)) throw;
  }
  const auto chat = open_template(flags, tokenizer ? &*tokenizer : nullptr);
  if (!chat) throw InputError("[chat] " + flags.model + ": the model has no chat template; give one with --template");
  TextWriter writer;
  writer.write(chat->render(chat_input(flags)));
  writer.finish();
}

/// The turns so far, and the prompts that they make.
class Talk {
 public:
  Talk(const ChatFlags& flags, const LanguageModel& model) : model_(model), turns_(model.end()) {
    chat_ = open_template(flags, &model.tokenizer());
    if (!chat_) {
      const std::pair<const char*, const std::string*> of_templates[] = {
          {"--system", &flags.system}, {"--messages", &flags.messages}, {"--tools", &flags.tools}};
      for (const auto& [flag, value] : of_templates)
        if (!value->empty()) throw UsageError(flag, "the model has no chat template; give one with --template");
      return;
    }
    input_ = chat_input(flags);
    messages_ = Json::parse(input_.messages, nullptr, false);
    if (!messages_.is_array()) throw UsageError("--messages", "expected a JSON list of messages");
    if (!flags.system.empty()) messages_.insert(messages_.begin(), Json{{"role", "system"}, {"content", flags.system}});
  }

  /// A token that ends a reply, if the template tells one.
  std::optional<std::int32_t> end() const { return chat_ ? end_of_reply(*chat_, model_.tokenizer()) : std::nullopt; }

  void ask(const std::string& text) {
    chat_ ? messages_.push_back({{"role", "user"}, {"content", text}}) : turns_.add(model_.tokenizer().ids(text));
  }
  void answer(const Generation& reply) {
    if (chat_)
      messages_.push_back({{"role", "assistant"}, {"content", reply.text}});
    else
      turns_.add(reply.finish == Finish::stop ? model_.tokenizer().ids(reply.text) : reply.ids);
  }
  /// At most `most` tokens. Sets `shorter` if turns were left out.
  std::vector<std::int32_t> prompt(std::int64_t most, bool& shorter) {
    if (!chat_) {
      shorter = turns_.shorten(static_cast<std::size_t>(most)) > 0;
      return turns_.ids();
    }
    input_.messages = messages_.dump();
    ChatPrompt prompt = chat_prompt(*chat_, model_.tokenizer(), input_, most);
    shorter = prompt.dropped > 0;
    return std::move(prompt.ids);
  }

 private:
  const LanguageModel& model_;
  std::optional<ChatTemplate> chat_;
  ChatInput input_;
  Json messages_ = Json::array();
  Conversation turns_;
};

std::int64_t default_prefix_cache() {
  const MemoryLimits limits = memory_limits();
  return limits.total == 0 ? std::int64_t{1} << 30 : limits.free / 4;
}

void talk(ChatFlags& flags) {
  if (flags.model.empty()) throw UsageError("--model", "is required");
  if (flags.no_generation_prompt || flags.continue_final_message)
    throw UsageError("--no-generation-prompt and --continue-final-message", "need --render");
  const LanguageModel model = open_language_model(flags.model, flags.adapter);
  GenerationOptions& search = flags.options.search;
  if (!search.max_new_tokens)
    search.max_new_tokens = std::min<std::int64_t>(128, std::max<std::int64_t>(model.positions() / 4, 1));
  const std::int64_t most = model.positions() + 1 - *search.max_new_tokens;
  if (most < 1)
    throw UsageError("--max-new-tokens", "leaves no room for the conversation: the model's context is " +
                                             std::to_string(model.positions()) + " tokens");
  const bool terminal = flags.input.empty() && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  Talk talk(flags, model);
  if (const auto end = talk.end()) flags.options.ends.push_back(*end);
  if (flags.prefix_cache != 0)
    flags.options.prefixes.emplace(flags.prefix_cache > 0 ? flags.prefix_cache << 20 : default_prefix_cache());
  LineReader reader(flags.input);
  TextWriter writer;
  bool warned = false;
  const auto ask = [&] {
    if (terminal) std::cerr << "> " << std::flush;
  };
  ask();
  for (std::string line; reader.next(line); ask()) {
    if (line.empty()) continue;
    talk.ask(line);
    bool shorter = false;
    std::vector<std::int32_t> prompt = talk.prompt(most, shorter);
    if (shorter && !std::exchange(warned, true))
      warn("the conversation is longer than the model's context: its oldest turns are dropped from now on");
    const GenerationStream stream = [&](std::size_t, std::size_t, const std::string& text) {
      stop_if_interrupted();
      if (!flags.json) writer.write(text), writer.flush();
    };
    std::vector<std::vector<Generation>> results;
    try {
      results = model.generate({std::move(prompt)}, flags.options, stream);
    } catch (const TextError& error) {
      throw InputError(reader.where() + ": " + text_of(error));
    }
    const Generation& reply = results.front().front();
    const bool streamed = search.beam.value_or(model.generation().search.beam) == 1;
    if (flags.json) {
      Json json{{"prompt", line}, {"text", reply.text}, {"ids", reply.ids}, {"finish", finish_name(reply.finish)}};
      if (reply.seed) json["seed"] = *reply.seed;
      writer.write(as_line(json));
    } else {
      writer.write((streamed ? "" : reply.text) + "\n");
    }
    writer.flush();
    talk.answer(reply);
  }
  writer.finish();
}

}  // namespace

void add_chat(Verb& program) {
  Verb* verb = program.add_subcommand("chat", "Talk to a language model, line by line");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ChatFlags>();
  verb->add_option("-m,--model", flags->model, "Folder of the model, for example DialoGPT")->type_name("DIR");
  add_adapter_flag(*verb, flags->adapter);
  add_input_flag(*verb, flags->input);
  verb->add_flag("--json", flags->json, "Print one JSON object per reply: prompt, text, ids, finish, seed");
  verb->add_option("--prefix-cache", flags->prefix_cache,
                   "Memory for the turns that have been read, in megabytes, so that they are not read again for the "
                   "next reply; 0 keeps none")
      ->default_text("a quarter of the free memory")
      ->type_name("MB")
      ->check(between(0, 1 << 24));
  verb->add_option("--system", flags->system, "System message, which begins the conversation and is never dropped")
      ->type_name("TEXT")
      ->group("Chat template");
  verb->add_flag("--render", flags->render, "Print the prompt that the template makes of --messages, and nothing else")
      ->group("Chat template");
  verb->add_option("--messages", flags->messages,
                   "JSON list of messages, as in OpenAI's API; without --render, the conversation continues after them")
      ->type_name("FILE")
      ->group("Chat template");
  verb->add_option("--template", flags->template_file, "Jinja template to use instead of the model's")
      ->type_name("FILE")
      ->group("Chat template");
  verb->add_option("--tools", flags->tools, "JSON list of tools, as in OpenAI's API")
      ->type_name("FILE")
      ->group("Chat template");
  verb->add_option("--template-documents", flags->documents, "JSON list of documents, each with a title and a text")
      ->type_name("FILE")
      ->group("Chat template");
  verb->add_option("--template-args", flags->template_args,
                   "JSON object of further variables for the template, such as {\"enable_thinking\": false}")
      ->type_name("JSON")
      ->group("Chat template");
  verb->add_flag("--no-generation-prompt", flags->no_generation_prompt,
                 "With --render: leave out the beginning of the reply at the end of the prompt")
      ->group("Chat template");
  verb->add_flag("--continue-final-message", flags->continue_final_message,
                 "With --render: end inside the last message, which the model then continues")
      ->group("Chat template");
  add_generation_flags(*verb, flags->options.search, OptionModels::language_models, {"nbest"});
  add_long_context_flag(*verb, flags->options.long_context);
  verb->footer(
      "Each line of the input is a turn, and the model replies to it. The chat template of the model's folder makes "
      "the\n"
      "prompt. Without a template, the end-of-text token separates turns, as in DialoGPT. When a conversation is "
      "longer\n"
      "than the model's context, its oldest turns are dropped; the system message stays. Special tokens that a user\n"
      "types are plain text to the model. --render prints the prompt exactly, without a line end of its own.\n"
      "Examples:\n"
      "  attend chat --model DialoGPT-small --top-p 0.9 --temperature 0.7 --no-repeat-ngram 3\n"
      "  attend chat --render --model Qwen2.5-0.5B-Instruct --messages messages.json --tools tools.json");
  verb->callback([flags] {
    if (flags->render) return render(*flags);
    finish_generation_flags(flags->options.search);
    talk(*flags);
  });
}

}  // namespace attend::cli
