#include "attend/tasks/dialogue/encode_dialogue.h"

#include <algorithm>
#include <ctime>

#include "attend/core/error.h"

namespace attend {

std::vector<ChatExample> encode_dialogue(const ChatTemplate& chat, const Tokenizer& tokenizer, const Dialogue& dialogue,
                                         std::int64_t most, const std::string& arguments) {
  // A template that writes the date gives the same tokens whenever a run is resumed.
  constexpr std::time_t kDate = 1767225600;  // 1 January 2026
  try {
    std::vector<ChatExample> examples = chat_examples(chat, tokenizer,
                                                      {.messages = dialogue.messages,
                                                       .tools = dialogue.tools,
                                                       .arguments = arguments,
                                                       .generation_prompt = false,
                                                       .now = kDate},
                                                      most);
    // The first token of a text is not predicted.
    std::erase_if(examples, [](const ChatExample& example) {
      return std::ranges::none_of(example.replies, [](const Span& reply) { return reply.end > 1; });
    });
    return examples;
  } catch (const InputError& error) {
    fail<InputError>("dialogue", dialogue.place, ": ", error.what());
  }
}

ChatTemplate dialogue_template(const ModelFolder& model, const std::filesystem::path& file) {
  const Tokenizer& tokenizer = model.tokenizer();
  if (!file.empty()) return ChatTemplate::of_file(file).with_tokens_of(model.path(), &tokenizer);
  if (const auto own = chat_template_of(model)) return *own;
  if (!tokenizer.special().eos)
    fail<InputError>("dialogue", model.path().string(), ": has no chat template and no end-of-text token; give a ",
                     "template with --template");
  return ChatTemplate("{% for message in messages %}{{ message['content'] + eos_token }}{% endfor %}")
      .with_tokens_of(model.path(), &tokenizer);
}

ChatTemplate new_dialogue_template() {
  return ChatTemplate(
      "{%- for message in messages %}\n"
      "    {{- '<|' + ('system' if message['role'] == 'developer' else message['role']) + '|>' }}\n"
      "    {{- message['content'] + '<|end|>' }}\n"
      "{%- endfor %}\n"
      "{%- if add_generation_prompt %}\n"
      "    {{- '<|assistant|>' }}\n"
      "{%- endif %}\n");
}

}  // namespace attend
