#include "attend/tasks/language_model/generation_batch.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "attend/core/threads.h"
#include "attend/data/hash.h"
#include "attend/decode/generation_options.h"
#include "attend/decode/sentence_search.h"
#include "attend/kernels/few_rows.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;

/// Tokens of prompts that are read between two steps: texts that are being written wait so long.
constexpr std::int64_t kReadBetweenSteps = 512;

SearchOptions search_options(const LanguageModel& model, GenerationOptions options) {
  if (options.nbest.value_or(1) > 1 && !options.beam && !options.greedy) options.sample = true;
  SearchOptions search = resolve(options, model.generation().search, model.tokenizer());
  const std::vector<std::int32_t> never = model.words_without_tokens();
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
  /// The bytes at the end that a stop begins with.
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

/// The random numbers of a prompt are its own, whatever else is generated.
std::uint64_t stream_of(const Ids& ids) {
  return hash_text({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])}).low;
}

/// What the tasks of one call have in common.
struct Plan {
  SearchOptions search;
  std::vector<std::string> stop;
  LongContext long_context;
};

Generation generation_of(const Tokenizer& tokenizer, Hypothesis&& found, const Plan& plan) {
  Generation made;
  made.text = tokenizer.decode(found.ids);
  if (const std::size_t end = find_any(made.text, plan.stop); end != std::string::npos) made.text.resize(end);
  made.ids = std::move(found.ids);
  made.log_probability = found.log_probability;
  if (found.stopped)
    made.finish = Finish::stop;
  else if (found.finished)
    made.finish = Finish::eos;
  return made;
}

/// Whether what was said contains a stop. Only the end can be new.
std::function<bool(std::span<const std::int32_t>)> stops_of(const Tokenizer& tokenizer,
                                                            const std::vector<std::string>& stop) {
  if (stop.empty()) return {};
  std::size_t longest = 0;
  for (const std::string& one : stop) longest = std::max(longest, one.size());
  return [&tokenizer, &stop, longest](std::span<const std::int32_t> words) {
    const std::string end = tokenizer.decode(words.last(std::min(words.size(), longest + 4)));
    return find_any(end, stop) != std::string::npos;
  };
}

}  // namespace

struct GenerationTask::Content {
  std::shared_ptr<const Plan> plan;
  SearchInput input;

  std::int64_t rows() const { return std::max(plan->search.beam, plan->search.nbest); }
  std::int64_t tokens() const { return std::ssize(input.prompt) + rows() * input.max_new_tokens; }
};

GenerationTask::GenerationTask(std::unique_ptr<Content> content) : content_(std::move(content)) {}
GenerationTask::~GenerationTask() = default;
GenerationTask::GenerationTask(GenerationTask&&) noexcept = default;
GenerationTask& GenerationTask::operator=(GenerationTask&&) noexcept = default;
std::int64_t GenerationTask::prompt_tokens() const { return std::ssize(content_->input.prompt); }
std::int64_t GenerationTask::rows() const { return content_->rows(); }
std::int64_t GenerationTask::tokens() const { return content_->tokens(); }

std::vector<GenerationTask> GenerationTask::make(const LanguageModel& model, std::vector<Ids> prompts,
                                                 const GenerateOptions& options) {
  const std::vector<std::string> stops = options.search.stop.value_or(std::vector<std::string>());
  for (const std::string& stop : stops)
    if (stop.empty()) fail<InputError>("generate", "a text cannot stop at nothing: got an empty stop string");
  const auto plan =
      std::make_shared<const Plan>(Plan{search_options(model, options.search), stops, options.long_context});
  const std::int64_t vocabulary = model.network().options.vocabulary;
  check(plan->search);
  check_words(plan->search, vocabulary);
  std::vector<GenerationTask> tasks;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Ids& prompt = prompts[i];
    if (prompt.empty()) prompt.push_back(plan->search.start);
    for (const std::int32_t id : prompt)
      if (id < 0 || id >= vocabulary)
        throw TextError(
            i, "there is no token " + std::to_string(id) + ", expected 0 to " + std::to_string(vocabulary - 1));
    SearchInput input;
    input.max_new_tokens = room(model, i, std::ssize(prompt), plan->search, options);
    input.stream = stream_of(prompt);
    input.prompt = std::move(prompt);
    tasks.push_back(GenerationTask(std::make_unique<Content>(Content{plan, std::move(input)})));
  }
  return tasks;
}

