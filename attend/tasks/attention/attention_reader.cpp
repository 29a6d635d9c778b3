#include "attend/tasks/attention/attention_reader.h"

#include <utility>
#include <variant>

#include "attend/core/error.h"
#include "attend/tasks/embedding/sentence_folder.h"

namespace attend {

struct AttentionReader::Model {
  std::variant<Translator, LanguageModel, Classifier, BertReader> reader;
};

namespace {

/// Throws if an option was given that only other models support.
void refuse(bool given, const char* what, const char* models) {
  if (given) fail<InputError>("attention", "this model does not support ", what, ": only ", models, " do");
}

std::vector<AttentionMap> maps_of(const Translator& translator, const AttentionRequest& request) {
  refuse(request.pair.has_value(), "a second text", "models of BERT's family");
  TranslateOptions options{.search = request.search};
  if (!options.search.nbest) options.search.nbest = 1;
  options.max_tokens = request.max_tokens, options.long_text = request.long_text;
  options.maps = request.selection;
  if (request.target) return translator.attention_of(request.text, *request.target, options).maps;
  std::vector<AttentionMap> maps;
  const auto translations = translator(std::span(&request.text, 1), options);
  for (const Translation& translation : translations.front())
    maps.insert(maps.end(), translation.maps.begin(), translation.maps.end());
  if (maps.empty())
    fail<InputError>("attention", translations.front().front().pieces == 0
                                      ? "the text is blank: it has no tokens"
                                      : "the model generates no tokens for this text");
  return maps;
}

std::vector<AttentionMap> maps_of(const LanguageModel& model, const AttentionRequest& request) {
  refuse(request.pair.has_value(), "a second text", "models of BERT's family");
  refuse(request.target.has_value(), "a target", "translators");
  const GenerationOptions& search = request.search;
  const bool generates = search.max_new_tokens.value_or(0) > 0;
  if (!generates && (search.beam || search.nbest.value_or(1) > 1))
    fail<InputError>("attention", "beam and nbest need generated tokens: got max_new_tokens 0");
  if (search.nbest.value_or(1) > 1 && !search.beam)
    fail<InputError>("attention", "nbest ", *search.nbest, " needs a beam that is at least as large");
  if (!generates) return {model.attention_map(request.text, {}, request.selection, request.long_text)};
  GenerateOptions options{.search = search};
  if (!search.beam) options.search.greedy = true;
  if (request.long_text == LongText::truncate) options.long_context = LongContext::slide;
  std::vector<AttentionMap> maps;
  const auto generations = model.generate(std::span(&request.text, 1), options);
  for (const Generation& one : generations.front())
    maps.push_back(model.attention_map(request.text, one.ids, request.selection, request.long_text));
  return maps;
}

void refuse_writing(const AttentionRequest& request) {
  refuse(request.target.has_value(), "a target", "translators");
  const GenerationOptions& search = request.search;
  refuse(search.max_new_tokens.value_or(0) > 0 || search.beam || search.nbest.value_or(1) > 1, "generation options",
         "translators and language models");
}

std::string text_of(const AttentionRequest& request) {
  if (request.pair && request.text.find('\t') != std::string::npos)
    fail<InputError>("attention", "the first text of a pair contains a tab, which separates the two texts");
  return request.pair ? request.text + '\t' + *request.pair : request.text;
}

std::vector<AttentionMap> maps_of(const Classifier& classifier, const AttentionRequest& request) {
  refuse_writing(request);
  return {classifier.attention_map(
      text_of(request),
      {.max_tokens = request.max_tokens, .long_text = request.long_text, .pairs = request.pair.has_value()},
      request.selection)};
}

std::vector<AttentionMap> maps_of(const BertReader& reader, const AttentionRequest& request) {
  refuse_writing(request);
  return {reader.attention_map(
      text_of(request),
      {.max_tokens = request.max_tokens, .long_text = request.long_text, .pairs = request.pair.has_value()},
      request.selection)};
}

std::shared_ptr<const AttentionReader::Model> load(const ModelFolder& folder) {
  const auto made = [](auto reader) {
    return std::make_shared<const AttentionReader::Model>(AttentionReader::Model{std::move(reader)});
  };
  if (folder.can(Ability::translate)) return made(Translator(folder));
  if (folder.can(Ability::generate)) return made(LanguageModel(folder));
  if (folder.can(Ability::embed)) return made(BertReader(folder, BertHead::none));
  return made(Classifier(folder));
}

}  // namespace

AttentionReader::AttentionReader(const ModelFolder& folder) : model_(load(folder)) {}
AttentionReader::AttentionReader(const std::filesystem::path& folder)
    : AttentionReader(ModelFolder(transformer_in(folder))) {}
AttentionReader::AttentionReader(Translator translator)
    : model_(std::make_shared<const Model>(Model{std::move(translator)})) {}
AttentionReader::AttentionReader(LanguageModel model)
    : model_(std::make_shared<const Model>(Model{std::move(model)})) {}
AttentionReader::AttentionReader(Classifier classifier)
    : model_(std::make_shared<const Model>(Model{std::move(classifier)})) {}
AttentionReader::AttentionReader(BertReader reader) : model_(std::make_shared<const Model>(Model{std::move(reader)})) {}

std::vector<AttentionMap> AttentionReader::operator()(const AttentionRequest& request) const {
  if (request.long_text == LongText::split)
    fail<InputError>("attention", "long_text split is not supported: expected error or truncate");
  return std::visit([&](const auto& reader) { return maps_of(reader, request); }, model_->reader);
}

bool AttentionReader::takes_pairs() const {
  return std::holds_alternative<BertReader>(model_->reader) || std::holds_alternative<Classifier>(model_->reader);
}
bool AttentionReader::translates() const { return std::holds_alternative<Translator>(model_->reader); }

}  // namespace attend
