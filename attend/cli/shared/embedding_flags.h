// What the verbs that embed texts share: their flags, and embedding lines block by block.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/cli/shared/line_verb.h"
#include "attend/tasks/embedding/text_encoder.h"

namespace attend::cli {

struct EmbeddingFlags {
  std::string model, adapter, prompt_name;
  std::optional<std::string> prompt;
  EmbedOptions options;
};

/// --model, --pool, --normalize, --no-normalize, --max-tokens, --long, --batch-tokens.
void add_embedding_flags(Verb& verb, EmbeddingFlags& flags);
/// The options with the chosen prompt. Throws InputError if the folder has no prompt of this name.
EmbedOptions options_of(const EmbeddingFlags& flags, const TextEncoder& encoder);

/// Calls its argument with blocks of lines: for_line_blocks() or for_text_blocks().
using LineBlocks = std::function<void(const TextWork& work)>;
/// Embeds lines block by block; warns at the end of lines that were cut.
void embed_lines(const TextEncoder& encoder, const EmbedOptions& options, const LineBlocks& blocks,
                 const std::function<void(const std::vector<std::string>&, const Embeddings&)>& take);

}  // namespace attend::cli
