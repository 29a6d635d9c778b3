#include "attend/decode/language_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/data/hash.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {

struct LanguageModel::Model {
  Gpt2 network;
  Tokenizer tokenizer;
  GenerationConfig generation;
};

namespace {

constexpr std::int64_t kUntold = 128;     // new tokens where nobody says
constexpr std::int64_t kLogitRows = 128;  // of scores at a time: a row of logits is as long as the vocabulary

SearchOptions untold(const Gpt2Options& o) { return {.max_length = 0, .start = o.start, .ends = {o.end}}; }

/// What the folder says, and over it what the caller does.
SearchOptions search_options(const LanguageModel::Model& model, const GenerateOptions& options) {
  SearchOptions search = model.generation.search;
  const auto take = [](auto& value, const auto& given) {
    if (given) value = *given;
  };
  if (options.samples_by_chance()) search.sample = true, search.beam = 1;
  if (options.greedy) search.sample = false, search.beam = 1;
  if (options.beam) search.sample = false, search.beam = *options.beam;
  search.nbest = options.samples;
  take(search.length_penalty, options.length_penalty);
  take(search.max_new_tokens, options.max_new_tokens);
  take(search.rules.min_new_tokens, options.min_new_tokens);
  if (options.min_new_tokens) search.rules.min_length = 0;
  take(search.rules.no_repeat_ngram, options.no_repeat_ngram);
  take(search.rules.repetition_penalty, options.repetition_penalty);
  take(search.rules.presence_penalty, options.presence_penalty);
  take(search.sampling.temperature, options.temperature);
  take(search.sampling.top_k, options.top_k);
  take(search.sampling.top_p, options.top_p);
  take(search.sampling.min_p, options.min_p);
  search.seed = options.seed;
  // A model may have more rows than there are tokens, so that its table has a round size.
  for (std::int64_t id = model.tokenizer.size(); id < model.network.options.vocabulary; ++id)
    search.rules.suppressed.push_back(static_cast<std::int32_t>(id));
  if (options.ignore_eos) {
    search.rules.suppressed.insert(search.rules.suppressed.end(), search.ends.begin(), search.ends.end());
    search.ends.clear();
  }
  return search;
}

/// New tokens that a prompt may get. The last one is never read.
std::int64_t room(const LanguageModel::Model& model, std::size_t index, std::int64_t prompt,
                  const SearchOptions& search, const GenerateOptions& options) {
  std::int64_t more = search.max_new_tokens;
  const bool told = more > 0;
  if (!told) more = search.max_length > prompt ? search.max_length - prompt : kUntold;
  if (options.long_context == LongContext::slide) return more;
  const std::int64_t positions = model.network.options.positions, most = positions + 1 - prompt;
  if (most < 1 || (told && more > most))
    throw TextError(index, "the prompt and what follows it are too long: got " + std::to_string(prompt) + " and " +
                               std::to_string(more) + " tokens, the model sees " + std::to_string(positions) +
                               "; let it slide, to forget the beginning");
  return std::min(more, most);
}

/// The first place of any of these in a text, or npos.
std::size_t find_any(const std::string& text, const std::vector<std::string>& wanted) {
  std::size_t first = std::string::npos;
  for (const std::string& one : wanted) first = std::min(first, text.find(one));
  return first;
}

/// Text on its way to somebody who reads along. What may be the beginning of a stop is kept back until it is known.
class StoppingStream {
 public:
  StoppingStream(const Tokenizer& tokenizer, const std::vector<std::string>& stop) : decoder_(tokenizer), stop_(stop) {}

  std::string push(std::int32_t id) { return settle(decoder_.push(id), false); }
  std::string finish() { return settle(decoder_.finish(), true); }

 private:
  std::string settle(const std::string& more, bool last) {
    if (stopped_) return "";
    kept_ += more;
    std::size_t end = find_any(kept_, stop_);
    stopped_ = end != std::string::npos;
    if (!stopped_) end = last ? kept_.size() : kept_.size() - begun();
    std::string settled = kept_.substr(0, end);
    kept_.erase(0, end);
    return settled;
  }
  /// The bytes at the end that a stop begins with.
  std::size_t begun() const {
    std::size_t most = 0;
    for (const std::string& stop : stop_)
      for (std::size_t n = std::min(stop.size(), kept_.size()); n > most; --n)
        if (kept_.ends_with(std::string_view(stop).substr(0, n))) most = n;
    return most;
  }

