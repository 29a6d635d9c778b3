#include "attend/serve/served_model.h"

#include <algorithm>
#include <array>

#include "attend/models/bert.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/recurrent_translator.h"
#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

/// Bytes of texts in one call of a model: some thousand tokens. A larger request takes several calls, and others run
/// between them.
constexpr std::size_t kBytesAtOnce = 5000;
/// Entries of one request that join the engine before those of others.
constexpr int kEntriesInTurn = 16;

/// The languages of a translator: from its tokenizer's configuration, or from how such folders are named:
/// opus-mt-it-en.
std::array<std::optional<std::string>, 2> languages_of(const fs::path& folder, const std::string& name) {
  const auto is_code = [](const std::string& text) {
    return (text.size() == 2 || text.size() == 3) &&
           std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
  };
  if (fs::exists(folder / "tokenizer_config.json")) {
    const Config config(folder / "tokenizer_config.json");
    if (config.has("source_lang") && config.has("target_lang"))
      return {config.text("source_lang"), config.text("target_lang")};
  }
  for (std::string text : {name, fs::weakly_canonical(folder).filename().string()}) {
    const std::size_t last = text.rfind('-');
    if (last == std::string::npos || last == 0) continue;
    const std::size_t before = text.rfind('-', last - 1) + 1;  // 0 where there is none
    const std::string source = text.substr(before, last - before), target = text.substr(last + 1);
    if (is_code(source) && is_code(target)) return {source, target};
  }
  return {};
}

}  // namespace

ServedModel::ServedModel(std::string model_name, const fs::path& model_folder, const ModelLimits& limits,
                         std::function<void()> wake)
    : name(std::move(model_name)),
      folder(model_folder),
      limits_(limits),
      wake_(std::move(wake)),
      embeddings_(kBytesAtOnce),
      classifications_(kBytesAtOnce),
      filled_(kBytesAtOnce),
      others_(1) {
  open();
}

void ServedModel::open() {
  if (!fs::is_directory(folder)) fail<InputError>("serve", "model ", name, ": there is no folder ", folder.string());
  const ModelFolder opened(transformer_in(folder));
  kind = opened.family().type;
  tokenizer = opened.tokenizer();
  if (opened.can(Ability::generate)) {
    language_model.emplace(opened);
    const Gpt2Options& o = language_model->network().options;
    layers = o.layers, heads = o.heads, context = o.positions;
    attention.emplace(*language_model);
    engine_limits_ = {.rows = limits_.batch_rows, .tokens = limits_.batch_tokens};
    engine_ = std::make_unique<Engine>(language_model->generator(), engine_limits_);
  }
  if (opened.can(Ability::translate)) {
    translator.emplace(opened);
    // With the model's own beam, a text counts as one row.
    engine_limits_ = {.rows = limits_.batch_rows * translator->generation().search.beam,
                      .tokens = limits_.batch_tokens};
    engine_ = std::make_unique<Engine>(translator->generator(), engine_limits_);
    const auto network = opened.model<Seq2SeqModel>("serve", Ability::translate);
    const Seq2SeqSpec spec = network->spec();
    if (spec.encoder.layers + spec.decoder.layers + spec.cross.layers > 0) attention.emplace(*translator);
    layers = std::max<std::int64_t>(spec.cross.layers, 1), heads = std::max<std::int64_t>(spec.cross.heads, 1);
    if (network->max_positions() > 0) context = network->max_positions();
    auto [source, target] = languages_of(folder, name);
    source_language = std::move(source), target_language = std::move(target);
  }
  if (opened.can(Ability::embed)) {
    const auto bert = opened.model<Bert>("serve", Ability::embed);
    layers = bert->options.layers, heads = bert->options.heads;
    encoder.emplace(folder, opened);
    context = encoder->max_tokens();
    attention.emplace(BertReader(opened, BertHead::none));
  }
  if (opened.can(Ability::fill_mask)) mask_filler.emplace(opened);
  if (opened.can(Ability::classify)) classifier.emplace(opened);
  if (classifier && !attention) {
    const auto recurrent = std::dynamic_pointer_cast<const RecurrentClassifier>(opened.model());
    if (!recurrent || recurrent->options.pooling == StatePooling::attention) attention.emplace(*classifier);
  }
}

std::vector<std::string> ServedModel::capabilities() const {
  std::vector<std::string> all;
  if (language_model) all.insert(all.end(), {"generate", "chat"});
  if (translator) all.emplace_back("translate");
  if (encoder) all.emplace_back("embed");
  if (classifier) all.emplace_back("classify");
  if (mask_filler) all.emplace_back("fill-mask");
  if (attention) all.emplace_back("attention");
  if (attention && encoder) all.emplace_back("pairs");  // only encoders read two texts at once
  if (tokenizer) all.emplace_back("tokenize");
  return all;
}

bool ServedModel::can(const std::string& capability) const {
  const std::vector<std::string> all = capabilities();
  return std::ranges::find(all, capability) != all.end();
}

