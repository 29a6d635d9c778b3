// Models in GGUF files, as llama.cpp has them, in terms of the Hugging Face folder of the same model: its config.json,
// its weights under their names and in their layout, and its tokenizer. So a family needs no loader of its own.
#pragma once
#include <filesystem>
#include <string>

#include "attend/formats/config.h"
#include "attend/formats/gguf_file.h"
#include "attend/formats/weights.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Whether the path is a GGUF file. False if it cannot be read.
bool is_gguf(const std::filesystem::path& path);

/// Converts the metadata to config.json. Throws InputError, naming the architecture or the key, for what is not
/// supported.
Config gguf_config(const GgufFile& file);
/// The tensors under the names of the Hugging Face folder. Blocks of quantised weights are decoded to float32 when a
/// tensor is read. Throws InputError for a tensor that the architecture does not have.
Weights gguf_weights(const GgufFile& file);
/// Throws InputError, naming the key, if the tokenizer is incomplete or of an unknown kind.
Tokenizer gguf_tokenizer(const GgufMetadata& metadata);

}  // namespace attend
