#include "attend/tasks/translation/trainable_translator.h"

#include <algorithm>
#include <map>
#include <memory>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/models/model.h"
#include "attend/nn/module.h"
#include "attend/tasks/translation/carry_over.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/tokenizer_parts.h"
#include "attend/train/run.h"

namespace attend {
namespace {

/// What every architecture gives in the same way.
template <typename Model>
TrainableTranslator trainable(std::shared_ptr<Model> model, const TranslationTokenizers& tokenizers,
                              const GenerationConfig& generation, const AdapterInfo& adapter, std::uint64_t seed) {
  TrainableTranslator made;
  if (adapter.lora.on()) {
    Generator generator(seed);
    made.parameters = train_adapters(*model, adapter, generator);
  } else {
    train_parameters(*model);
    made.parameters = parameters(*model);
  }
  made.config = model->config().dump();
  made.size = parameters_to_train(made.parameters, count_parameters(*model), adapter.lora.on());
  made.network = model;
  made.whole_texts = model->spec().whole_texts;
  made.generation = std::make_shared<GenerationConfig>(generation);
  made.save = [model, tokenizers, generation = made.generation, adapter](const std::filesystem::path& folder) {
    if (adapter.lora.on()) return save_adapter(*model, adapter, folder);
    save_model(*model, tokenizers.source, folder);
    generation->save(folder);
  };
  return made;
}

TrainableTranslator trainable_recurrent(const std::shared_ptr<RecurrentTranslator>& model,
                                        const TranslationTokenizers& tokenizers, const GenerationConfig& generation,
                                        const AdapterInfo& adapter = {}, std::uint64_t seed = 1) {
  TrainableTranslator made = trainable(model, tokenizers, generation, adapter, seed);
  made.start = needed_token("end-of-sentence", tokenizers.target.special().eos);
  if (model->options.attention == DecoderAttention::location) made.max_length = model->options.max_positions;
  made.predict = [model](const TokenBatch& sources, const TokenBatch& inputs) -> Predictions {
    return {model->decode(model->encode(sources.ids, sources.lengths), inputs.ids), {}};
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source); };
  return made;
}

TrainableTranslator trainable_transformer(const std::shared_ptr<Transformer>& model,
                                          const TranslationTokenizers& tokenizers, const GenerationConfig& generation,
                                          const AdapterInfo& adapter = {}, std::uint64_t seed = 1) {
  TrainableTranslator made = trainable(model, tokenizers, generation, adapter, seed);
  made.start = model->options.start;
  made.max_length = model->options.max_positions;
  made.case_step = model->spec().case_step;
  made.predict = [model](const TokenBatch& sources, const TokenBatch& inputs) {
    return model->predict(sources.ids, sources.lengths, inputs.ids);
  };
  made.translator = [model, tokenizers] { return Translator(*model, tokenizers.source, tokenizers.target); };
  return made;
}

TrainableTranslator make_recurrent(RecurrentTranslatorOptions o, const TranslationTokenizers& tokenizers,
                                   std::int64_t max_length, Generator& generator) {
  o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
  o.max_positions = max_length;
  const auto model = std::make_shared<RecurrentTranslator>(o, generator);
  return trainable_recurrent(model, tokenizers, translation_model(*model, tokenizers.source).generation);
}

TrainableTranslator make_transformer(TransformerOptions o, const TranslationTokenizers& tokenizers,
                                     std::int64_t max_length, Generator& generator) {
  o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
  o.final_norm = o.pre_norm;
  o.max_positions = std::max(o.max_positions, max_length);
  o.padding = needed_token("padding", tokenizers.source.special().padding);
  o.end = needed_token("end-of-sentence", tokenizers.target.special().eos);
  o.start = o.padding;  // as Marian does
  return trainable_transformer(std::make_shared<Transformer>(o, generator), tokenizers, generation_defaults(o));
}

/// The parameters that have a row for each token of the source's or the target's vocabulary.
std::map<std::string, PieceMap> pieces_by_parameter(const TranslationTokenizers& from, const TranslationTokenizers& to,
                                                    const TrainingObserver& observer) {
  const PieceMap source = map_pieces(from.source, to.source), target = map_pieces(from.target, to.target);
  observer.info(grouped(shared_pieces(source)) + " of " + grouped(to.source.size()) +
                " tokens are known to the model; the others start from random values");
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

/// A model of these options with the parameters of the old one.
template <typename Model, typename Options>
std::shared_ptr<Model> continued(const Options& options, Model old, const std::map<std::string, PieceMap>& by_piece,
                                 std::uint64_t seed) {
  Generator generator(seed);
  auto model = std::make_shared<Model>(options, generator);
  carry_over(parameters(old), parameters(*model), by_piece);
  return model;
}

TranslatorArchitecture architecture_of(const ModelFolder& folder) {
  const auto network = folder.model<Seq2SeqModel>("finetune", Ability::translate);
  return dynamic_cast<const Transformer*>(network.get()) ? TranslatorArchitecture::transformer
                                                         : TranslatorArchitecture::recurrent;
}

}  // namespace

TranslationTokenizers TranslationTokenizers::of(const Tokenizer& tokenizer) {
  Tokenizer::Parts parts = tokenizer.parts();
  if (const auto* pair = std::get_if<SentencePiece>(&parts.model)) parts.model = pair->for_target();
  return {tokenizer, Tokenizer(std::move(parts))};
}

std::vector<std::int32_t> TranslationTokenizers::labels(const std::string& text) const {
  const LanguageTokens& languages = target.languages();
  if (languages.empty()) return target.ids(text, true);
  std::vector<std::int32_t> ids = target.ids(text);
  if (!languages.starts_decoder) ids.insert(ids.begin(), languages.find(languages.target, "target").id);
  ids.push_back(needed_token("end-of-sentence", target.special().eos));
  return ids;
}

TranslatorFolder::TranslatorFolder(const std::filesystem::path& from)
    : folder(from),
      architecture(architecture_of(folder)),
      tokenizers{folder.tokenizer(), folder.tokenizer(Side::target)} {}

TrainableTranslator make_translator(const TranslatorOptions& options, const TranslationTokenizers& tokenizers,
                                    std::int64_t max_length, std::uint64_t seed) {
  Generator generator(seed);
  if (options.architecture == TranslatorArchitecture::recurrent)
    return make_recurrent(options.recurrent, tokenizers, max_length, generator);
  return make_transformer(options.transformer, tokenizers, max_length, generator);
}

TrainableTranslator continue_translator(const TranslatorFolder& from, const TranslationTokenizers& tokenizers,
                                        const ContinuedTranslator& options, const TrainingObserver& observer) {
  const bool new_vocabulary = options.new_vocabulary, adapts = options.lora.on();
  const std::uint64_t seed = options.seed;
  if (adapts && new_vocabulary)
    fail<InputError>("finetune", "--lora keeps the embeddings as they are, so it needs the model's own tokenizer");
  const AdapterInfo adapter = AdapterInfo::of(options.lora, from.folder.path(), "SEQ_2_SEQ_LM");
  if (!adapts) refuse_int8("finetune", from.folder.config());
  warn_of_weights(from.folder.weights(), observer);
  std::map<std::string, PieceMap> by_piece;
  if (new_vocabulary) by_piece = pieces_by_parameter(from.tokenizers, tokenizers, observer);
  const Config& config = from.folder.config();
  if (from.architecture == TranslatorArchitecture::recurrent) {
    auto o = RecurrentTranslatorOptions::read(config);
    if (new_vocabulary) o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
    o.dropout = options.dropout.value_or(o.dropout);
    const auto old =
        std::dynamic_pointer_cast<RecurrentTranslator>(adapts ? from.folder.model()->share() : from.folder.load());
    const auto model = adapts ? old : continued(o, *old, by_piece, seed);
    model->options.dropout = o.dropout;
    GenerationConfig generation = translation_model(*model, tokenizers.source).generation;
    if (!new_vocabulary) generation = GenerationConfig::read(from.folder, generation.search);
    return trainable_recurrent(model, tokenizers, generation, adapter, seed);
  }
  for (const char* key : {"encoder_layerdrop", "decoder_layerdrop"})
    if (config.number(key, 0.0) != 0)
      observer.warn(from.folder.path().string() + ": \"" + key +
                    "\" of its config.json is not followed: no layer is left out");
  const auto old = from.folder.model<Transformer>("finetune", Ability::translate);
  TransformerOptions o = old->options;
  if (new_vocabulary) {
    const bool starts_with_end = o.start == o.end;
    o.source_vocabulary = o.target_vocabulary = tokenizers.source.size();
    o.padding = needed_token("padding", tokenizers.source.special().padding);
    o.end = needed_token("end-of-sentence", tokenizers.target.special().eos);
    o.start = starts_with_end ? o.end : o.padding;
  }
  o.dropout = options.dropout.value_or(o.dropout);
  SearchOptions defaults = generation_defaults(o).search;
  defaults.beam = 1, defaults.rules = {};  // as for translating: what the folder does not have is not added
  GenerationConfig generation = new_vocabulary ? generation_defaults(o) : GenerationConfig::read(from.folder, defaults);
  if (const LanguageTokens& languages = tokenizers.target.languages(); !languages.empty()) {
    const std::int32_t language = languages.find(languages.target, "target").id;
    if (languages.starts_decoder)
      o.start = generation.search.start = language;
    else
      generation.search.rules.forced_first = language;
  }
  if (!adapts) return trainable_transformer(continued(o, *old, by_piece, seed), tokenizers, generation);
  const auto model = std::make_shared<Transformer>(*old);  // shares the weights
  model->options = o;
  for (TransformerStack* stack : {&model->encoder, &model->decoder}) stack->set_dropout(o.dropout, o.attention_dropout);
  return trainable_transformer(model, tokenizers, generation, adapter, seed);
}

}  // namespace attend