struct GenerationBatch::Running {
  Ticket ticket;
  std::unique_ptr<GenerationTask::Content> task;
  GenerationListener listener;
  SearchWatch watch = {};
  std::vector<StoppingStream> streams = {};
  std::optional<SentenceSearch> sentence = {};
  bool begun = false;  // was read before

  /// What the model is to read of each row.
  std::vector<std::span<const std::int32_t>> texts(std::int64_t positions) const {
    const std::int64_t most = begun ? positions - positions / 4 : positions;
    std::vector<std::span<const std::int32_t>> all;
    for (std::size_t row = 0; row < sentence->rows(); ++row) {
      const std::span<const std::int32_t> words = sentence->words(row);
      all.push_back(words.last(static_cast<std::size_t>(std::min(std::ssize(words), most))));
    }
    return all;
  }
  std::int64_t tokens_to_read(std::int64_t positions) const {
    std::int64_t sum = 0;
    for (const auto& text : texts(positions)) sum += std::ssize(text);
    return sum;
  }
  void tell(std::size_t sample, const NextWord& word, std::span<const NextWord> best) {
    const SaidToken token{word, best};
    listener.said(sample, &token, streams[sample].push(word.id));
  }
  void finish(const LanguageModel& model) {
    for (std::size_t sample = 0; sample < streams.size(); ++sample)
      if (const std::string text = streams[sample].finish(); !text.empty()) listener.said(sample, nullptr, text);
    std::vector<Generation> texts;
    for (Hypothesis& hypothesis : sentence->take_results()) {
      texts.push_back(generation_of(model.tokenizer(), std::move(hypothesis), *task->plan));
      texts.back().truncated = std::max<std::int64_t>(std::ssize(task->input.prompt) - model.positions(), 0);
    }
    if (listener.done) listener.done(std::move(texts));
  }
};

GenerationBatch::GenerationBatch(LanguageModel model, const Limits& limits)
    : model_(std::move(model)), limits_(limits), state_(model_.network().options.layers) {}
GenerationBatch::~GenerationBatch() = default;

std::int64_t GenerationBatch::rows() const {
  std::int64_t sum = 0;
  for (const Group* group : {&fresh_, &running_})
    for (const auto& one : *group) sum += one->task->rows();
  return sum;
}

std::int64_t GenerationBatch::tokens() const {
  std::int64_t sum = 0;
  for (const Group* group : {&fresh_, &running_})
    for (const auto& one : *group) sum += one->task->tokens();
  return sum;
}

bool GenerationBatch::has_room(const GenerationTask& task) const {
  if (fresh_.empty() && running_.empty()) return true;
  return rows() + task.rows() <= limits_.rows && (limits_.tokens == 0 || tokens() + task.tokens() <= limits_.tokens);
}

GenerationBatch::Ticket GenerationBatch::join(GenerationTask task, GenerationListener listener) {
  auto running = std::make_unique<Running>(Running{++last_ticket_, std::move(task.content_), std::move(listener)});
  const Plan& plan = *running->task->plan;
  running->watch.stops = stops_of(model_.tokenizer(), plan.stop);
  if (running->listener.said && plan.search.beam == 1) {
    running->streams.resize(static_cast<std::size_t>(plan.search.nbest), {model_.tokenizer(), plan.stop});
    running->watch.alternatives = running->listener.alternatives;
    running->watch.said = [one = running.get()](std::size_t, std::size_t sample, const NextWord& word,
                                                std::span<const NextWord> best) { one->tell(sample, word, best); };
  }
  running->sentence.emplace(running->task->input, 0, plan.search, running->watch);
  fresh_.push_back(std::move(running));
  return last_ticket_;
}

void GenerationBatch::drop(Ticket ticket) {
  const auto is_it = [ticket](const auto& one) { return one->ticket == ticket; };
  std::erase_if(fresh_, is_it);
  std::vector<std::int64_t> kept;
  std::int64_t row = 0;
  for (const auto& one : running_)
    for (std::size_t i = 0; i < one->sentence->rows(); ++i, ++row)
      if (!is_it(one)) kept.push_back(row);
  std::erase_if(running_, is_it);
  select(kept);
}

void GenerationBatch::clear() {
  fresh_.clear(), running_.clear();
  state_ = Gpt2State(model_.network().options.layers);
}

/// Choosing all of them in their order is what most steps do.
void GenerationBatch::select(std::span<const std::int64_t> rows) {
  bool all = std::ssize(rows) == state_.rows();
  for (std::size_t i = 0; all && i < rows.size(); ++i) all = rows[i] == static_cast<std::int64_t>(i);
  if (!all) state_.select(rows);
}