Encoding ServedModel::encode(const std::string& text) {
  return tokenizer_thread_.ask([&] { return tokenizer->encode(text); });
}

std::vector<std::int32_t> ServedModel::ids(const std::string& text) {
  return tokenizer_thread_.ask([&] { return tokenizer->ids(text); });
}

void ServedModel::Patience::check() const {
  if (*stopped) throw shutting_down();
  if (hung_up && hung_up()) throw ApiError(499, "hung_up", "the client has hung up");
  if (std::chrono::steady_clock::now() >= deadline)
    throw ApiError(504, "timeout", "the request took longer than the server allows");
}

void ServedModel::refuse_when_full(std::size_t more) const {
  const std::size_t waiting = load().waiting;
  if (waiting == 0 || waiting + more <= limits_.queue) return;
  ApiError error(429, "queue_full",
                 "too many requests wait for " + name + ": " + std::to_string(waiting) + ", at most " +
                     std::to_string(limits_.queue));
  error.retry_after = 1;
  throw error;
}

/// Queues the sequences of one request for the engine.
void ServedModel::submit(const Client& client, std::vector<Entry> entries) {
  if (entries.empty()) return;
  for (const Entry& entry : entries)
    if (const EngineRequest& one = entry.request;
        one.rows() > engine_limits_.rows || (engine_limits_.tokens > 0 && one.tokens() > engine_limits_.tokens))
      throw ApiError(400, "input_too_long",
                     "the request is larger than the server's batch: got " + std::to_string(one.rows()) +
                         " sequences with " + std::to_string(one.tokens()) + " tokens, expected at most " +
                         std::to_string(engine_limits_.rows) + " and " + std::to_string(engine_limits_.tokens));
  refuse_when_full(1);
  for (const Entry& entry : entries)
    prompt_tokens += entry.request.input.prompt.size() + entry.request.input.source.size();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::make_shared<const Client>(client),
                        {std::move_iterator(entries.begin()), std::move_iterator(entries.end())}});
  }
  wake_();
}

std::shared_ptr<EventStream> ServedModel::generate(std::vector<GenerationTask> tasks,
                                                   std::optional<std::int64_t> alternatives) {
  auto events = std::make_shared<EventStream>();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EngineListener told = tasks[i].decode_for(listener(events, i, alternatives));
    entries.push_back({std::move(tasks[i].request), std::move(told)});
  }
  submit({[events] { return events->abandoned.load(); },
          [events](std::exception_ptr error) { events->push({.failed = std::move(error)}); }},
         std::move(entries));
  return events;
}

std::vector<std::vector<Translation>> ServedModel::translate(std::vector<std::string> texts,
                                                             const TranslateOptions& options,
                                                             const Patience& patience) {
  struct Order {
    std::vector<std::string> texts;
    std::optional<TranslationJob> job = {};
    std::promise<std::vector<std::vector<Translation>>> promise = {};
    std::atomic<bool> abandoned = false;
    bool failed = false;

    void fail(std::exception_ptr error) {
      abandoned = true;  // what still waits of it is not started
      if (!std::exchange(failed, true)) promise.set_exception(std::move(error));
    }
    void set(std::size_t request, std::vector<Hypothesis>&& hypotheses) try {
      job->set(request, std::move(hypotheses));
      if (job->complete()) promise.set_value(job->finish());
    } catch (...) {
      fail(std::current_exception());
    }
  };
  const std::shared_ptr<Order> order(new Order{std::move(texts)});
  std::vector<EngineRequest> requests = tokenizer_thread_.ask([&] {
    order->job.emplace(*translator, order->texts, options);
    return order->job->take_requests();
  });
  if (requests.empty()) return order->job->finish();  // all texts are blank
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EngineListener listener;
    listener.done = [this, order, i](std::vector<Hypothesis>&& found) {
      for (const Hypothesis& one : found) generated_tokens += one.ids.size();
      order->set(i, std::move(found));
    };
    entries.push_back({std::move(requests[i]), std::move(listener)});
  }
  std::future<std::vector<std::vector<Translation>>> results = order->promise.get_future();
  submit({[order] { return order->abandoned.load(); }, [order](std::exception_ptr error) { order->fail(error); }},
         std::move(entries));
  return wait_for_future(results, order->abandoned, patience);
}

/// Waits for a result until the deadline, or until the client is gone.
template <typename Result>
Result ServedModel::wait_for_future(std::future<Result>& result, std::atomic<bool>& abandoned,
                                    const Patience& patience) {
  while (result.wait_for(kPollInterval) != std::future_status::ready) try {
      patience.check();
    } catch (...) {
      abandoned = true;
      throw;
    }
  return result.get();
}

template <typename Result>
std::vector<Result> ServedModel::wait_for(Batcher<Result>& batcher, std::string key, std::vector<std::string> texts,
                                          typename Batcher<Result>::Run run, const Patience& patience) {
  refuse_when_full(1);
  using Job = typename Batcher<Result>::Job;
  const std::shared_ptr<Job> job(new Job{std::move(key), std::move(texts), std::move(run)});
  std::future<std::vector<Result>> results = job->promise.get_future();
  batcher.submit(job);
  wake_();
  return wait_for_future(results, job->abandoned, patience);
}