  StreamDecoder decoder_;
  std::vector<std::string> stop_;
  std::string kept_;
  bool stopped_ = false;
};

std::uint64_t stream_of(const std::vector<std::int32_t>& ids) {
  return hash_text({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])}).low;
}

Generation generation_of(const LanguageModel::Model& model, Hypothesis&& found, const GenerateOptions& options) {
  Generation made;
  made.text = model.tokenizer.decode(found.ids);
  if (const std::size_t end = find_any(made.text, options.stop); end != std::string::npos) made.text.resize(end);
  made.ids = std::move(found.ids);
  made.log_probability = found.log_probability;
  if (found.stopped)
    made.finish = Finish::stop;
  else if (found.finished)
    made.finish = Finish::eos;
  return made;
}

/// Whether what was said contains a stop. Only the end can be new.
std::function<bool(std::span<const std::int32_t>)> stops_of(const LanguageModel::Model& model,
                                                            const std::vector<std::string>& stop) {
  if (stop.empty()) return {};
  std::size_t longest = 0;
  for (const std::string& one : stop) longest = std::max(longest, one.size());
  return [&model, &stop, longest](std::span<const std::int32_t> words) {
    const std::string end = model.tokenizer.decode(words.last(std::min(words.size(), longest + 4)));
    return find_any(end, stop) != std::string::npos;
  };
}

}  // namespace

LanguageModel::LanguageModel(const std::filesystem::path& folder) {
  const Config config(folder / "config.json");
  if (const std::string type = config.text("model_type", ""); type != kGpt2Type)
    fail<InputError>("language model", folder.string(), ": holds a model of type \"", type,
                     "\", expected a language model (", kGpt2Type, ")");
  Gpt2 network = load_gpt2(folder, /*mapped=*/true);
  const SearchOptions search = untold(network.options);
  model_ = std::make_shared<const Model>(
      Model{std::move(network), load_tokenizer(folder), GenerationConfig::read(folder, search)});
}

LanguageModel::LanguageModel(Gpt2 model, Tokenizer tokenizer) {
  const SearchOptions search = untold(model.options);
  model_ = std::make_shared<const Model>(Model{std::move(model), std::move(tokenizer), {search}});
}

const Tokenizer& LanguageModel::tokenizer() const { return model_->tokenizer; }
const GenerationConfig& LanguageModel::generation() const { return model_->generation; }
std::int64_t LanguageModel::positions() const { return model_->network.options.positions; }
std::int32_t LanguageModel::start() const { return model_->generation.search.start; }
std::int32_t LanguageModel::end() const { return model_->network.options.end; }

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
  const Model& model = *model_;
  for (const std::string& stop : options.stop)
    if (stop.empty()) fail<InputError>("generate", "a text cannot stop at nothing: got an empty stop string");
  const SearchOptions search = search_options(model, options);
  std::vector<SearchInput> inputs;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i].empty()) prompts[i].push_back(search.start);
    inputs.push_back({.prompt = prompts[i],
                      .max_new_tokens = room(model, i, std::ssize(prompts[i]), search, options),
                      .stream = stream_of(prompts[i])});
  }
  const std::int64_t positions = model.network.options.positions;
  const auto rows =
      static_cast<std::size_t>(std::max<std::int64_t>(options.batch_rows / std::max(search.beam, search.nbest), 1));
  std::vector<std::vector<Generation>> all(prompts.size());
  for (std::size_t first = 0; first < prompts.size(); first += rows) {
    const std::size_t count = std::min(rows, prompts.size() - first);
    std::vector<StoppingStream> streams;
    SearchWatch watch{.stops = stops_of(model, options.stop)};
    if (stream && search.beam == 1) {
      streams.resize(count * static_cast<std::size_t>(search.nbest), {model.tokenizer, options.stop});
      watch.said = [&, first](std::size_t sentence, std::size_t sample, std::int32_t word) {
        const std::size_t one = sentence * static_cast<std::size_t>(search.nbest) + sample;
        if (const std::string text = streams[one].push(word); !text.empty()) stream(first + sentence, sample, text);
      };
    }
    std::vector<std::vector<std::int32_t>> batch(prompts.begin() + static_cast<std::ptrdiff_t>(first),
                                                 prompts.begin() + static_cast<std::ptrdiff_t>(first + count));
    Gpt2Stepper stepper(model.network, std::move(batch), options.long_context);
    auto found = attend::search(stepper, std::span(inputs).subspan(first, count), search, watch);
    for (std::size_t i = 0; i < count; ++i)
      for (Hypothesis& hypothesis : found[i]) {
        all[first + i].push_back(generation_of(model, std::move(hypothesis), options));
        all[first + i].back().truncated = std::max<std::int64_t>(std::ssize(prompts[first + i]) - positions, 0);
      }
    for (std::size_t one = 0; one < streams.size(); ++one)
      if (const std::string text = streams[one].finish(); !text.empty())
        stream(first + one / static_cast<std::size_t>(search.nbest), one % static_cast<std::size_t>(search.nbest),
               text);
    if (progress) progress(static_cast<std::int64_t>(first + count), std::ssize(prompts));
  }
  return all;
}

