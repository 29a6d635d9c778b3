#include "attend/tasks/language_model/language_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/core/finite.h"
#include "attend/core/stop.h"
#include "attend/decode/token_grammar.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_capture.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/language_model/generation_task.h"
#include "attend/text/grammar/json_schema.h"

namespace attend {

struct LanguageModel::Model {
  std::shared_ptr<const CausalLm> network;
  Tokenizer tokenizer;
  GenerationConfig generation;
  std::shared_ptr<TokenGrammars> grammars = std::make_shared<TokenGrammars>();
};

namespace {

constexpr std::int64_t kLogitRows = 128;  // of scores at a time: a row of logits is as long as the vocabulary

SearchOptions untold(const CausalLmOptions& o) { return {.max_length = 0, .start = o.start, .ends = o.ends}; }

}  // namespace

LanguageModel::LanguageModel(const ModelFolder& folder) {
  const auto network = folder.model<CausalLm>("language model", Ability::generate);
  model_ = std::make_shared<const Model>(
      Model{network, folder.tokenizer(), GenerationConfig::read(folder, untold(network->options))});
}

LanguageModel::LanguageModel(CausalLm model, Tokenizer tokenizer) {
  const SearchOptions search = untold(model.options);
  model_ = std::make_shared<const Model>(
      Model{std::make_shared<const CausalLm>(std::move(model)), std::move(tokenizer), {search}});
}

const Tokenizer& LanguageModel::tokenizer() const { return model_->tokenizer; }
const GenerationConfig& LanguageModel::generation() const { return model_->generation; }
const CausalLm& LanguageModel::network() const { return *model_->network; }
std::shared_ptr<const GenerativeModel> LanguageModel::generator() const { return model_->network; }
std::int64_t LanguageModel::positions() const { return model_->network->options.positions; }
std::int32_t LanguageModel::start() const { return model_->generation.search.start; }
std::int32_t LanguageModel::end() const { return model_->network->options.end(); }

std::vector<std::vector<Generation>> LanguageModel::generate(std::span<const std::string> prompts,
                                                             const GenerateOptions& options,
                                                             const GenerationStream& stream,
                                                             const Progress& progress) const {
  std::vector<Encoding> encodings = model_->tokenizer.encode_all(prompts);
  std::vector<std::vector<std::int32_t>> ids;
  for (Encoding& encoding : encodings) ids.push_back(std::move(encoding.ids));
  std::vector<std::vector<Generation>> all = generate(std::move(ids), options, stream, progress);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (Generation& one : all[i]) one.invalid = encodings[i].invalid;
  return all;
}

std::vector<std::vector<Generation>> LanguageModel::generate(std::vector<std::vector<std::int32_t>> prompts,
                                                             const GenerateOptions& options,
                                                             const GenerationStream& stream,
                                                             const Progress& progress) const {
  std::vector<std::vector<Generation>> all(prompts.size());
  std::vector<GenerationTask> tasks = GenerationTask::make(*this, std::move(prompts), options);
  Engine engine(generator(), {.rows = options.batch_rows}, {}, options.prefixes);
  std::size_t joined = 0;
  std::int64_t done = 0;
  do {
    for (; joined < tasks.size() && engine.has_room(tasks[joined].request); ++joined) {
      GenerationListener listener;
      listener.done = [&, i = joined](std::vector<Generation>&& texts) {
        all[i] = std::move(texts);
        if (progress) progress(++done, std::ssize(all));
      };
      if (stream)
        listener.on_token = [&, i = joined](std::size_t sample, const GeneratedToken*, const std::string& text) {
          if (!text.empty()) stream(i, sample, text);
        };
      engine.join(std::move(tasks[joined].request), tasks[joined].decode_for(std::move(listener)));
    }
  } while (engine.step() || joined < tasks.size());
  return all;
}

Generation LanguageModel::operator()(const std::string& prompt, const GenerateOptions& options) const {
  return generate(std::span(&prompt, 1), options).front().front();
}

std::shared_ptr<const TokenGrammar> LanguageModel::grammar(const GenerationOptions& options) const {
  if (!options.grammar && !options.json_schema) return {};
  if (options.grammar && options.json_schema)
    fail<InputError>("generate", "the output can conform to a grammar or to a JSON schema, not to both");
  if (options.ignore_eos.value_or(false))
    fail<InputError>("generate", "an output that conforms to a grammar has an end: ignore_eos contradicts it");
  return model_->grammars->get(options.grammar ? *options.grammar : json_schema_grammar(*options.json_schema).gbnf,
                               model_->tokenizer, model_->generation.search.ends, model_->network->vocabulary());
}

std::vector<std::int32_t> LanguageModel::ids_without_tokens() const {
  std::vector<std::int32_t> ids;
  for (std::int64_t id = model_->tokenizer.size(); id < model_->network->options.vocabulary; ++id)
    ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

namespace {

/// A part of a text that is read at once, and the first of its tokens that is to be scored.
struct Window {
  std::size_t text;
  std::span<const std::int32_t> ids;
  std::int64_t at;      // of its first token in the text
  std::int64_t scored;  // counted from the window's first token, at least 1
};

std::vector<Window> windows_of(std::size_t text, std::span<const std::int32_t> ids, std::int64_t positions) {
  std::vector<Window> windows;
  const std::int64_t size = std::ssize(ids), half = std::max<std::int64_t>(positions / 2, 1);
  std::int64_t begin = 0, scored = 1;
  do {
    const std::int64_t length = std::min(positions, size - begin);
    windows.push_back(
        {text, ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)), begin, scored});
    if (begin + length == size) break;
    scored = length - half, begin += half;
  } while (true);
  return windows;
}

/// The logarithms of the probabilities of all tokens but the first of each window, which was read into `states`, and
/// what was likeliest in their places.
void score_windows(const LanguageModel& model, std::span<const Window> windows, std::vector<TextLikelihood>& texts,
                   const Tensor& states, std::int64_t alternatives = 0) {
  struct Place {
    TextLikelihood* text;  // null: nobody wants to know what follows this row
    std::size_t token;
  };
  std::vector<Place> places;
  std::vector<std::int32_t> next;
  for (const Window& window : windows)
    for (std::int64_t t = 1; t <= std::ssize(window.ids); ++t) {
      const bool wanted = t < std::ssize(window.ids) && t >= window.scored;
      places.push_back({wanted ? &texts[window.text] : nullptr, static_cast<std::size_t>(window.at + t)});
      next.push_back(wanted ? window.ids[static_cast<std::size_t>(t)] : -100);
    }
  const LogitsRules rules{.suppressed = model.ids_without_tokens()};
  for (std::int64_t row = 0; row < states.dim(0); row += kLogitRows) {
    const std::int64_t end = std::min(row + kLogitRows, states.dim(0));
    const auto rows = static_cast<std::size_t>(end - row);
    const Tensor targets = Tensor::ids(std::span(next).subspan(static_cast<std::size_t>(row), rows), {end - row});
    const Tensor logits = model.network().logits(states.view_rows(row, end));
    const Tensor losses = cross_entropy(logits, targets, {.reduction = Reduction::none});
    check_finite("score", losses.span());
    std::vector<std::vector<NextToken>> best(rows);
    if (alternatives > 0)
      best = best_tokens(logits, std::vector<LogitsContext>(rows), rules, {}, alternatives, ScoreKind::logits);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto& [text, token] = places[static_cast<std::size_t>(row) + i];
      if (!text) continue;
      text->logprobs[token] = -static_cast<double>(losses.data()[i]);
      text->best[token] = std::move(best[i]);
    }
  }
}

}  // namespace

