#include "attend/tasks/language_model/generation_task.h"

#include <algorithm>
#include <utility>

#include "attend/data/hash.h"
#include "attend/decode/generation_options.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;

SearchOptions search_options(const LanguageModel& model, const GenerateOptions& told) {
  GenerationOptions options = told.search;
  if (options.nbest.value_or(1) > 1 && !options.beam && !options.greedy) options.sample = true;
  SearchOptions search = resolve(options, model.generation().search, model.tokenizer());
  if (!options.ignore_eos.value_or(false))
    for (const std::int32_t end : told.ends)
      if (std::ranges::find(search.ends, end) == search.ends.end()) search.ends.push_back(end);
  search.rules.grammar = model.grammar(options);
  const std::vector<std::int32_t> never = model.ids_without_tokens();
  search.rules.suppressed.insert(search.rules.suppressed.end(), never.begin(), never.end());
  return search;
}

/// New tokens that a prompt may get. The last one is never read.
std::int64_t room(const LanguageModel& model, std::size_t index, std::int64_t prompt, const SearchOptions& search,
                  const GenerateOptions& options) {
  std::int64_t more = search.max_new_tokens;
  const bool told = more > 0;
  if (!told) more = search.max_length > prompt ? search.max_length - prompt : kDefaultNewTokens;
  if (options.long_context == LongContext::slide) return more;
  const std::int64_t positions = model.positions(), most = positions + 1 - prompt;
  if (most < 1 || (told && more > most))
    throw TextError(index, "the prompt and what follows it are too long: got " + std::to_string(prompt) + " and " +
                               std::to_string(more) + " tokens, the model sees " + std::to_string(positions) +
                               "; the option long=slide drops the beginning instead");
  return std::min(more, most);
}

/// The first place of any of these in a text, or npos.
std::size_t find_any(const std::string& text, const std::vector<std::string>& wanted) {
  std::size_t first = std::string::npos;
  for (const std::string& one : wanted) first = std::min(first, text.find(one));
  return first;
}

/// Text for streaming. What may be the beginning of a stop text is held back until that is known.
class StoppingStream {
 public:
  StoppingStream(const Tokenizer& tokenizer, const std::vector<std::string>& stop)
      : decoder_(tokenizer), stop_(&stop) {}

  std::string push(std::int32_t id) { return settle(decoder_.push(id), false); }
  std::string finish() { return settle(decoder_.finish(), true); }

 private:
  std::string settle(const std::string& more, bool last) {
    if (stopped_) return "";
    kept_ += more;
    std::size_t end = find_any(kept_, *stop_);
    stopped_ = end != std::string::npos;
    if (!stopped_) end = last ? kept_.size() : kept_.size() - begun();
    std::string settled = kept_.substr(0, end);
    kept_.erase(0, end);
    return settled;
  }
  /// The number of bytes at the end that a stop text begins with.
  std::size_t begun() const {
    std::size_t most = 0;
    for (const std::string& stop : *stop_)
      for (std::size_t n = std::min(stop.size(), kept_.size()); n > most; --n)
        if (kept_.ends_with(std::string_view(stop).substr(0, n))) most = n;
    return most;
  }

  StreamDecoder decoder_;
  const std::vector<std::string>* stop_;
  std::string kept_;
  bool stopped_ = false;
};

/// Each prompt has its own random numbers, whatever else is generated.
std::uint64_t stream_of(const Ids& ids) {
  return hash_text({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])}).low;
}

/// Whether a text contains a stop. Only its last tokens can be new.
std::function<bool(std::span<const std::int32_t>)> stops_of(const Tokenizer& tokenizer,
                                                            const std::vector<std::string>& stop) {
  if (stop.empty()) return {};
  std::size_t longest = 0;
  for (const std::string& one : stop) longest = std::max(longest, one.size());
  return [&tokenizer, &stop, longest](std::span<const std::int32_t> ids) {
    const std::string end = tokenizer.decode(ids.last(std::min(ids.size(), longest + 4)));
    return find_any(end, stop) != std::string::npos;
  };
}

Generation generation_of(const Tokenizer& tokenizer, Hypothesis&& found, const std::vector<std::string>& stop,
                         bool conforms) {
  Generation made;
  const bool has_end = conforms && found.finished;  // its text, if it is not a special token, is not in the grammar
  made.text = tokenizer.decode(std::span(found.ids).first(found.ids.size() - (has_end ? 1 : 0)));
  if (const std::size_t end = find_any(made.text, stop); end != std::string::npos) made.text.resize(end);
  made.ids = std::move(found.ids);
  made.log_probability = found.log_probability;
  if (found.stopped)
    made.finish = Finish::stop;
  else if (found.finished)
    made.finish = Finish::eos;
  return made;
}

}  // namespace