Generation LanguageModel::operator()(const std::string& prompt, const GenerateOptions& options) const {
  return generate(std::span(&prompt, 1), options).front().front();
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

/// The logarithms of the probabilities of all tokens but the first of each window, which was read into `states`.
void score_windows(const Gpt2& network, std::span<const Window> windows, std::vector<TextLikelihood>& texts,
                   const Tensor& states) {
  std::vector<double*> places;  // where the logarithm of what follows each row goes; null: nowhere
  std::vector<std::int32_t> next;
  for (const Window& window : windows)
    for (std::int64_t t = 1; t <= std::ssize(window.ids); ++t) {
      const bool wanted = t < std::ssize(window.ids) && t >= window.scored;
      places.push_back(wanted ? &texts[window.text].logprobs[static_cast<std::size_t>(window.at + t)] : nullptr);
      next.push_back(wanted ? window.ids[static_cast<std::size_t>(t)] : -100);
    }
  for (std::int64_t row = 0; row < states.dim(0); row += kLogitRows) {
    const std::int64_t end = std::min(row + kLogitRows, states.dim(0));
    const Tensor targets = Tensor::ids(
        std::span(next).subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(end - row)), {end - row});
    const Tensor losses =
        cross_entropy(network.say(states.view_rows(row, end)), targets, {.reduction = Reduction::none});
    for (std::int64_t i = row; i < end; ++i)
      if (double* place = places[static_cast<std::size_t>(i)]) *place = -static_cast<double>(losses.data()[i - row]);
  }
}

}  // namespace

std::vector<TextLikelihood> LanguageModel::score(std::span<const std::string> texts,
                                                 const LikelihoodOptions& options) const {
  const NoGrad no_grad;
  const Training no_training(false);
  const Gpt2& network = model_->network;
  std::vector<Encoding> encodings = model_->tokenizer.encode_all(texts);
  std::vector<TextLikelihood> all(texts.size());
  std::vector<Window> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TextLikelihood& text = all[i];
    text.ids = std::move(encodings[i].ids), text.invalid = encodings[i].invalid;
    if (options.start) text.ids.insert(text.ids.begin(), start());
    text.logprobs.assign(text.ids.size(), std::numeric_limits<double>::quiet_NaN());
    const std::vector<Window> own = windows_of(i, text.ids, network.options.positions);
    text.windows = std::ssize(own);
    windows.insert(windows.end(), own.begin(), own.end());
  }
  for (std::size_t first = 0; first < windows.size();) {
    std::vector<std::span<const std::int32_t>> batch;
    std::int64_t tokens = 0;
    while (first + batch.size() < windows.size() && (batch.empty() || tokens < options.batch_tokens)) {
      batch.push_back(windows[first + batch.size()].ids);
      tokens += std::ssize(batch.back());
    }
    score_windows(network, std::span(windows).subspan(first, batch.size()), all, network.read(batch));
    first += batch.size();
  }
  for (TextLikelihood& text : all) {
    if (options.start) text.ids.erase(text.ids.begin()), text.logprobs.erase(text.logprobs.begin());
    for (const double logprob : text.logprobs)
      if (!std::isnan(logprob)) text.logprob += logprob;
  }
  return all;
}

}  // namespace attend