std::vector<TextLikelihood> LanguageModel::score(std::span<const std::string> texts,
                                                 const LikelihoodOptions& options) const {
  std::vector<Encoding> encodings = model_->tokenizer.encode_all(texts);
  std::vector<std::vector<std::int32_t>> ids;
  for (Encoding& encoding : encodings) {
    // The tokenizers of many models add the start token themselves.
    const bool started = !encoding.ids.empty() && encoding.special.front() && encoding.ids.front() == start();
    if (options.start && started) encoding.ids.erase(encoding.ids.begin());
    ids.push_back(std::move(encoding.ids));
  }
  std::vector<TextLikelihood> all = score(std::move(ids), options);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].invalid = encodings[i].invalid;
  return all;
}

std::vector<TextLikelihood> LanguageModel::score(std::vector<std::vector<std::int32_t>> texts,
                                                 const LikelihoodOptions& options) const {
  const NoGrad no_grad;
  const Training no_training(false);
  const CausalLm& network = *model_->network;
  std::vector<TextLikelihood> all(texts.size());
  std::vector<Window> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TextLikelihood& text = all[i];
    text.ids = std::move(texts[i]);
    if (options.start) text.ids.insert(text.ids.begin(), start());
    text.logprobs.assign(text.ids.size(), std::numeric_limits<double>::quiet_NaN());
    text.best.resize(text.ids.size());
    const std::vector<Window> own = windows_of(i, text.ids, network.options.positions);
    text.windows = std::ssize(own);
    windows.insert(windows.end(), own.begin(), own.end());
  }
  for (std::size_t first = 0; first < windows.size();) {
    check_stop();
    std::vector<std::span<const std::int32_t>> batch;
    std::int64_t tokens = 0;
    while (first + batch.size() < windows.size() && (batch.empty() || tokens < options.batch_tokens)) {
      batch.push_back(windows[first + batch.size()].ids);
      tokens += std::ssize(batch.back());
    }
    score_windows(*this, std::span(windows).subspan(first, batch.size()), all, network.read(batch),
                  options.alternatives);
    first += batch.size();
  }
  for (TextLikelihood& text : all) {
    if (options.start)
      text.ids.erase(text.ids.begin()), text.logprobs.erase(text.logprobs.begin()), text.best.erase(text.best.begin());
    for (const double logprob : text.logprobs)
      if (!std::isnan(logprob)) text.logprob += logprob;
  }
  return all;
}