struct GenerationTask::Shared {
  LanguageModel model;
  std::vector<std::string> stop;
  std::vector<std::int32_t> silent_ends = {};  // with a grammar: the tokens that end a text
};

std::vector<GenerationTask> GenerationTask::make(const LanguageModel& model, std::vector<Ids> prompts,
                                                 const GenerateOptions& options) {
  const std::vector<std::string> stops = options.search.stop.value_or(std::vector<std::string>());
  for (const std::string& stop : stops)
    if (stop.empty()) fail<InputError>("generate", "a text cannot stop at nothing: got an empty stop string");
  const SearchOptions search = search_options(model, options);
  const std::int64_t vocabulary = model.network().vocabulary();
  std::vector<SearchInput> inputs;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Ids& prompt = prompts[i];
    if (prompt.empty()) prompt.push_back(search.start);
    for (const std::int32_t id : prompt)
      if (id < 0 || id >= vocabulary)
        throw TextError(
            i, "there is no token " + std::to_string(id) + ", expected 0 to " + std::to_string(vocabulary - 1));
    SearchInput input;
    input.max_new_tokens = room(model, i, std::ssize(prompt) + std::ssize(options.begin), search, options);
    input.prefix = options.begin;
    input.stream = stream_of(prompt);
    input.prompt = std::move(prompt);
    inputs.push_back(std::move(input));
  }
  const auto shared = std::make_shared<const Shared>(
      Shared{model, stops, search.rules.grammar ? search.ends : std::vector<std::int32_t>()});
  std::vector<GenerationTask> tasks;
  for (EngineRequest& request : make_requests(model.network(), search, std::move(inputs))) {
    request.slide = options.long_context == LongContext::slide;
    tasks.push_back(GenerationTask(std::move(request), shared));
  }
  return tasks;
}

EngineListener GenerationTask::decode_for(GenerationListener listener) const {
  struct Text {
    std::shared_ptr<const Shared> shared;
    GenerationListener listener;
    std::int64_t truncated;
    std::optional<std::uint64_t> seed;
    std::int64_t reused = 0;
    std::vector<StoppingStream> streams = {};  // of each sample
  };
  const Tokenizer& tokenizer = shared_->model.tokenizer();
  const std::int64_t truncated =
      std::max<std::int64_t>(std::ssize(request.input.prompt) - shared_->model.positions(), 0);
  std::optional<std::uint64_t> seed;
  if (request.options->sample) seed = request.options->seed;
  const auto text = std::make_shared<Text>(Text{shared_, std::move(listener), truncated, seed});
  EngineListener told;
  told.read = [text](std::int64_t reused) { text->reused = reused; };
  told.callbacks.should_stop = stops_of(tokenizer, shared_->stop);
  if (text->listener.on_token && request.options->beam == 1) {
    text->streams.resize(static_cast<std::size_t>(request.options->nbest), {tokenizer, shared_->stop});
    told.callbacks.alternatives = text->listener.alternatives;
    told.callbacks.on_token = [text](std::size_t sample, const NextToken& token, std::span<const NextToken> best) {
      const GeneratedToken generated{token, best};
      const bool silent = std::ranges::find(text->shared->silent_ends, token.id) != text->shared->silent_ends.end();
      text->listener.on_token(sample, &generated, silent ? "" : text->streams[sample].push(token.id));
    };
  }
  told.done = [text](std::vector<Hypothesis>&& found) {
    for (std::size_t sample = 0; sample < text->streams.size(); ++sample)
      if (const std::string more = text->streams[sample].finish(); !more.empty())
        text->listener.on_token(sample, nullptr, more);
    std::vector<Generation> texts;
    for (Hypothesis& hypothesis : found) {
      texts.push_back(generation_of(text->shared->model.tokenizer(), std::move(hypothesis), text->shared->stop,
                                    !text->shared->silent_ends.empty()));
      texts.back().truncated = text->truncated, texts.back().seed = text->seed, texts.back().reused = text->reused;
    }
    if (text->listener.done) text->listener.done(std::move(texts));
  };
  return told;
}

}  // namespace attend
