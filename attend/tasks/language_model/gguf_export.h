// A GPT-2 with its tokenizer as one GGUF file, which llama.cpp runs.
#pragma once
#include <filesystem>
#include <string>

#include "attend/formats/gguf.h"
#include "attend/models/gpt2.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Matrices are stored as `type`; positions, norms and biases as float32. Throws InputError for what llama.cpp's GPT-2
/// is not: other activations than GELU's tangent, other scales of the scores, other tokenizers than byte-level BPE and
/// characters.
void save_gguf(const Gpt2& model, const Tokenizer& tokenizer, const std::filesystem::path& path, GgufType type,
               const std::string& name);

}  // namespace attend
