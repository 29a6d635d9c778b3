#include "attend/tasks/attention/attention_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/tasks/embedding/sentence_folder.h"
#include "attend/tasks/question_answering/span_attention.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/text/sentences.h"
#include "attend/text/words.h"

namespace attend {

struct AttentionReader::Model {
  std::variant<Translator, LanguageModel, Classifier, BertReader, StoryReader, SpanReader> reader;
};

namespace {

/// Throws if an option was given that only other models support.
void refuse(bool given, const char* what, const char* models) {
  if (given) fail<InputError>("attention", "this model does not support ", what, ": only ", models, " do");
}

void refuse_languages(const AttentionRequest& request) {
  refuse(!request.source_language.empty() || !request.target_language.empty(), "languages", "multilingual translators");
}

AttentionTokens joined(AttentionTokens tokens, const AttentionTokens& more, std::int32_t words_before) {
  tokens.shown.insert(tokens.shown.end(), more.shown.begin(), more.shown.end());
  tokens.written.insert(tokens.written.end(), more.written.begin(), more.written.end());
  for (const std::int32_t word : more.words) tokens.words.push_back(word < 0 ? word : word + words_before);
  return tokens;
}

/// [H, Q, K] and [H, q, k] -> [H, Q + q, K + k], zero between the two: sentences do not attend to each other.
Tensor block_diagonal(const Tensor& a, const Tensor& b) {
  const std::int64_t H = a.dim(0), Q = a.dim(1), K = a.dim(2), q = b.dim(1), k = b.dim(2);
  Tensor both = Tensor::zeros({H, Q + q, K + k});
  for (std::int64_t h = 0; h < H; ++h) {
    float* to = both.data() + h * (Q + q) * (K + k);
    for (std::int64_t i = 0; i < Q; ++i) std::copy_n(a.data() + (h * Q + i) * K, K, to + i * (K + k));
    for (std::int64_t i = 0; i < q; ++i) std::copy_n(b.data() + (h * q + i) * k, k, to + (Q + i) * (K + k) + K);
  }
  return both;
}

/// How many words of a text come before a part of it; `at` moves behind the part.
std::int32_t words_before(const std::string& text, const std::string& part, std::size_t& at) {
  const std::size_t begin = std::min(text.find(part, at), text.size());
  at = std::min(begin + part.size(), text.size());
  return static_cast<std::int32_t>(count_words(text.substr(0, begin) + "x")) - 1;
}

/// One map of a translation whose sentences were translated by themselves.
AttentionMap joined(const std::string& text, const Translation& translation) {
  AttentionMap whole = translation.maps.front();
  std::size_t source_at = 0, target_at = 0;
  words_before(text, whole.text, source_at), words_before(translation.text, *whole.translation, target_at);
  for (std::size_t m = 1; m < translation.maps.size(); ++m) {
    const AttentionMap& map = translation.maps[m];
    const std::int32_t source = words_before(text, map.text, source_at);
    const std::int32_t target = words_before(translation.text, *map.translation, target_at);
    for (std::size_t v = 0; v < whole.views.size(); ++v) {
      AttentionView& view = whole.views[v];
      const AttentionView& more = map.views[v];
      view.queries = joined(view.queries, more.queries, view.kind == AttentionKind::encoder ? source : target);
      view.keys = joined(view.keys, more.keys, view.kind == AttentionKind::decoder ? target : source);
      for (std::size_t l = 0; l < view.weights.size(); ++l)
        view.weights[l] = block_diagonal(view.weights[l], more.weights[l]);
    }
  }
  whole.text = text, whole.translation = translation.text, whole.score = translation.score;
  whole.truncated = translation.truncated, whole.alignments = align_words(text, translation);
  return whole;
}

std::vector<AttentionMap> maps_of(const Translator& translator, const AttentionRequest& request) {
  refuse(request.pair.has_value(), "a second text", "models of BERT's family");
  TranslateOptions options{.search = request.search};
  if (!options.search.nbest) options.search.nbest = 1;
  options.max_tokens = request.max_tokens, options.long_text = request.long_text;
  options.maps = request.selection;
  options.source_language = request.source_language, options.target_language = request.target_language;
  // A text that is too long is refused or cut as a whole.
  std::int64_t limit = translator.max_source_tokens();
  if (request.max_tokens > 0) limit = limit > 0 ? std::min(limit, request.max_tokens) : request.max_tokens;
  if (limit > 0 && translator.source_tokenizer().encode(request.text).size() > limit)
    options.sentences = SentenceMode::whole;
  if (request.target) return translator.attention_of(request.text, *request.target, options).maps;
  std::vector<AttentionMap> maps;
  const auto translations = translator(std::span(&request.text, 1), options);
  for (const Translation& translation : translations.front())
    if (translation.maps.size() == 1)
      maps.push_back(translation.maps.front());
    else if (!translation.maps.empty())
      maps.push_back(joined(request.text, translation));
  if (maps.empty())
    fail<InputError>("attention", translations.front().front().pieces == 0
                                      ? "the text is blank: it has no tokens"
                                      : "the model generates no tokens for this text");
  return maps;
}

std::vector<AttentionMap> maps_of(const LanguageModel& model, const AttentionRequest& request) {
  refuse(request.pair.has_value(), "a second text", "models of BERT's family");
  refuse(request.target.has_value(), "a target", "translators");
  refuse_languages(request);
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
  refuse_languages(request);
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

/// The text is a story; its last sentence is the question.
std::vector<AttentionMap> maps_of(const StoryReader& reader, const AttentionRequest& request) {
  refuse_writing(request);
  refuse(request.pair.has_value(), "a second text", "models of BERT's family");
  std::vector<std::string> story = split_sentences(request.text);
  if (story.size() < 2)
    fail<InputError>("attention", "expected the sentences of a story and then a question: got ",
                     counted(story.size(), "sentence"));
  const std::string question = story.back();
  story.pop_back();
  return {reader.attention(story, question, reader(story, question))};
}

/// The text is a question, the second text holds its answer.
std::vector<AttentionMap> maps_of(const SpanReader& reader, const AttentionRequest& request) {
  refuse_writing(request);
  if (!request.pair) fail<InputError>("attention", "expected a question and a text, with a tab between them");
  return {span_attention(reader, request.text, *request.pair, request.selection,
                         {.max_tokens = request.max_tokens, .long_text = request.long_text})};
}

std::shared_ptr<const AttentionReader::Model> load(const ModelFolder& folder) {
  const auto made = [](auto reader) {
    return std::make_shared<const AttentionReader::Model>(AttentionReader::Model{std::move(reader)});
  };
  if (folder.can(Ability::translate)) return made(Translator(folder));
  if (folder.can(Ability::generate)) return made(LanguageModel(folder));
  if (folder.can(Ability::embed)) return made(BertReader(folder, BertHead::none));
  if (folder.can(Ability::answer)) return made(SpanReader(folder));
  if (!folder.can(Ability::classify) && folder.can(Ability::stories)) return made(StoryReader(folder));
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
  const auto* classifier = std::get_if<Classifier>(&model_->reader);
  return classifier
             ? classifier->takes_pairs()
             : std::holds_alternative<BertReader>(model_->reader) || std::holds_alternative<SpanReader>(model_->reader);
}
bool AttentionReader::translates() const { return std::holds_alternative<Translator>(model_->reader); }

}  // namespace attend
