#include "attend/cli/shared/translation_models.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/training.h"
#include "attend/core/error.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/models/recurrent_common.h"
#include "attend/models/registry.h"
#include "attend/nn/module.h"
#include "attend/tasks/translation/carry_over.h"

namespace attend::cli {
namespace {

constexpr const char* kTransformerGroup = "The Transformer (--arch marian)";
constexpr const char* kRecurrentGroup = "The recurrent network (--arch rnn)";

/// What every architecture gives in the same way.
template <typename Model>
TranslatorInTraining in_training(std::shared_ptr<Model> model, const Tokenizers& tokenizers) {
  train_parameters(*model);
  TranslatorInTraining made;
  made.options = model->config().dump();
  made.size = count_parameters(*model);
  made.task.parameters = parameters(*model);
  made.task.save = [model, tokenizers](const std::filesystem::path& folder) {
    model->save(folder);
    save_tokenizer(tokenizers.source, folder);
  };
  return made;
}

TranslatorInTraining recurrent_in_training(const std::shared_ptr<RecurrentTranslator>& model,
                                           const Tokenizers& tokenizers) {
  TranslatorInTraining made = in_training(model, tokenizers);
  made.start = needed_token("end-of-sentence", tokenizers.target.special().eos);
  if (model->options.attention == DecoderAttention::location) made.max_length = model->options.max_positions;
  made.task.logits = [model](const TokenBatch& sources, const TokenBatch& words) {
    return model->decode(model->encode(sources.ids, sources.lengths), words.ids);
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source); };
  return made;
}

TranslatorInTraining transformer_in_training(const std::shared_ptr<Transformer>& model, const Tokenizers& tokenizers,
                                             const GenerationConfig& generation) {
  TranslatorInTraining made = in_training(model, tokenizers);
  made.task.save = [save = made.task.save, generation](const std::filesystem::path& folder) {
    save(folder);
    generation.save(folder);
  };
  made.start = model->options.start;
  made.max_length = model->options.max_positions;
  made.task.logits = [model](const TokenBatch& sources, const TokenBatch& words) {
    return model->decode(model->encode(sources.ids, sources.lengths), sources.lengths, words.ids);
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source, tokenizers.target); };
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
  return recurrent_in_training(std::make_shared<RecurrentTranslator>(o, generator), tokenizers);
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
  o.padding = needed_token("padding", tokenizers.source.special().padding);
  o.end = needed_token("end-of-sentence", tokenizers.target.special().eos);
  o.start = o.padding;  // as Marian does
  return transformer_in_training(std::make_shared<Transformer>(o, generator), tokenizers, generation_defaults(o));
}

// ---- going on from a folder ----

/// The parameters that have a row for each piece of the source's or the target's vocabulary.
std::map<std::string, PieceMap> pieces_by_parameter(const Tokenizers& from, const Tokenizers& to) {
  const PieceMap source = map_pieces(from.source, to.source), target = map_pieces(from.target, to.target);
  std::cerr << grouped(shared_pieces(source)) << " of " << grouped(to.source.size())
            << " pieces are known to the model; the others start anew" << std::endl;
  return {// The recurrent translator's:
          {"source_embedding.weight", source},
          {"target_embedding.weight", target},
          {"output.weight", target},
          {"output.bias", target},
          // The Transformer's:
          {"model.shared.weight", source},
          {"model.encoder.embed_tokens.weight", source},
          {"model.decoder.embed_tokens.weight", target},
          {"lm_head.weight", target},
          {"final_logits_bias", target}};
}

/// A model of these options with what the old one knows.
template <typename Model, typename Options>
std::shared_ptr<Model> continued(const Options& options, Model old, const std::map<std::string, PieceMap>& by_piece,
                                 std::uint64_t seed) {
  Generator generator(seed);
  const auto model = std::make_shared<Model>(options, generator);
  carry_over(parameters(old), parameters(*model), by_piece);
  return model;
}

Architecture architecture_of(const ModelFolder& folder) {
  const auto network = folder.model<Seq2SeqModel>("finetune", Ability::translate);
  return dynamic_cast<const Transformer*>(network.get()) ? Architecture::marian : Architecture::rnn;
}

}  // namespace

