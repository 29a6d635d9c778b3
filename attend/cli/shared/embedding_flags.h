// What the verbs that make vectors of texts share: their flags, and lines through the encoder.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/cli/shared/input.h"
#include "attend/tasks/embedding/text_encoder.h"

namespace attend::cli {

struct EmbeddingFlags {
  std::string model, prompt_name;
  std::optional<std::string> prompt;
  EmbedOptions options;
};

/// --model, --pool, --normalize, --no-normalize, --max-tokens, --long, --batch-tokens.
void add_embedding_flags(Verb& verb, EmbeddingFlags& flags);
/// With the prompt that was asked for. Throws InputError for a name that the folder does not know.
EmbedOptions options_of(const EmbeddingFlags& flags, const TextEncoder& encoder);

/// Lines to vectors, some thousands at a time, with a bar; warns at the end of what was cut. An error names its line.
void embed_lines(const TextEncoder& encoder, const EmbedOptions& options, LineReader& reader, const std::string& label,
                 const std::function<void(const std::vector<std::string>&, const Embeddings&)>& take);

}  // namespace attend::cli
