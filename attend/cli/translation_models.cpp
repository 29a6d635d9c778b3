#include "attend/cli/translation_models.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "attend/cli/training.h"
#include "attend/core/error.h"
#include "attend/models/recurrent_common.h"
#include "attend/nn/module.h"

namespace attend::cli {
namespace {

std::int32_t needed(const char* what, const std::optional<std::int32_t>& id) {
  if (!id) fail<InputError>("train", "the tokenizer has no ", what, " token, which a translator needs");
  return *id;
}

/// What every architecture gives in the same way.
template <typename Model>
TranslatorInTraining in_training(std::shared_ptr<Model> model, std::string_view type, const Tokenizers& tokenizers) {
  train_parameters(*model);
  TranslatorInTraining made;
  Config config;
  model->options.write(config);
  made.options = config.dump();
  made.size = count_parameters(*model);
  made.task.parameters = parameters(*model);
  made.task.save = [model, type, tokenizers](const std::filesystem::path& folder) {
    save_model(*model, type, tokenizers.source, folder);
  };
  return made;
}

TranslatorInTraining make_recurrent(const ArchitectureFlags& flags, const Tokenizers& tokenizers,
                                    std::int64_t max_length, Generator& generator) {
  RecurrentTranslatorOptions o = flags.recurrent;
  o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
  o.max_positions = max_length;
  o.encoder_layers = static_cast<int>(flags.encoder_layers.value_or(1));
  o.decoder_layers = static_cast<int>(flags.decoder_layers.value_or(1));
  o.dropout = flags.dropout.value_or(0.2f);
  const auto model = std::make_shared<RecurrentTranslator>(o, generator);
  TranslatorInTraining made = in_training(model, kRecurrentTranslatorType, tokenizers);
  made.start = needed("end-of-sentence", tokenizers.target.special().eos);
  made.task.logits = [model](const TokenBatch& sources, const TokenBatch& words) {
    return model->decode(model->encode(sources.ids, sources.lengths), words.ids);
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source); };
  return made;
}

TranslatorInTraining make_transformer(const ArchitectureFlags& flags, const Tokenizers& tokenizers,
                                      std::int64_t max_length, Generator& generator) {
  TransformerOptions o = flags.transformer;
  o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
  o.encoder_layers = flags.encoder_layers.value_or(3), o.decoder_layers = flags.decoder_layers.value_or(3);
  o.encoder_heads = o.decoder_heads = flags.heads;
  o.encoder_inner = o.decoder_inner = flags.inner;
  o.dropout = flags.dropout.value_or(0.1f);
  o.final_norm = o.pre_norm;
  o.max_positions = std::max(o.max_positions, max_length);
  o.padding = needed("padding", tokenizers.source.special().padding);
  o.end = needed("end-of-sentence", tokenizers.target.special().eos);
  o.start = o.padding;  // as Marian does
  const auto model = std::make_shared<Transformer>(o, generator);
  TranslatorInTraining made = in_training(model, o.type(), tokenizers);
  made.start = o.start;
  made.task.logits = [model](const TokenBatch& sources, const TokenBatch& words) {
    return model->decode(model->encode(sources.ids, sources.lengths), sources.lengths, words.ids);
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source, tokenizers.target); };
  return made;
}

}  // namespace

void add_architecture_flags(CLI::App& verb, ArchitectureFlags& flags) {
  const auto positive = CLI::PositiveNumber.description("");
  const auto share = CLI::Range(0.0, 0.99).description("");
  verb.add_option("--arch", flags.arch,
                  "marian: a Transformer, as a folder that Hugging Face's MarianMT reads too; rnn: a recurrent encoder "
                  "and decoder, with attention or without")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, Architecture>{{"marian", Architecture::marian}, {"rnn", Architecture::rnn}})
                      .description(""))
      ->default_str("marian");
  auto* both = verb.add_option_group("The network");
  both->add_option("--encoder-layers", flags.encoder_layers, "Layers that read; 3, or 1 recurrent one")
      ->type_name("N")
      ->check(positive);
  both->add_option("--decoder-layers", flags.decoder_layers, "Layers that write; 3, or 1 recurrent one")
      ->type_name("N")
      ->check(positive);
  both->add_option("--dropout", flags.dropout, "Of embeddings and between layers; 0.1, or 0.2 for recurrent ones")
      ->type_name("SHARE")
      ->check(share);

  auto* transformer = verb.add_option_group("The Transformer (--arch marian)");
  const auto option = [](CLI::App* group, const char* name, auto& value, const char* help, const char* type) {
    return group->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  TransformerOptions& t = flags.transformer;
  t.width = 256, t.activation = Activation::relu;
  option(transformer, "--width", t.width, "Numbers for each token", "N")->check(positive);
  option(transformer, "--heads", flags.heads, "Attention heads, which divide the width", "N")->check(positive);
  option(transformer, "--inner", flags.inner, "Units of the feed-forward networks", "N")->check(positive);
  transformer->add_option("--activation", t.activation, "relu, gelu or silu")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Activation>{{"relu", Activation::relu},
                                                                            {"gelu", Activation::gelu},
                                                                            {"silu", Activation::silu}})
                      .description(""))
      ->default_str("relu");
  option(transformer, "--attention-dropout", t.attention_dropout, "Of attention weights", "SHARE")->check(share);
  option(transformer, "--activation-dropout", t.activation_dropout, "In the feed-forward networks", "SHARE")
      ->check(share);
  transformer->add_flag("--pre-norm", t.pre_norm, "Normalise before each sub-layer, not after it; not Marian's way");
  transformer->add_flag("--learned-positions", t.learned_positions,
                        "Learn the positions' vectors, instead of sines and cosines; not Marian's way");
  transformer->add_flag("--shared-embeddings,!--separate-embeddings", t.shared_embeddings,
                        "One table of embeddings for both languages (the default), or one for each");

  RecurrentTranslatorOptions& r = flags.recurrent;
  r.tied_output = true;
  auto* recurrent = verb.add_option_group("The recurrent network (--arch rnn)");
  recurrent->add_option("--attention", r.attention, "none, additive, dot, general or location")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(kDecoderAttentionNames).description(""))
      ->default_str("additive");
  recurrent->add_option("--cell", r.cell, "gru or lstm")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(kCellNames).description(""))
      ->default_str("gru");
  option(recurrent, "--embedding", r.embedding, "Numbers for each word", "N")->check(positive);
  option(recurrent, "--hidden", r.hidden, "Units of each recurrent layer", "N")->check(positive);
  recurrent->add_flag("--bidirectional,!--one-direction", r.bidirectional,
                      "Read both ways (the default), or only forward");
  recurrent->add_flag("--reverse-source", r.reverse_source, "Read the source backwards");
  verb.add_flag("--tied-output,!--untied-output", r.tied_output,
                "Output and target embeddings share their weights (the default), or not");
}

TranslatorInTraining make_translator(const ArchitectureFlags& flags, const Tokenizers& tokenizers,
                                     std::int64_t max_length, std::uint64_t seed) {
  Generator generator(seed);
  if (flags.arch == Architecture::rnn) return make_recurrent(flags, tokenizers, max_length, generator);
  ArchitectureFlags transformer = flags;
  transformer.transformer.tied_output = flags.recurrent.tied_output;
  return make_transformer(transformer, tokenizers, max_length, generator);
}

}  // namespace attend::cli
