// Exports a GPT-2, Llama or Mistral model and its tokenizer to a GGUF file for llama.cpp.
#pragma once
#include <filesystem>
#include <string>

#include "attend/formats/gguf.h"
#include "attend/models/causal_lm.h"
#include "attend/text/chat_template.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Stores matrices as `type`, and positions, norms and biases as float32. Throws InputError if llama.cpp
/// does not support the model: the activation of GPT-2 must be the tanh approximation of GELU and its attention scores
/// must have the usual scale; Llama must have the activation SiLU, no window, and no rotary scaling by yarn or
/// longrope; the tokenizer must be byte-level BPE with known words, SentencePiece's BPE, or characters. `chat` is the
/// model's chat template, if it has one.
void save_gguf(const CausalLm& model, const Tokenizer& tokenizer, const std::filesystem::path& path, GgufType type,
               const std::string& name, const std::optional<ChatTemplate>& chat = {});

}  // namespace attend
