#include "attend/tasks/translation/translation_model.h"

#include <algorithm>

#include "attend/core/error.h"

namespace attend {
namespace {

TranslationModel translation_model(std::shared_ptr<const Seq2SeqModel> network, std::string kind,
                                   const Tokenizer& source, const Tokenizer& target) {
  const Seq2SeqSpec spec = network->spec();
  const SpecialTokens& special = target.special();
  const std::int32_t end = spec.end ? *spec.end : needed_token("end-of-sentence", special.eos);
  const std::int32_t padding = spec.padding ? *spec.padding : needed_token("padding", special.padding);
  SearchOptions search{.beam = kTrainedBeam,
                       .max_length = network->max_positions(),
                       .start = spec.start.value_or(end),
                       .ends = {end},
                       .rules = {.bad_words = {{padding}}}};
  if (spec.end)
    search.rules.forced_last = {end};
  else if (special.unknown)
    search.rules.bad_words.push_back({*special.unknown});
  return {.network = std::move(network),
          .kind = std::move(kind),
          .source = source,
          .target = target,
          .spec = spec,
          .padding = padding,
          .generation = {search, padding},
          .sentences = spec.whole_texts ? SentenceMode::whole : SentenceMode::split};
}

bool is_language(const LanguageTokens& languages, std::int32_t id) {
  return std::ranges::find(languages.all, id, &LanguageTokens::Language::id) != languages.all.end();
}

}  // namespace

TranslationModel in_languages(TranslationModel model, const std::string& source, const std::string& target) {
  const LanguageTokens& languages = model.source.languages();
  if (languages.empty()) {
    if (!source.empty() || !target.empty())
      fail<InputError>("translator", "the model has no tokens for languages: got the ",
                       source.empty() ? "target" : "source", " language \"", source.empty() ? target : source,
                       "\", expected none; it translates between the languages that it was trained on");
    return model;
  }
  const auto id = [&](const std::string& given, const std::string& usual, const char* side, const char* flag) {
    if (given.empty() && usual.empty())
      fail<InputError>("translator", "the model translates between several languages, so it needs a ", side,
                       " language (", flag, "): one of ", languages.codes());
    return languages.find(given.empty() ? usual : given, side).id;
  };
  model.source_language = id(source, languages.source, "source", "--source-lang");

  SearchOptions& search = model.generation.search;
  // generation_config.json may name the target language by its token.
  const std::optional<std::int32_t> folder = languages.starts_decoder ? search.start : search.rules.forced_first;
  if (target.empty() && folder && is_language(languages, *folder)) {
    model.target_language = folder;
    return model;
  }
  model.target_language = id(target, languages.target, "target", "--target-lang");
  if (languages.starts_decoder)
    search.start = *model.target_language;
  else
    search.rules.forced_first = model.target_language;
  return model;
}

std::int32_t needed_token(const char* what, const std::optional<std::int32_t>& id) {
  if (!id) fail<InputError>("translator", "the tokenizer has no ", what, " token, which a translator needs");
  return *id;
}

GenerationConfig generation_defaults(const TransformerOptions& options) {
  return {{.beam = kTrainedBeam,
           .max_length = options.max_positions,
           .start = options.start,
           .ends = {options.end},
           .rules = {.bad_words = {{options.padding}}, .forced_last = {options.end}}},
          options.padding};
}

TranslationModel translation_model(Transformer model, const Tokenizer& source, const Tokenizer& target) {
  std::string kind(model.options.family->type);
  return translation_model(std::make_shared<Transformer>(std::move(model)), std::move(kind), source, target);
}

TranslationModel translation_model(RecurrentTranslator model, const Tokenizer& tokenizer) {
  std::string kind = model.type();
  return translation_model(std::make_shared<RecurrentTranslator>(std::move(model)), std::move(kind), tokenizer,
                           tokenizer);
}

TranslationModel load_translation_model(const ModelFolder& folder) {
  auto network = folder.model<Seq2SeqModel>("translator", Ability::translate);
  TranslationModel model = translation_model(std::move(network), std::string(folder.family().type),
                                             folder.tokenizer(Side::source), folder.tokenizer(Side::target));
  // Where the folder gives no value, `transformers` searches greedily and without rules.
  SearchOptions defaults = model.generation.search;
  defaults.beam = 1;
  if (model.spec.end) defaults.rules = {};
  model.generation = GenerationConfig::read(folder, defaults);
  if (const auto recorded = recorded_sentence_mode(folder.config())) model.sentences = *recorded;
  return model;
}

}  // namespace attend