bool GenerationBatch::step() {
  read_some();
  slide();
  if (!running_.empty()) write();
  return !fresh_.empty() || !running_.empty();
}

/// Texts that have as many tokens as the model has positions are read anew, without their beginnings.
void GenerationBatch::slide() {
  std::vector<std::int64_t> kept;
  Group full, others;
  std::int64_t row = 0;
  for (auto& one : running_) {
    const auto rows = static_cast<std::int64_t>(one->sentence->rows());
    std::int64_t longest = 0;
    for (std::int64_t i = row; i < row + rows; ++i)
      longest = std::max(longest, state_.lengths[static_cast<std::size_t>(i)]);
    const bool is_full = longest >= model_.positions();
    for (std::int64_t i = row; !is_full && i < row + rows; ++i) kept.push_back(i);
    (is_full ? full : others).push_back(std::move(one));
    row += rows;
  }
  running_ = std::move(others);
  if (full.empty()) return;
  select(kept);
  fresh_.insert(fresh_.begin(), std::move_iterator(full.begin()), std::move_iterator(full.end()));
}

void GenerationBatch::read_some() {
  const std::int64_t positions = model_.positions();
  std::int64_t read_already = 0;
  while (!fresh_.empty() && read_already < kReadBetweenSteps) {
    // So few together that each has the same bits as alone; one that is longer is read alone.
    Group group;
    std::int64_t tokens = 0;
    std::size_t taken = 0;
    for (; taken < fresh_.size(); ++taken) {
      const std::int64_t more = fresh_[taken]->tokens_to_read(positions);
      if (taken > 0 && tokens + more > kernels::kFewRows) break;
      tokens += more;
      group.push_back(std::move(fresh_[taken]));
    }
    fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(taken));
    read(std::move(group));
    read_already += tokens;
  }
}

void GenerationBatch::read(Group group) {
  std::vector<std::span<const std::int32_t>> texts;
  for (const auto& one : group) {
    const auto own = one->texts(model_.positions());
    texts.insert(texts.end(), own.begin(), own.end());
  }
  Gpt2State state;
  const Tensor logits = model_.network().start(texts, state);
  for (const auto& one : group) one->begun = true;
  const std::vector<std::int64_t> kept = extend(group, logits);
  if (kept.empty()) return;
  state.select(kept);
  state_.join(std::move(state));
  std::ranges::move(group, std::back_inserter(running_));
}

void GenerationBatch::write() {
  Ids last;
  for (const auto& one : running_)
    for (std::size_t row = 0; row < one->sentence->rows(); ++row) last.push_back(one->sentence->words(row).back());
  select(extend(running_, model_.network().step(Tensor::ids(last, {std::ssize(last)}), state_, nullptr)));
}

/// Each says what follows, and those that are done leave. Gives which of the rows before each row now continues.
std::vector<std::int64_t> GenerationBatch::extend(Group& group, const Tensor& logits) {
  struct Part {
    std::int64_t first;
    std::vector<std::vector<NextWord>> next;
  };
  std::vector<Part> parts;
  std::int64_t first = 0;
  for (const auto& one : group) {
    parts.push_back({first, {}});
    first += static_cast<std::int64_t>(one->sentence->rows());
  }
  const auto look_up = [&](std::int64_t i) {
    const Running& one = *group[static_cast<std::size_t>(i)];
    Part& part = parts[static_cast<std::size_t>(i)];
    const SearchOptions& search = one.task->plan->search;
    std::vector<LogitsContext> contexts;
    for (std::size_t row = 0; row < one.sentence->rows(); ++row) contexts.push_back(one.sentence->context(row));
    part.next = best_words(logits.view_rows(part.first, part.first + std::ssize(contexts)), contexts, search.rules,
                           search.ends, one.sentence->candidates(logits.dim(1)), one.sentence->score_kind());
  };
  parallel_tasks(std::ssize(group), look_up);

  std::vector<std::int64_t> kept;
  Group open, done;
  for (std::size_t i = 0; i < group.size(); ++i) {
    SentenceSearch& sentence = *group[i]->sentence;
    sentence.extend(parts[i].next);
    for (std::size_t row = 0; row < sentence.rows(); ++row)
      kept.push_back(parts[i].first + static_cast<std::int64_t>(sentence.origin(row)));
    (sentence.rows() > 0 ? open : done).push_back(std::move(group[i]));
  }
  group = std::move(open);
  for (const auto& one : done) one->finish(model_);
  return kept;
}

}  // namespace attend
