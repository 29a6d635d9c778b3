// Chat templates: the Jinja templates of transformers, which turn the messages of a conversation into a prompt.
//
//   attend::ChatTemplate chat = *attend::ChatTemplate::of_folder("Qwen2.5-0.5B-Instruct");
//   std::string prompt = chat.render({.messages = R"([{"role": "user", "content": "Hello!"}])"});
#pragma once
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// What a template is given. All texts are JSON; an empty one is not given.
struct ChatInput {
  std::string messages;                 ///< a list of objects with "role" and "content", as in OpenAI's API
  std::string tools = {};               ///< a list of descriptions of functions
  std::string documents = {};           ///< a list of objects with "title" and "text"
  std::string arguments = {};           ///< an object with further variables, such as {"enable_thinking": false}
  bool generation_prompt = true;        ///< end with the beginning of the assistant's reply
  bool continue_final_message = false;  ///< end inside the last message, which the model then continues
  std::optional<std::time_t> now = {};  ///< for strftime_now(); none: the time of the call
};

/// Immutable, cheap to copy, and safe to use from many threads. A template has access to its input only, and the work
/// and memory that it may use are bounded.
class ChatTemplate {
 public:
  /// Throws InputError [template] with line and column if the source is not valid. `name` is used in messages.
  explicit ChatTemplate(std::string source, std::string name = "chat template");

  /// The template of a model's folder, or none: chat_template.jinja and additional_chat_templates/, or "chat_template"
  /// of tokenizer_config.json. Its variables bos_token, eos_token and so on are the special tokens of tokenizer_config
  /// .json, and where that has none, those of the tokenizer.
  static std::optional<ChatTemplate> of_folder(const std::filesystem::path& folder, const Tokenizer* tokenizer = {});
  static ChatTemplate of_file(const std::filesystem::path& file);

  /// The same template, and another one for conversations with tools.
  ChatTemplate with_tool_template(std::string source, std::string name) const;
  /// The same template with the variables of a folder.
  ChatTemplate with_tokens_of(const std::filesystem::path& folder, const Tokenizer* tokenizer = {}) const;

  /// The prompt, byte for byte as transformers makes it. Throws InputError: [template] with line and column where the
  /// template fails or raises an exception, [chat] if the input is not valid.
  std::string render(const ChatInput& input) const;

  /// Writes chat_template.jinja, and what is used with tools into additional_chat_templates/.
  void save(const std::filesystem::path& folder) const;

  /// The text of the template that is used with or without tools.
  const std::string& source(bool with_tools = false) const;

 private:
  struct Source;
  std::shared_ptr<const Source> main_, tools_;  // tools_ is null if the main one serves for both
  std::vector<std::pair<std::string, std::string>> tokens_;
};

}  // namespace attend
