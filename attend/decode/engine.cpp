#include "attend/decode/engine.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/machine.h"
#include "attend/core/memory.h"
#include "attend/core/stop.h"
#include "attend/core/threads.h"
#include "attend/core/wording.h"
#include "attend/decode/token_grammar.h"
#include "attend/kernels/row_blocks.h"

namespace attend {

std::int64_t EngineRequest::tokens() const {
  const std::int64_t read = std::ssize(input.source) + std::ssize(input.prompt) + std::ssize(input.prefix);
  std::int64_t more = input.max_new_tokens > 0      ? input.max_new_tokens
                      : options->max_new_tokens > 0 ? options->max_new_tokens
                                                    : options->max_length;
  // An output that is much longer than its source is rare, even if the options allow it.
  if (!input.source.empty()) more = std::min(more, 2 * std::ssize(input.source) + 20);
  return read + rows() * more;
}

namespace {

/// Bytes that this process can still use for tensors; 0: not known.
std::int64_t available_bytes() {
  const MemoryLimits limits = memory_limits();
  if (limits.total == 0) return 0;
  return std::max<std::int64_t>(limits.free + static_cast<std::int64_t>(memory_use().cached), 1);
}

/// Estimate of the memory that a request takes at its last step: keys and values, logits, and candidates.
double estimated_bytes(const GenerativeModel& model, const EngineRequest& request) {
  const SearchOptions& o = *request.options;
  const auto rows = static_cast<double>(request.rows()), vocabulary = static_cast<double>(model.vocabulary());
  double candidates = 1;
  if (o.beam > 1)
    candidates = static_cast<double>(beam_candidates(o));
  else if (o.sample)
    candidates = o.sampling.top_k > 0 ? static_cast<double>(o.sampling.top_k) : vocabulary;
  // A candidate has its score and id, a NextToken, and a place among the sorted candidates of all rows. Measured peaks
  // are a little below this.
  constexpr double kCandidate = sizeof(float) + sizeof(std::int32_t) + 4 * sizeof(NextToken);
  constexpr double kLogits = 2 * sizeof(float);  // and a copy
  const SequenceBytes sequence = model.sequence_bytes();
  auto tokens = static_cast<double>(request.tokens());
  if (const std::int64_t positions = model.max_positions(); positions > 0)
    tokens = std::min(tokens, rows * static_cast<double>(positions) + static_cast<double>(request.input.source.size()));
  return rows * (static_cast<double>(sequence.each) + kLogits * vocabulary +
                 kCandidate * std::min(candidates, vocabulary)) +
         tokens * (static_cast<double>(sequence.token) + 2 * sizeof(std::int32_t));
}

std::string gigabytes(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

/// Throws when a request does not fit into memory, and says how many hypotheses would.
void check_memory(const GenerativeModel& model, const EngineRequest& request, double available) {
  const auto bytes_with = [&](std::int64_t hypotheses) {
    SearchOptions fewer = *request.options;
    fewer.beam = std::min(fewer.beam, hypotheses), fewer.nbest = std::min(fewer.nbest, hypotheses);
    return estimated_bytes(model, {std::make_shared<const SearchOptions>(std::move(fewer)), request.input});
  };
  const double needed = estimated_bytes(model, request);
  if (needed <= available || request.rows() == 1) return;
  std::int64_t fits = 1, too_many = request.rows();
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (bytes_with(middle) <= available ? fits : too_many) = middle;
  }
  const bool beam = request.options->beam > 1;
  fail<InputError>("search", beam ? "a beam" : "a number of samples", " of ", grouped(request.rows()),
                   " does not fit into memory: it takes about ", gigabytes(needed), ", and ", gigabytes(available),
                   " are available; at most ", grouped(fits), beam ? " hypotheses fit" : " samples fit");
}

/// Throws when no text of the grammar is sure to end within the tokens that may be generated.
void check_room_of_grammar(const EngineRequest& request) {
  const SearchOptions& o = *request.options;
  if (!o.rules.grammar) return;
  const std::int64_t prompt =
      std::max<std::int64_t>(std::ssize(request.input.prompt), 1) + std::ssize(request.input.prefix);
  const std::int64_t told = request.input.max_new_tokens > 0 ? request.input.max_new_tokens : o.max_new_tokens;
  const std::int64_t most = told > 0 ? told : o.max_length - prompt, shortest = o.rules.grammar->shortest();
  if (shortest > most)
    fail<InputError>("search", "the shortest text that conforms to the grammar has ", grouped(shortest),
                     " tokens, with the end token: got a limit of ", grouped(most), " new tokens");
}

}  // namespace

std::vector<EngineRequest> make_requests(const GenerativeModel& model, SearchOptions options,
                                         std::vector<SearchInput> inputs) {
  check(options);
  check_tokens(options, model.vocabulary());
  const auto shared = std::make_shared<const SearchOptions>(std::move(options));
  const auto available = static_cast<double>(available_bytes());
  std::vector<EngineRequest> requests;
  for (SearchInput& input : inputs) {
    EngineRequest& request = requests.emplace_back(EngineRequest{shared, std::move(input)});
    check_room_of_grammar(request);
    if (available > 0) check_memory(model, request, available);
    request.bytes = static_cast<std::int64_t>(std::min(estimated_bytes(model, request), 0x1p60));
  }
  return requests;
}

struct Engine::Sequence {
  Ticket ticket;
  EngineRequest request;
  EngineListener listener;
  std::optional<SequenceSearch> search = {};
  bool begun = false;  // its prompt or source has been read
};

Engine::Engine(std::shared_ptr<const GenerativeModel> model, const Limits& limits, std::function<void()> verify,
               std::optional<PrefixCache> prefixes)
    : model_(std::move(model)),
      limits_(limits),
      verify_(std::move(verify)),
      prefixes_(std::move(prefixes)),
      memory_(available_bytes()) {}
Engine::~Engine() = default;

/// The model's input for each hypothesis: its last tokens, as many as the model has positions for.
std::vector<GenerationInput> Engine::inputs_of(const Sequence& one) {
  const std::int64_t positions = model_->max_positions(), most = one.begun ? positions - positions / 4 : positions;
  std::vector<GenerationInput> all;
  for (std::size_t row = 0; row < one.search->rows(); ++row) {
    const std::span<const std::int32_t> tokens = one.search->tokens(row);
    const std::int64_t count = positions > 0 ? std::min(std::ssize(tokens), most) : std::ssize(tokens);
    all.push_back({.source = one.request.input.source,
                   .prompt = tokens.last(static_cast<std::size_t>(count)),
                   .prefixes = prefixes_ && !one.begun ? &*prefixes_ : nullptr});
  }
  return all;
}

std::int64_t Engine::sum(std::int64_t (*of)(const EngineRequest&)) const {
  std::int64_t sum = 0;
  for (const Group* group : {&waiting_, &running_})
    for (const auto& one : *group) sum += of(one->request);
  return sum;
}

std::int64_t Engine::rows() const {
  return sum([](const EngineRequest& request) { return request.rows(); });
}
std::int64_t Engine::tokens() const {
  return sum([](const EngineRequest& request) { return request.tokens(); });
}
std::int64_t Engine::source_tokens() const {
  return sum([](const EngineRequest& request) { return std::int64_t{std::ssize(request.input.source)}; });
}

bool Engine::has_room(const EngineRequest& request) const {
  if (waiting_.empty() && running_.empty()) return true;
  const auto fits = [](std::int64_t now, std::int64_t more, std::int64_t most) {
    return most == 0 || now + more <= most;
  };
  return fits(rows(), request.rows(), limits_.rows) && fits(tokens(), request.tokens(), limits_.tokens) &&
         fits(source_tokens(), std::ssize(request.input.source), limits_.source_tokens) &&
         fits(sum([](const EngineRequest& one) { return one.bytes; }) + (prefixes_ ? prefixes_->bytes() : 0),
              request.bytes, memory_);
}

Engine::Ticket Engine::join(EngineRequest request, EngineListener listener) {
  auto one = std::make_unique<Sequence>(Sequence{++last_ticket_, std::move(request), std::move(listener)});
  one->search.emplace(one->request.input, *one->request.options, one->listener.callbacks);
  waiting_.push_back(std::move(one));
  return last_ticket_;
}

void Engine::drop(Ticket ticket) {
  const auto is_it = [ticket](const auto& one) { return one->ticket == ticket; };
  std::erase_if(waiting_, is_it);
  std::vector<std::int64_t> kept;
  std::int64_t row = 0;
  for (const auto& one : running_)
    for (std::size_t i = 0; i < one->search->rows(); ++i, ++row)
      if (!is_it(one)) kept.push_back(row);
  std::erase_if(running_, is_it);
  select(kept);
}

void Engine::clear() { waiting_.clear(), running_.clear(), state_.reset(); }

/// Does nothing when each row continues itself, as in most steps.
void Engine::select(std::span<const std::int64_t> rows) {
  if (!state_) return;
  bool all = std::ssize(rows) == state_->rows();
  for (std::size_t i = 0; all && i < rows.size(); ++i) all = rows[i] == static_cast<std::int64_t>(i);
  if (rows.empty())
    state_.reset();
  else if (!all)
    state_->select(rows);
}

bool Engine::step() {
  check_stop();
  if (prefixes_) prefixes_->trim();
  read_some();
  slide();
  if (!running_.empty()) advance();
  return !waiting_.empty() || !running_.empty();
}

/// Sequences that fill the model's positions go back to waiting_, to be read again without their beginning.
void Engine::slide() {
  const std::int64_t positions = model_->max_positions();
  if (positions == 0 || !state_) return;
  std::vector<std::int64_t> kept;
  Group full, others;
  std::int64_t row = 0;
  for (auto& one : running_) {
    const auto rows = static_cast<std::int64_t>(one->search->rows());
    bool is_full = false;
    for (std::int64_t i = row; one->request.slide && i < row + rows; ++i) is_full |= state_->length(i) >= positions;
    for (std::int64_t i = row; !is_full && i < row + rows; ++i) kept.push_back(i);
    (is_full ? full : others).push_back(std::move(one));
    row += rows;
  }
  running_ = std::move(others);
  if (full.empty()) return;
  select(kept);
  waiting_.insert(waiting_.begin(), std::move_iterator(full.begin()), std::move_iterator(full.end()));
}

void Engine::read_some() {
  for (std::int64_t tokens = 0; !waiting_.empty() && tokens < limits_.read_tokens;) read(next_to_read(tokens));
}

/// Takes the first waiting sequences, as many as should be read together. Adds the number of their tokens to `tokens`.
Engine::Group Engine::next_to_read(std::int64_t& tokens) {
  constexpr std::int64_t kKept = 4096;  // tokens of long prompts, whose keys and values are copied once more to join
  std::int64_t sum = 0, longest = 0, rows = 0, kept = 0;
  std::size_t taken = 0;
  bool is_long = false;
  for (; taken < waiting_.size(); ++taken) {
    std::int64_t unread = 0, source = 0;
    bool this_is_long = true;
    const std::vector<GenerationInput> inputs = inputs_of(*waiting_[taken]);
    for (const GenerationInput& input : inputs) {
      unread += model_->unread(input), source = std::ssize(input.source), kept += std::ssize(input.prompt);
      this_is_long &= std::ssize(input.prompt) > kernels::kFewRows;
    }
    if (taken == 0) is_long = this_is_long;
    // Sources are padded to the longest one. Prompts are packed so that each gives the same bits as alone: short ones
    // with at most kFewRows tokens together, or long ones (see CausalLm::start), as many as suit row_blocks.
    const bool padded = source > 0;
    longest = std::max(longest, source);
    const std::int64_t all = padded ? longest * static_cast<std::int64_t>(taken + 1) : sum + unread;
    const std::int64_t most = padded ? limits_.read_tokens : is_long ? kernels::kMostInRowBlocks : kernels::kFewRows;
    rows += std::ssize(inputs);
    if (taken > 0 && (all > most || is_long != this_is_long || (is_long && (rows > kernels::kFewRows || kept > kKept))))
      break;
    sum = all;
  }
  tokens += sum;
  Group group(std::move_iterator(waiting_.begin()),
              std::move_iterator(waiting_.begin() + static_cast<std::ptrdiff_t>(taken)));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken));
  return group;
}

