// Encodes dialogues for training and evaluation, with the chat template of the model.
#pragma once
#include <filesystem>
#include <vector>

#include "attend/tasks/dialogue/dialogues.h"
#include "attend/tasks/language_model/chat.h"

namespace attend {

/// The examples of a dialogue: see chat_examples(). Empty if no reply is left to learn from. `arguments` are those of
/// the template (ChatInput::arguments). Throws InputError with the place of the dialogue.
std::vector<ChatExample> encode_dialogue(const ChatTemplate& chat, const Tokenizer& tokenizer, const Dialogue& dialogue,
                                         std::int64_t most, const std::string& arguments = {});

/// The chat template of a file if one is named, otherwise that of the model. A model without a template gets that of
/// DialoGPT: each message ends with the end-of-text token.
ChatTemplate dialogue_template(const ModelFolder& model, const std::filesystem::path& file = {});

/// The template of a new model, `<|user|>Hello!<|end|><|assistant|>Hi.<|end|>`, and its special tokens.
ChatTemplate new_dialogue_template();
inline const std::vector<std::string> kDialogueTokens = {"<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"};
constexpr const char* kEndOfMessage = "<|end|>";

}  // namespace attend