AttentionMap LanguageModel::attention_map(const std::string& text, std::span<const std::int32_t> generated,
                                          const AttentionSelection& selection, LongText long_text) const {
  const NoGrad no_grad;
  const Training no_training(false);
  const CausalLm& network = *model_->network;
  Encoding encoding = model_->tokenizer.encode(text);
  if (encoding.ids.empty() && !generated.empty()) encoding.ids = {start()}, encoding.spans = {{}};
  AttentionMap map;
  map.kind = network.options.family->type, map.text = text, map.generated = std::ssize(generated);
  std::vector<std::int32_t> ids = std::move(encoding.ids);
  std::vector<Span> spans = std::move(encoding.spans);
  std::string whole = text;
  if (!generated.empty()) {
    map.generated_text = model_->tokenizer.decode(generated);
    for (const Span& span : spans_of(model_->tokenizer, generated))
      spans.push_back({span.begin + std::ssize(text), span.end + std::ssize(text)});
    ids.insert(ids.end(), generated.begin(), generated.end());
    whole += *map.generated_text;
  }
  if (ids.empty()) fail<InputError>("attention", "the text is empty: there is nothing to look at");
  if (const std::int64_t more = std::ssize(ids) - positions(); more > 0) {
    // The last token that was generated may stand where no position is: it was never read.
    if (more == 1 && !generated.empty()) {
      ids.pop_back(), spans.pop_back(), --map.generated;
    } else if (long_text == LongText::truncate) {
      ids.erase(ids.begin(), ids.begin() + more), spans.erase(spans.begin(), spans.begin() + more);
      map.truncated = more, map.generated = std::min(map.generated, positions());
    } else {
      fail<InputError>("attention", "the text is too long: got ", ids.size(), " tokens, expected at most ",
                       positions());
    }
  }
  AttentionView view{AttentionKind::self, true};
  view.queries = view.keys = attention_tokens(model_->tokenizer, ids, whole, spans);
  if (!prepare(view, network.options.layers, network.options.heads, selection, true))
    fail<InputError>("attention", "a language model has self-attention only");
  map.views.push_back(std::move(view));
  const std::int64_t T = std::ssize(ids);
  Tensor states;
  const auto read = [&](Probe& probe) { states = network.states(Tensor::ids(ids, {1, T}), &probe); };
  if (!selection.layers.empty() || selection.one_layer) {
    capture(map, read);
    return map;
  }
  AttentionMap* const maps[] = {&map};
  Probe probe([&](const Probe::Record& record) { keep(record, maps); });
  read(probe);
  std::vector<TextLikelihood> likelihood(1);
  likelihood[0].logprobs.assign(ids.size(), std::numeric_limits<double>::quiet_NaN());
  likelihood[0].best.resize(ids.size());
  const Window all[] = {{0, ids, 0, 1}};
  score_windows(*this, all, likelihood, states.reshape({T, states.dim(2)}));
  map.logprobs = std::move(likelihood[0].logprobs);
  return map;
}

}  // namespace attend
