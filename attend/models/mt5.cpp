// mT5 (Xue et al. 2021; Hugging Face's MT5ForConditionalGeneration): T5 1.1 with other defaults in config.json and a
// multilingual vocabulary.
#include "attend/core/error.h"
#include "attend/models/transformer.h"

namespace attend {
namespace {

void read_mt5(const Config& config, TransformerOptions& o) {
  Config complete = Config::parse(config.dump(), config.name());
  if (!config.has("feed_forward_proj")) complete.set("feed_forward_proj", "gated-gelu");
  kT5.read(complete, o);
  o.scale_output = false;
  if (!o.gated)
    fail<InputError>("transformer", config.name(), ": \"feed_forward_proj\" is ", config.json("feed_forward_proj"),
                     ", expected a gated activation such as \"gated-gelu\"");
  o.family = &kMt5;
}

void write_mt5(const TransformerOptions& o, Config& config) {
  kT5.write(o, config);
  config.set("model_type", "mt5");
  config.set("architectures", std::vector<std::string>{"MT5ForConditionalGeneration"});
  config.set("tie_word_embeddings", o.tied_output);
}

}  // namespace

const TransformerFamily kMt5 = {"mt5", read_mt5, write_mt5, kGatedT5.names, true, true};

}  // namespace attend
