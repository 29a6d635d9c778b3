#include "attend/cli/shared/transformer_flags.h"

#include <string>

#include "attend/cli/shared/choice.h"

namespace attend::cli {

void add_transformer_flags(Verb& group, TransformerOptions& t) {
  const auto fraction = between(0.0, 0.99);
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return group.add_option(name, value, help)->type_name(type);
  };
  option("--width", t.width, "Size of the hidden states", "N")->check(kPositive);
  add_shared<std::int64_t>(group, "--heads", t.encoder_heads, t.decoder_heads,
                           "Number of attention heads; must divide --width", "N")
      ->check(kPositive)
      ->default_value(std::to_string(t.encoder_heads));
  add_shared<std::int64_t>(group, "--inner", t.encoder_inner, t.decoder_inner, "Size of the feed-forward networks", "N")
      ->check(kPositive)
      ->default_value(std::to_string(t.encoder_inner));
  add_choice(group, "--activation", t.activation,
             {{"relu", Activation::relu}, {"gelu", Activation::gelu}, {"silu", Activation::silu}},
             "Activation of the feed-forward networks");
  option("--attention-dropout", t.attention_dropout, "Dropout probability of attention weights", "P")->check(fraction);
  option("--activation-dropout", t.activation_dropout, "Dropout probability inside the feed-forward networks", "P")
      ->check(fraction);
  group.add_flag("--pre-norm", t.pre_norm,
                 "Normalize before each sub-layer instead of after it; MarianMT does not support it");
  group.add_flag("--learned-positions", t.learned_positions,
                 "Learn the position embeddings instead of sines and cosines; MarianMT does not support it");
}

}  // namespace attend::cli
