#include "attend/cli/shared/embedding_flags.h"

#include <algorithm>
#include <filesystem>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/error.h"

namespace attend::cli {

void add_embedding_flags(Verb& verb, EmbeddingFlags& flags) {
  EmbedOptions& options = flags.options;
  add_model_flags(verb, flags.model, flags.adapter);
  verb.add_option_function<std::string>(
          "--pool",
          [&options](const std::string& name) {
            for (const auto& [known, pooling] : kPoolingNames)
              if (known == name) options.pool = pooling;
          },
          "How the states of the tokens are pooled into one vector: cls, mean or max")
      ->type_name("NAME")
      ->check(is_one_of({"cls", "mean", "max"}))
      ->default_text("as in the model's folder, or mean");
  Flag* normalize = verb.add_flag_callback(
      "--normalize", [&options] { options.normalize = true; },
      "Scale each vector to length 1; without it, the model's folder decides");
  verb.add_flag_callback(
          "--no-normalize", [&options] { options.normalize = false; }, "Do not scale the vectors")
      ->excludes(normalize);
  add_long_text_flags(
      verb, options.max_tokens, options.long_text,
      "What to do with longer lines. truncate: drop the end; split: average the vectors of the parts; error: stop");
  add_batch_flag(verb, options.batch_tokens);
}

EmbedOptions options_of(const EmbeddingFlags& flags, const TextEncoder& encoder) {
  EmbedOptions options = flags.options;
  options.prompt = flags.prompt;
  if (flags.prompt_name.empty()) return options;
  options.prompt = encoder.prompt(flags.prompt_name);
  constexpr const char* kFile = "config_sentence_transformers.json";
  if (!options.prompt)
    fail<InputError>("embed", flags.model, ": has no prompt named \"", flags.prompt_name, "\"",
                     std::filesystem::exists(std::filesystem::path(flags.model) / kFile) ? " in " : ", as it has no ",
                     kFile);
  return options;
}

void embed_lines(const TextEncoder& encoder, const EmbedOptions& options, const LineBlocks& blocks,
                 const std::function<void(const std::vector<std::string>&, const Embeddings&)>& take) {
  std::int64_t truncated = 0, split = 0, blank = 0;
  blocks([&](const std::vector<std::string>& lines, const Progress& progress) {
    const Embeddings embeddings = encoder.embed(lines, options, progress);
    truncated += std::ranges::count_if(embeddings.truncated, [](std::int64_t dropped) { return dropped > 0; });
    split += std::ranges::count_if(embeddings.pieces, [](std::int64_t pieces) { return pieces > 1; });
    blank += std::ranges::count_if(lines, is_blank);
    take(lines, embeddings);
  });
  warn_of(truncated, "line", "cut: longer than the model's limit (--long split reads all of the text)");
  warn_of_blank(blank, "a vector without meaning");
  warn_of(split, "line", "read in parts: longer than the model's limit");
}

}  // namespace attend::cli
