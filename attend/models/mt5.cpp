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
  config.set("tie_word_embeddings", o.tied_output);
}

}  // namespace

const TransformerFamily kMt5 = {.type = "mt5",
                                .class_name = "MT5ForConditionalGeneration",
                                .read = read_mt5,
                                .write = write_mt5,
                                .names = kGatedT5.names,
                                .tied_unless_stored = true,
                                .whole_texts = true};

}  // namespace attend
