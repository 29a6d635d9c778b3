// ELECTRA (Clark et al. 2020; Hugging Face's ElectraModel). The embeddings of small models are narrower than the
// encoder. ElectraForMaskedLM is the generator. The discriminator, ElectraForPreTraining, is loaded without its head.
#include "attend/models/bert.h"
#include "attend/models/bounds.h"

namespace attend {
namespace {

void read_electra(const Config& config, BertOptions& o) {
  o.width = 256, o.heads = 4, o.inner = 1024;
  o.head_activation = Activation::gelu;
  read_bert_keys(config, o);
  o.embedding_width = config.integer_in("embedding_size", 1, bounds::kWidth, 128);
}

void write_electra(const BertOptions& o, Config& config) {
  write_bert_keys(o, config);
  config.set("embedding_size", o.embedding_size());
}

constexpr std::pair<std::string_view, std::string_view> kElectraNames[] = {
    {"bert.", "electra."},
    {"cls.predictions.transform.", "generator_predictions."},
    {"cls.predictions.decoder.", "generator_lm_head."},
    {"cls.predictions.bias", "generator_lm_head.bias"},
    {"before_labels.", "classifier.dense."}};

}  // namespace

const BertFamily kElectraFamily = {.read = read_electra,
                                   .write = write_electra,
                                   .prefix = "electra.",
                                   .layers = "encoder.layer.",
                                   .layers_key = "num_hidden_layers",
                                   .names = kElectraNames,
                                   .encoder_pre_training = true,
                                   .label_activation = Activation::gelu,
                                   .label_dropout = true};

}  // namespace attend
