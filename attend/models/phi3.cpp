// Phi-3 and Phi-4-mini (Abdin et al. 2024; Hugging Face's Phi3ForCausalLM): Llama, with queries, keys and values in one
// stored matrix, both matrices of the gated network in another, and the rotary scaling of LongRoPE.
#include <array>

#include "attend/models/bounds.h"
#include "attend/models/causal_lm.h"

namespace attend {
namespace {

constexpr const char* kOriginal = "original_max_position_embeddings";

void read_phi3(const Config& config, CausalLmOptions& o) {
  o.vocabulary = 32064, o.width = 3072, o.inner = 8192, o.layers = 32, o.heads = 32, o.positions = 4096;
  o.norm.eps = 1e-5f, o.start = 1, o.ends = {32000};
  o.rotary = {.original_positions = config.integer_in(kOriginal, 1, bounds::kPositions, 4096)};
  read_causal_lm_keys(config, o);
  o.dropout = config.probability("resid_pdrop", o.dropout);
  o.embedding_dropout = config.probability("embd_pdrop", o.embedding_dropout);
  read_windows(config, o, 0, [](const Config&, std::int64_t) { return true; });
}

void write_phi3(const CausalLmOptions& o, Config& config) {
  write_causal_lm_keys(o, config);
  config.set("resid_pdrop", o.dropout), config.set("embd_pdrop", o.embedding_dropout);
  if (o.rotary && o.rotary->original_positions > 0) config.set(kOriginal, o.rotary->original_positions);
  write_windows(o, config, false);
}

constexpr std::array<std::string_view, 2> kJoinedInPhi3 = {".qkv_proj", ".gate_up_proj"};

constexpr BlockNames kPhi3Block = [] {
  BlockNames names = kLlamaBlock;
  names.self.query = "self_attn.qkv_proj.query", names.self.key = "self_attn.qkv_proj.key";
  names.self.value = "self_attn.qkv_proj.value";
  names.gate = "mlp.gate_up_proj.gate", names.up = "mlp.gate_up_proj.up";
  return names;
}();

}  // namespace

const CausalLmFamily kPhi3 = {.type = "phi3",
                              .class_name = "Phi3",
                              .read = read_phi3,
                              .write = write_phi3,
                              .names = {.block = kPhi3Block, .joined = kJoinedInPhi3}};

}  // namespace attend
