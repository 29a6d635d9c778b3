#include "attend/cli/shared/causal_lm_flags.h"

#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/training.h"

namespace attend::cli {
namespace {

constexpr const char* kDropoutHelp = "Dropout probability of embeddings, attention weights and sub-layers";

}  // namespace

std::function<void()> add_causal_lm_flags(Verb& verb, CausalLmOptions& m, std::optional<float>& dropout) {
  struct Chosen {
    const CausalLmFamily* arch;
    bool bias = true;
  };
  const auto chosen = std::make_shared<Chosen>(Chosen{m.family});
  auto* net = verb.add_option_group("The network");
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return net->add_option(name, value, help)->type_name(type);
  };
  add_choice(*net, "--arch", chosen->arch, {{"gpt2", &kGpt2}, {"llama", &kLlama}},
             "Architecture. llama: RMS norms, rotary positions and gated feed-forward networks without biases. One of");
  option("--layers", m.layers, "Number of layers", "N")->check(kPositive);
  option("--heads", m.heads, "Number of attention heads; must divide --width", "N")->check(kPositive);
  option("--kv-heads", m.kv_heads, "With --arch llama: number of key and value heads; must divide --heads. 0: as many",
         "N")
      ->check(kNotNegative);
  option("--width", m.width, "Size of the hidden states", "N")->check(kPositive);
  option("--inner", m.inner, "Size of the feed-forward networks; 0 means four times --width, or 8/3 for llama", "N")
      ->check(kNotNegative);
  net->add_option("--dropout", dropout, kDropoutHelp)
      ->default_text(dropout ? text_of(*dropout) : "0.1; 0 for llama")
      ->type_name("P")
      ->check(between(0.0, 0.99));
  net->add_flag("--bias,!--no-bias", chosen->bias,
                "With --arch gpt2: biases in linear layers and norms, or none (saved as zeros)");
  net->add_flag("--tied-output,!--untied-output", m.tied_output,
                "Output layer and embeddings share their weights, or not");
  return [chosen, &m] {
    check_heads(m.heads, m.width);
    if (chosen->arch == &kGpt2) {
      if (m.kv_heads > 0) throw UsageError("--kv-heads", "is for --arch llama");
    } else {
      if (!chosen->bias) throw UsageError("--no-bias", "is for --arch gpt2; a Llama has no biases");
      if (m.kv_heads > 0 && m.heads % m.kv_heads != 0) throw UsageError("--kv-heads", "must divide --heads");
    }
    CausalLmOptions made = CausalLmOptions::of(*chosen->arch);
    made.layers = m.layers, made.heads = m.heads, made.kv_heads = m.kv_heads, made.width = m.width;
    made.inner = m.inner, made.tied_output = m.tied_output;
    if (chosen->arch == &kGpt2) made.set_biases(chosen->bias);
    m = made;
  };
}

void add_own_dropout_flag(Verb& verb, std::optional<float>& dropout) {
  verb.add_option("--dropout", dropout, kDropoutHelp)
      ->default_text("the model's own")
      ->type_name("P")
      ->check(between(0.0, 0.99));
}

}  // namespace attend::cli
