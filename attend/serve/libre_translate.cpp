// LibreTranslate's shapes: translate, languages and detect.
#include <algorithm>
#include <map>
#include <set>

#include "attend/data/identify_language.h"
#include "attend/data/language.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/generation_fields.h"
#include "attend/serve/large_reply.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/text/unicode.h"

namespace attend::serve {
namespace {

constexpr const char* kNames[][2] = {
    {"ar", "Arabic"},     {"bg", "Bulgarian"}, {"bn", "Bengali"},    {"ca", "Catalan"},    {"cs", "Czech"},
    {"da", "Danish"},     {"de", "German"},    {"el", "Greek"},      {"en", "English"},    {"eo", "Esperanto"},
    {"es", "Spanish"},    {"et", "Estonian"},  {"eu", "Basque"},     {"fa", "Persian"},    {"fi", "Finnish"},
    {"fr", "French"},     {"ga", "Irish"},     {"gl", "Galician"},   {"he", "Hebrew"},     {"hi", "Hindi"},
    {"hr", "Croatian"},   {"hu", "Hungarian"}, {"id", "Indonesian"}, {"is", "Icelandic"},  {"it", "Italian"},
    {"ja", "Japanese"},   {"ka", "Georgian"},  {"ko", "Korean"},     {"lt", "Lithuanian"}, {"lv", "Latvian"},
    {"mk", "Macedonian"}, {"mt", "Maltese"},   {"nl", "Dutch"},      {"no", "Norwegian"},  {"pl", "Polish"},
    {"pt", "Portuguese"}, {"ro", "Romanian"},  {"ru", "Russian"},    {"sk", "Slovak"},     {"sl", "Slovenian"},
    {"sq", "Albanian"},   {"sr", "Serbian"},   {"sv", "Swedish"},    {"th", "Thai"},       {"tr", "Turkish"},
    {"uk", "Ukrainian"},  {"ur", "Urdu"},      {"vi", "Vietnamese"}, {"zh", "Chinese"},
};

std::string name_of_language(const std::string& code) {
  for (const auto& [known, name] : kNames)
    if (language_matches(known, code)) return name;
  return code;
}

/// The fields of a request: of JSON, or of a form and the query of the URL.
Json body_of(const Call& call) {
  if (media_type(call) == "application/json") return parse_object(call.body);
  std::set<std::string> numbers;  // fields that are JSON in a form too
  visit_fields(generation_fields("translations"), [&]<typename T>(const Option<T>&, const OptionAlias& alias) {
    if (std::is_arithmetic_v<T>) numbers.insert(alias.name);
  });
  Json body = Json::object();
  std::map<std::string, std::string> given = parse_form(call.body);
  given.insert(call.query.begin(), call.query.end());
  for (const auto& [key, value] : given) {
    if (count_invalid_utf8(value) > 0) throw ApiError(400, "invalid_utf8", "\"" + key + "\" is not UTF-8");
    body[key] = value;
    if (numbers.contains(key) && value.size() <= 100) {
      const Json number = Json::parse(value, nullptr, false);
      if (number.is_number()) body[key] = number;  // otherwise the check of the field names it
    }
  }
  return body;
}

constexpr std::size_t kGuessedBytes = 8 << 10;

/// The languages that a translator reads or writes, as far as they are known.
std::vector<std::string> languages_of(const ServedModel& model, Side side) {
  std::vector<std::string> codes;
  for (const LanguageTokens::Language& one : model.translator->languages().all) codes.push_back(one.code);
  const std::optional<std::string>& own = side == Side::source ? model.source_language : model.target_language;
  if (own) codes.push_back(*own);
  return codes;
}

bool knows_its_languages(const ServedModel& model) {
  return !languages_of(model, Side::source).empty() && !languages_of(model, Side::target).empty();
}

/// Whether a translator may read or write this language. "auto" means any language.
bool fits(const ServedModel& model, Side side, const std::string& asked) {
  if (asked == "auto" || asked.empty()) return true;
  if (const LanguageTokens& languages = model.translator->languages(); !languages.empty())
    return languages.match(asked) != nullptr;
  const std::optional<std::string>& own = side == Side::source ? model.source_language : model.target_language;
  return !own || language_matches(asked, *own) || language_matches(*own, asked);
}

/// The languages that the models read, the most likely first. Of equally likely ones, the language whose tokenizer
/// needs fewer tokens for the text.
std::vector<LanguageGuess> guess(const Api& api, const std::string& whole, const Patience& patience) {
  // The beginning of a long text is enough.
  std::size_t end = std::min(whole.size(), kGuessedBytes);
  while (end < whole.size() && end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80) --end;
  const std::string text = whole.substr(0, end);
  std::map<std::string, std::size_t> tokens;
  std::vector<std::string> languages;
  for (const auto& model : api.models()) {
    if (!model->translator) continue;
    const std::vector<std::string> sources = languages_of(*model, Side::source);
    if (sources.empty()) continue;
    const std::size_t count = model->ids(text, patience).size();
    for (const std::string& source : sources) {
      const auto [found, is_new] = tokens.try_emplace(source, count);
      if (is_new) languages.push_back(source);
      found->second = std::min(found->second, count);
    }
  }
  const std::vector<LanguageGuess> known = identify_language(text, languages);
  std::vector<LanguageGuess> guesses;
  for (const std::string& language : languages) {
    LanguageGuess& guess = guesses.emplace_back(LanguageGuess{language});
    for (const LanguageGuess& one : known)  // "en" is known for a model of "en-US"
      if (language_matches(one.language, language)) guess.confidence = std::max(guess.confidence, one.confidence);
  }
  std::ranges::stable_sort(guesses, [&](const LanguageGuess& a, const LanguageGuess& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : tokens.at(a.language) < tokens.at(b.language);
  });
  return guesses;
}

/// The translator for these languages, or by its name.
ServedModel& translator_for(const Api& api, const std::optional<std::string>& name, const std::string& source,
                            const std::string& target) {
  if (name) {
    ServedModel& model = api.model(*name, "translate");
    if (!model.translator->languages().empty()) return model;  // check() names a language that it does not have
    if (!fits(model, Side::source, source) || !fits(model, Side::target, target))
      throw invalid_value("model", "the model \"" + *name + "\" translates from " +
                                       model.source_language.value_or("?") + " to " +
                                       model.target_language.value_or("?") + ", not from " + source + " to " + target);
    return model;
  }
  std::vector<ServedModel*> translators;
  for (const auto& model : api.models())
    if (model->translator) translators.push_back(model.get());
  // A model whose languages are not known, such as T5, would take any text: it has to be named, unless it is the only
  // one.
  for (ServedModel* model : translators)
    if ((translators.size() == 1 || knows_its_languages(*model)) && fits(*model, Side::source, source) &&
        fits(*model, Side::target, target))
      return *model;
  const bool unknown = !std::ranges::all_of(translators, [](const auto* model) { return knows_its_languages(*model); });
  throw invalid_value("source", "no model translates from " + source + " to " + target + "; GET /languages lists them" +
                                    (unknown ? ", and models whose languages are not known have to be named in "
                                               "\"model\""
                                             : ""));
}

Json percent(double confidence) { return std::round(confidence * 1000) / 10; }

}  // namespace

Reply translate(Api& api, const Call& call) {
  const Patience patience = api.patience(call);
  const Json body = body_of(call);
  Fields fields(body);
  fields.ignore("api_key");
  const bool several = fields.required("q").is_array();
  const std::vector<std::string> texts = fields.texts("q");
  std::string source = fields.text("source");
  const std::string target = fields.text("target");
  fields.refuse("format", {"text"}, "only plain text is translated");
  const std::optional<std::string> name = fields.optional_text("model");
  TranslateOptions options;
  GenerationOptions& search = options.search;
  search = read_generation_options(fields, generation_fields("translations"));
  const std::int64_t alternatives = search.nbest.value_or(1) - 1;
  if (search.beam && *search.beam <= alternatives)
    throw invalid_value("beam", "must be wider than the number of alternatives");
  options.long_text = long_text(fields, options.long_text, /*can_split=*/true);
  if (const auto sentences = fields.choice("sentences", {"split", "whole"}))
    options.sentences = sentences == "split" ? SentenceMode::split : SentenceMode::whole;
  const bool attention = fields.flag("attention").value_or(false);
  const bool alignments = fields.flag("alignments").value_or(false);
  options.attention = options.only_best_attention = attention || alignments;
  fields.refuse_others();

  std::vector<LanguageGuess> guesses;
  if (source == "auto" && (!name || !api.model(*name, "translate").translator->languages().empty())) {
    guesses = guess(api, texts.front(), patience);
    for (const LanguageGuess& one : guesses) {
      const bool there = std::ranges::any_of(api.models(), [&](const auto& model) {
        if (!model->translator || (name && model->name != *name)) return false;
        const std::vector<std::string> sources = languages_of(*model, Side::source);
        return std::ranges::find(sources, one.language) != sources.end() &&
               (one.confidence > 0 || model->source_language) && (name || knows_its_languages(*model)) &&
               fits(*model, Side::target, target);
      });
      if (!there) continue;
      source = one.language;
      guesses = {one};
      break;
    }
  }
  ServedModel& model = translator_for(api, name, source, target);
  if (const LanguageTokens& own = model.translator->languages(); !own.empty()) {
    if (source != "auto") options.source_language = source;
    if (target != "auto") options.target_language = target;
    if (source == "auto" && own.source.empty())
      throw invalid_value("source", "the language of the text is not clear: expected one of " + own.codes());
  }
  model.translator->check(options);
  const auto all = model.translate(texts, options, patience);

  std::vector<Json> translated, others, aligned, looked;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Translation& best = all[i].front();
    translated.emplace_back(best.text);
    Json more = Json::array(), pairs = Json::array();
    for (std::size_t n = 1; n < all[i].size(); ++n) more.push_back(all[i][n].text);
    others.push_back(std::move(more));
    if (alignments)
      for (const auto& [from, to] : align_words(texts[i], best)) pairs.push_back({from, to});
    aligned.push_back(std::move(pairs));
    if (attention)
      looked.push_back(
          {{"source_tokens", best.source_tokens}, {"target_tokens", best.target_tokens}, {"weights", best.attention}});
  }
  const auto given = [several](std::vector<Json>& values) {
    return several ? Json(values) : std::move(values.front());
  };
  Json json{{"translatedText", given(translated)}};
  if (alternatives > 0) json["alternatives"] = given(others);
  if (alignments) json["alignments"] = given(aligned);
  if (attention) json["attention"] = given(looked);
  if (const auto& seed = all.front().front().seed) json["seed"] = *seed;
  if (!guesses.empty())
    json["detectedLanguage"] = {{"language", guesses.front().language},
                                {"confidence", percent(guesses.front().confidence)}};
  return json_reply(dump(json), patience);
}

Reply languages(Api& api, const Call&) {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : api.models())
    if (model->translator)
      for (const std::string& source : languages_of(*model, Side::source))
        for (const std::string& target : languages_of(*model, Side::target)) targets[source].insert(target);
  Json all = Json::array();
  for (const auto& [source, to] : targets)
    all.push_back({{"code", source}, {"name", name_of_language(source)}, {"targets", to}});
  return {.body = dump(all)};
}

Reply detect(Api& api, const Call& call) {
  const Patience patience = api.patience(call);
  const Json body = body_of(call);
  Fields fields(body);
  fields.ignore("api_key");
  const std::string text = fields.text("q");
  fields.refuse_others();
  Json all = Json::array();
  for (const LanguageGuess& one : guess(api, text, patience))
    all.push_back({{"language", one.language}, {"confidence", percent(one.confidence)}});
  return {.body = dump(all)};
}

}  // namespace attend::serve