void add_architecture_flags(CLI::App& verb, ArchitectureFlags& flags) {
  const auto share = between(0.0, 0.99);
  add_choice(verb, "--arch", flags.arch, {{"marian", Architecture::marian}, {"rnn", Architecture::rnn}},
             "A Transformer, as a folder that Hugging Face's MarianMT reads too, or a recurrent encoder and decoder");
  auto* both = verb.add_option_group("The network");
  both->add_option("--encoder-layers", flags.encoder_layers, "Layers that read; 3, or 1 recurrent one")
      ->type_name("N")
      ->check(kPositive);
  both->add_option("--decoder-layers", flags.decoder_layers, "Layers that write; 3, or 1 recurrent one")
      ->type_name("N")
      ->check(kPositive);
  both->add_option("--dropout", flags.dropout, "Of embeddings and between layers; 0.1, or 0.2 for recurrent ones")
      ->type_name("SHARE")
      ->check(share);

  auto* transformer = verb.add_option_group(kTransformerGroup);
  const auto option = [](CLI::App* group, const char* name, auto& value, const char* help, const char* type) {
    return group->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  TransformerOptions& t = flags.transformer;
  t.width = 256, t.activation = Activation::relu;
  option(transformer, "--width", t.width, "Numbers for each token", "N")->check(kPositive);
  option(transformer, "--heads", flags.heads, "Attention heads, which divide the width", "N")->check(kPositive);
  option(transformer, "--inner", flags.inner, "Units of the feed-forward networks", "N")->check(kPositive);
  add_choice(*transformer, "--activation", t.activation,
             {{"relu", Activation::relu}, {"gelu", Activation::gelu}, {"silu", Activation::silu}});
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
  auto* recurrent = verb.add_option_group(kRecurrentGroup);
  add_choice(*recurrent, "--attention", r.attention, kDecoderAttentionNames);
  add_choice(*recurrent, "--cell", r.cell, kCellNames);
  option(recurrent, "--embedding", r.embedding, "Numbers for each word", "N")->check(kPositive);
  option(recurrent, "--hidden", r.hidden, "Units of each recurrent layer", "N")->check(kPositive);
  recurrent->add_flag("--bidirectional,!--one-direction", r.bidirectional,
                      "Read both ways (the default), or only forward");
  recurrent->add_flag("--reverse-source", r.reverse_source, "Read the source backwards");
  verb.add_flag("--tied-output,!--untied-output", r.tied_output,
                "Output and target embeddings share their weights (the default), or not");
}

void check_architecture_flags(const CLI::App& verb, const ArchitectureFlags& flags) {
  const bool recurrent = flags.arch == Architecture::rnn;
  CLI::App* others = verb.get_option_group(recurrent ? kTransformerGroup : kRecurrentGroup);
  for (const CLI::Option* option : others->get_options())
    if (option->count() > 0)
      throw CLI::ValidationError(option->get_name(), recurrent ? "is for --arch marian, and this is --arch rnn"
                                                               : "is for --arch rnn, and this is --arch marian");
  others->disabled();  // nor is the recipe of this run to name them
}

void add_dropout_flag(CLI::App& verb, ArchitectureFlags& flags) {
  verb.add_option("--dropout", flags.dropout, "Of embeddings and between layers, instead of the model's own")
      ->type_name("SHARE")
      ->check(between(0.0, 0.99));
}

Origin::Origin(std::filesystem::path from)
    : folder(std::move(from)),
      config(folder / "config.json"),
      arch(architecture_of(ModelFolder(folder))),
      tokenizers{load_tokenizer(folder), load_tokenizer(folder, Side::target)} {}

TranslatorInTraining continue_translator(const Origin& origin, const ArchitectureFlags& flags,
                                         const Tokenizers& tokenizers, bool new_vocabulary, std::uint64_t seed) {
  warn_of_weights(origin.folder);
  std::map<std::string, PieceMap> by_piece;
  if (new_vocabulary) by_piece = pieces_by_parameter(origin.tokenizers, tokenizers);
  if (origin.arch == Architecture::rnn) {
    auto o = RecurrentTranslatorOptions::read(origin.config);
    if (new_vocabulary) o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
    o.dropout = flags.dropout.value_or(o.dropout);
    RecurrentTranslator old(RecurrentTranslatorOptions::read(origin.config));
    load_parameters(old, origin.folder);
    return recurrent_in_training(continued(o, std::move(old), by_piece, seed), tokenizers);
  }
  for (const char* key : {"encoder_layerdrop", "decoder_layerdrop"})
    if (origin.config.number(key, 0.0) != 0)
      warn(origin.folder.string() + ": \"" + key + "\" of its config.json is not followed: no layer is left out");
  auto o = TransformerOptions::read(origin.config);
  if (new_vocabulary) {
    const bool starts_with_end = o.start == o.end;
    o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
    o.padding = needed_token("padding", tokenizers.source.special().padding);
    o.end = needed_token("end-of-sentence", tokenizers.target.special().eos);
    o.start = starts_with_end ? o.end : o.padding;
  }
  o.dropout = flags.dropout.value_or(o.dropout);
  SearchOptions untold = generation_defaults(o).search;
  untold.rules = {};  // as for translating: what the folder does not want, nobody adds
  const GenerationConfig generation =
      new_vocabulary ? generation_defaults(o) : GenerationConfig::read(origin.folder, untold);
  return transformer_in_training(continued(o, load_transformer(origin.folder, /*mapped=*/true), by_piece, seed),
                                 tokenizers, generation);
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
