// MPNet (Song et al. 2020; Hugging Face's MPNetModel), the encoder of all-mpnet-base-v2. It has RoBERTa's positions and
// heads, and a relative bias on the attention scores that all layers share.
#include "attend/core/error.h"
#include "attend/models/bert.h"

namespace attend {
namespace {

void read_mpnet(const Config& config, BertOptions& o) {
  o.vocabulary = 30527, o.padding = 1;
  o.head_activation = Activation::gelu;
  read_bert_keys(config, o);
  // transformers has a table of this size, but always uses 32 rows of it.
  o.relative_buckets = config.integer("relative_attention_num_buckets", 32);
  if (o.relative_buckets != 32)
    fail<InputError>("mpnet", "config.json: \"relative_attention_num_buckets\" is ", o.relative_buckets,
                     ", which is not supported: expected 32");
}

void write_mpnet(const BertOptions& o, Config& config) {
  write_bert_keys(o, config);
  config.set("relative_attention_num_buckets", o.relative_buckets);
}

constexpr std::pair<std::string_view, std::string_view> kMpnetNames[] = {
    {"bert.", "mpnet."},
    {".attention.self.query.", ".attention.attn.q."},
    {".attention.self.key.", ".attention.attn.k."},
    {".attention.self.value.", ".attention.attn.v."},
    {".attention.output.dense.", ".attention.attn.o."},
    {".attention.output.LayerNorm.", ".attention.LayerNorm."}};

/// RoBERTa's, without token types.
BertFamily mpnet_family() {
  BertFamily family = kRobertaFamily;
  family.read = read_mpnet, family.write = write_mpnet;
  family.keys.types = family.keys.head_dropout = nullptr;
  family.prefix = "mpnet.", family.names = kMpnetNames;
  return family;
}

}  // namespace

const BertFamily kMpnetFamily = mpnet_family();

}  // namespace attend