void Engine::read(Group group) {
  std::vector<GenerationInput> inputs;
  for (const auto& one : group) {
    const std::vector<GenerationInput> own = inputs_of(*one);
    inputs.insert(inputs.end(), own.begin(), own.end());
  }
  StartedGeneration started = model_->start(inputs);
  std::size_t row = 0;
  for (const auto& one : group) {
    if (!one->begun && one->listener.read) one->listener.read(started.reused.empty() ? 0 : started.reused[row]);
    one->begun = true;
    row += one->search->rows();
  }
  const std::vector<std::int64_t> kept = extend(group, started.logits);
  if (kept.empty()) return;
  started.state->select(kept);
  if (state_)
    state_->join(std::move(*started.state));
  else
    state_ = std::move(started.state);
  std::ranges::move(group, std::back_inserter(running_));
}

void Engine::advance() {
  std::vector<std::int32_t> last;
  for (const auto& one : running_)
    for (std::size_t row = 0; row < one->search->rows(); ++row) last.push_back(one->search->tokens(row).back());
  select(extend(running_, model_->step(Tensor::ids(last, {std::ssize(last)}), *state_)));
}

/// Extends each sequence by a token; finished sequences leave the group. Returns, for each row, the row before the step
/// that it continues.
std::vector<std::int64_t> Engine::extend(Group& group, const Tensor& logits) {
  struct Run {  // neighbouring sequences with the same options
    std::size_t first, last;
    std::int64_t row;
  };
  std::vector<Run> runs;
  std::vector<std::size_t> first_row;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i == 0 || group[i]->request.options != group[i - 1]->request.options)
      runs.push_back({i, i, static_cast<std::int64_t>(rows)});
    runs.back().last = i + 1;
    first_row.push_back(rows);
    rows += group[i]->search->rows();
  }
  std::vector<std::vector<NextToken>> next(rows);
  parallel_tasks(std::ssize(runs), [&](std::int64_t r) {
    const Run& run = runs[static_cast<std::size_t>(r)];
    const SequenceSearch& any = *group[run.first]->search;
    std::vector<LogitsContext> contexts;
    std::int64_t candidates = 0;
    for (std::size_t i = run.first; i < run.last; ++i) {
      const SequenceSearch& search = *group[i]->search;
      for (std::size_t row = 0; row < search.rows(); ++row) contexts.push_back(search.context(row));
      candidates = std::max(candidates, search.candidates(logits.dim(1)));
    }
    const SearchOptions& options = *group[run.first]->request.options;
    std::ranges::move(best_tokens(logits.view_rows(run.row, run.row + std::ssize(contexts)), contexts, options.rules,
                                  options.ends, candidates, any.score_kind()),
                      next.begin() + run.row);
  });

  if (verify_) verify_();
  std::vector<std::int64_t> kept;
  Group open, done;
  for (std::size_t i = 0; i < group.size(); ++i) {
    SequenceSearch& search = *group[i]->search;
    search.extend(std::span(next).subspan(first_row[i], search.rows()));
    for (std::size_t row = 0; row < search.rows(); ++row)
      kept.push_back(static_cast<std::int64_t>(first_row[i] + search.origin(row)));
    (search.rows() > 0 ? open : done).push_back(std::move(group[i]));
  }
  group = std::move(open);
  for (const auto& one : done)
    if (one->listener.done) one->listener.done(one->search->take_results());
  return kept;
}

std::vector<std::vector<Hypothesis>> search(const GenerativeModel& model, std::vector<SearchInput> inputs,
                                            const SearchOptions& options) {
  std::vector<std::vector<Hypothesis>> found(inputs.size());
  std::vector<EngineRequest> requests = make_requests(model, options, std::move(inputs));
  const std::shared_ptr<const GenerativeModel> borrowed(std::shared_ptr<void>(), &model);
  Engine engine(borrowed, {.rows = 0, .read_tokens = std::numeric_limits<std::int64_t>::max()});
  for (std::size_t i = 0; i < requests.size(); ++i)
    engine.join(std::move(requests[i]),
                {.done = [&found, i](std::vector<Hypothesis>&& hypotheses) { found[i] = std::move(hypotheses); }});
  while (engine.step()) continue;
  return found;
}

}  // namespace attend