std::vector<Embedded> ServedModel::embed(std::vector<std::string> texts, const EmbedOptions& options,
                                         const std::string& key, const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) {
    const Embeddings found = encoder->embed(all, options);
    const std::int64_t size = found.vectors.dim(1);
    std::vector<Embedded> results;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float* first = found.vectors.data() + static_cast<std::int64_t>(i) * size;
      results.push_back({{first, first + size}, found.tokens[i], found.truncated[i]});
    }
    return results;
  };
  return wait_for<Embedded>(embeddings_, key, std::move(texts), run, patience);
}

std::vector<Classification> ServedModel::classify(std::vector<std::string> texts, const ClassifyOptions& options,
                                                  const std::string& key, const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) { return (*classifier)(all, options); };
  return wait_for<Classification>(classifications_, key, std::move(texts), run, patience);
}

std::vector<FilledText> ServedModel::fill(std::vector<std::string> texts, const FillOptions& options,
                                          const std::string& key, const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) { return (*mask_filler)(all, options); };
  return wait_for<FilledText>(filled_, key, std::move(texts), run, patience);
}

std::string ServedModel::ask(std::function<std::string()> run, const Patience& patience) {
  const auto once = [run = std::move(run)](std::span<const std::string>) { return std::vector<std::string>{run()}; };
  return wait_for<std::string>(others_, "", {""}, once, patience).front();
}

bool ServedModel::work() {
  bool worked = engine_ && generate_some();
  worked |= embeddings_.work();
  worked |= classifications_.work();
  worked |= filled_.work();
  worked |= others_.work();
  return worked;
}

/// Lets requests join the engine in the order of their arrival, as long as there is room. A request with many entries
/// lets others join in between.
void ServedModel::admit() {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const Waiting& one) { return one.client->gone(); });
  for (int turn = 0; !waiting_.empty() && engine_->has_room(waiting_.front().entries.front().request);) {
    Waiting& first = waiting_.front();
    join(std::move(first.entries.front()), first.client);
    first.entries.pop_front();
    if (first.entries.empty()) {
      waiting_.pop_front(), turn = 0;
    } else if (++turn == kEntriesInTurn) {
      std::rotate(waiting_.begin(), waiting_.begin() + 1, waiting_.end()), turn = 0;
    }
  }
}

void ServedModel::join(Entry entry, const std::shared_ptr<const Client>& client) {
  const auto done = std::make_shared<bool>(false);
  entry.listener.done = [done, then = std::move(entry.listener.done)](std::vector<Hypothesis>&& hypotheses) {
    *done = true;
    then(std::move(hypotheses));
  };
  running_.push_back({0, client, done});
  running_.back().ticket = engine_->join(std::move(entry.request), std::move(entry.listener));
}

GenerationListener ServedModel::listener(const std::shared_ptr<EventStream>& events, std::size_t prompt,
                                         std::optional<std::int64_t> alternatives) {
  GenerationListener told;
  told.alternatives = alternatives.value_or(0);
  if (alternatives)
    told.on_token = [events, prompt, most = static_cast<std::size_t>(*alternatives)](
                        std::size_t sample, const GeneratedToken* token, const std::string& text) {
      StreamEvent event{.prompt = prompt, .sample = sample, .text = text};
      if (token) {
        event.token = StreamEvent::Token{token->token.id, token->token.log_probability, {}};
        for (std::size_t i = 0; i < std::min(token->best.size(), most); ++i)
          event.token->best.emplace_back(token->best[i].id, token->best[i].log_probability);
      }
      events->push(std::move(event));
    };
  told.done = [this, events, prompt](std::vector<Generation>&& texts) {
    for (const Generation& text : texts) generated_tokens += text.ids.size();
    events->push({.prompt = prompt, .done = std::move(texts)});
  };
  return told;
}

bool ServedModel::generate_some() {
  try {
    for (const Running& one : running_)
      if (!*one.done && one.client->gone()) engine_->drop(one.ticket), *one.done = true;
    std::erase_if(running_, [](const Running& one) { return *one.done; });
    admit();
    rows_ = engine_->rows(), tokens_ = engine_->tokens();
    if (running_.empty()) return false;
    engine_->step();
    ++steps;
  } catch (...) {
    for (const Running& one : running_)
      if (!*one.done) one.client->fail(std::current_exception());
    running_.clear();
    engine_->clear();
  }
  return true;
}

ServedModel::Load ServedModel::load() const {
  Load load{embeddings_.waiting() + classifications_.waiting() + filled_.waiting() + others_.waiting(), rows_, tokens_};
  const std::lock_guard lock(mutex_);
  load.waiting += waiting_.size();
  return load;
}

}  // namespace attend::serve
