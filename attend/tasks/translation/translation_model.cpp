#include "attend/tasks/translation/translation_model.h"

#include "attend/core/error.h"
#include "attend/tasks/translation/recurrent_stepper.h"
#include "attend/tasks/translation/transformer_stepper.h"
#include "attend/nn/init.h"
#include "attend/nn/module.h"

namespace attend {
namespace {

constexpr std::int64_t kBeam = 4;  // where nobody says

}  // namespace

std::int32_t needed_token(const char* what, const std::optional<std::int32_t>& id) {
  if (!id) fail<InputError>("translator", "the tokenizer has no ", what, " token, which a translator needs");
  return *id;
}

GenerationConfig generation_defaults(const TransformerOptions& options) {
  return {{.beam = kBeam,
           .max_length = options.max_positions,
           .start = options.start,
           .ends = {options.end},
           .rules = {.bad_words = {{options.padding}}, .forced_last = {options.end}}},
          options.padding};
}

TranslationModel translation_model(Transformer model, const Tokenizer& source, const Tokenizer& target) {
  const TransformerOptions& options = model.options;
  return {
      .source = source,
      .target = target,
      .generation = generation_defaults(options),
      .padding = options.padding,
      .max_source = options.max_positions,
      .max_target = options.max_positions,
      .kind = std::string(options.type()),
      .cross = {options.decoder_layers, options.decoder_heads},
      .encoder = {options.encoder_layers, options.encoder_heads},
      .decoder = {options.decoder_layers, options.decoder_heads},
      .read =
          [model](const TokenBatch& sources) {
            return std::make_unique<TransformerStepper>(model, sources.ids, sources.lengths);
          },
  };
}

TranslationModel translation_model(RecurrentTranslator model, const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  const std::int32_t end = needed_token("end-of-sentence", special.eos);
  const std::int32_t padding = needed_token("padding", special.padding);
  SearchOptions search{
      .beam = kBeam, .max_length = 0, .start = end, .ends = {end}, .rules = {.bad_words = {{padding}}}};
  if (special.unknown) search.rules.bad_words.push_back({*special.unknown});
  const DecoderAttention attention = model.options.attention;
  const bool looks = attention != DecoderAttention::none;
  return {
      .source = tokenizer,
      .target = tokenizer,
      .generation = {search, padding},
      .padding = padding,
      .max_source = attention == DecoderAttention::location ? model.options.max_positions : 0,
      .kind = std::string(kRecurrentTranslatorType),
      .cross = {looks ? 1 : 0, looks ? 1 : 0},
      .read =
          [model](const TokenBatch& sources) {
            return std::make_unique<RecurrentStepper>(model, sources.ids, sources.lengths);
          },
  };
}

TranslationModel load_translation_model(const std::filesystem::path& folder) {
  const Config config(folder / "config.json");
  const std::string type = config.text("model_type", "");
  const auto decoded_as_told = [&](TranslationModel model, const SearchOptions& untold) {
    model.generation = GenerationConfig::read(folder, untold);
    return model;
  };
  if (type == kRecurrentTranslatorType) {
    const init::Skipped skipped;
    RecurrentTranslator translator(RecurrentTranslatorOptions::read(config));
    load_parameters(translator, folder);
    TranslationModel model = translation_model(std::move(translator), load_tokenizer(folder));
    return decoded_as_told(model, model.generation.search);
  }
  if (type == kMarianType || type == kTransformerType) {
    TranslationModel model =
        translation_model(load_transformer(folder, /*mapped=*/true), load_tokenizer(folder, Side::source),
                          load_tokenizer(folder, Side::target));
    SearchOptions untold = model.generation.search;
    untold.rules = {};  // a folder of `transformers` that has no rules wants none
    return decoded_as_told(std::move(model), untold);
  }
  fail<InputError>("translator", folder.string(), ": holds a model of type \"", type, "\", expected a translator (",
                   kMarianType, ", ", kTransformerType, ", ", kRecurrentTranslatorType, ")");
}

}  // namespace attend
