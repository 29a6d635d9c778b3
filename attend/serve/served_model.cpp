#include "attend/serve/served_model.h"

#include <algorithm>
#include <array>

#include "attend/core/file.h"
#include "attend/models/bert.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/text_classifier.h"
#include "attend/serve/api_error.h"
#include "attend/tasks/language_model/chat.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

/// Bytes of texts in one call of a model: some thousand tokens. A larger request takes several calls, and others run
/// between them.
constexpr std::size_t kBytesAtOnce = 5000;
/// Sequences of one request that join the engine before those of others.
constexpr int kSequencesInTurn = 16;
/// As kLongText, for all texts of a translation, which are tokenised together.
constexpr std::size_t kLongTranslation = 64 << 10;

using Texts = std::vector<std::string>;

std::size_t bytes_of(std::span<const std::string> texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

/// Bytes of the options that are tokenised with the texts: the prefix of each, and each bad word with and without a
/// space before it.
std::size_t option_bytes(const GenerationOptions& options, std::size_t texts) {
  return texts * options.prefix.value_or("").size() + 2 * bytes_of(options.bad_words.value_or(Texts()));
}

/// A function that keeps the memory of its request reserved as long as it lives, also if nobody waits for it any more.
template <typename F>
auto holding(const Patience& patience, F run) {
  return [memory = patience.memory, run = std::move(run)](const auto&... arguments) { return run(arguments...); };
}

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
  for (const std::string& text : {name, fs::weakly_canonical(folder).filename().string()}) {
    const std::size_t last = text.rfind('-');
    if (last == std::string::npos || last == 0) continue;
    const std::size_t before = text.rfind('-', last - 1) + 1;  // 0 where there is none
    const std::string source = text.substr(before, last - before), target = text.substr(last + 1);
    if (is_code(source) && is_code(target)) return {source, target};
  }
  return {};
}

/// Whether a sentence may end at this byte.
bool ends_sentence(char c) { return c == '\n' || c == '.' || c == '!' || c == '?' || c == '\xe3'; }

/// Estimate of the memory that a translation needs: its tokens, and what is kept for each sentence.
double translation_bytes(std::span<const std::string> texts, const TranslateOptions& options) {
  double bytes = static_cast<double>(option_bytes(options.search, texts.size())), sentences = 0, weights = 0;
  for (const std::string& text : texts) {
    bytes += static_cast<double>(text.size());
    sentences += 1 + static_cast<double>(std::ranges::count_if(text, ends_sentence));
    weights += static_cast<double>(text.size()) * static_cast<double>(text.size()) / 4;
  }
  const auto hypotheses = static_cast<double>(options.search.nbest.value_or(1));
  constexpr double kSentence = 1200, kHypothesis = 300;
  // A weight is kept as a number, and is some digits in the answer. Larger matrices than this are refused.
  constexpr double kWeight = 40, kMostWeights = 64 << 20;
  return kBytesToTokenize * bytes + sentences * (kSentence + hypotheses * kHypothesis) +
         (options.attention ? kWeight * std::min(weights, kMostWeights) : 0);
}

/// Estimate of the memory that summaries need: tokens, sentences, the parts of long texts, each with the prefix, and
/// the attention weights of the parts.
double summary_bytes(const Summarizer& summarizer, std::span<const std::string> texts, const SummarizeOptions& options,
                     std::int64_t heads) {
  constexpr double kToken = 2, kSentence = 1200, kPart = 1500;  // bytes of a token: that many or more
  const auto prefix = static_cast<double>(summarizer.prefix_of(options).size());
  const auto limit = static_cast<double>(summarizer.limit_of(options));
  const auto longest = static_cast<double>(summarizer.max_tokens_of(options));
  double bytes = 0;
  for (const std::string& text : texts) {
    const auto size = static_cast<double>(text.size());
    const double sentences = 1 + static_cast<double>(std::ranges::count_if(text, ends_sentence));
    const double tokens = (size + prefix) / kToken + 8;
    const double read = limit > 0 ? std::min(tokens, limit) : tokens;  // at once
    const double room = limit > 0 ? std::max(limit - prefix / kToken, 1.0) : tokens;
    const double parts = summarizer.long_text_of(options) == LongText::split ? 1 + size / kToken / room : 1;
    bytes += kBytesToTokenize * (size + parts * prefix) + sentences * kSentence + parts * kPart;
    if (options.sources)  // the weights of the whole text, and those of the encoder while a part is read
      bytes += sizeof(float) * (tokens * longest + static_cast<double>(heads) * read * read);
  }
  return bytes + static_cast<double>(option_bytes(options.search, 1)) * kBytesToTokenize;
}

}  // namespace

ServedModel::ServedModel(std::string model_name, const fs::path& model_folder, const ModelFolder& opened,
                         const ModelLimits& limits, std::function<void()> wake, std::optional<PrefixCache> prefixes)
    : name(std::move(model_name)),
      folder(model_folder),
      adapter(opened.adapter_path()),
      limits_(limits),
      wake_(std::move(wake)),
      embeddings_(kBytesAtOnce),
      classifications_(kBytesAtOnce),
      filled_(kBytesAtOnce),
      others_(1) {
  open(opened, std::move(prefixes));
}

void ServedModel::open(const ModelFolder& opened, std::optional<PrefixCache> prefixes) {
  kind = opened.family().type;
  if (opened.can(Ability::compute))
    fail<InputError>("serve", folder.string(), ": is ", name_of(Ability::compute),
                     ", which reads vectors and not text; use attend run-algorithm");
  tokenizer = opened.tokenizer();
  if (opened.can(Ability::generate)) {
    language_model.emplace(opened);
    try {
      chat_template = chat_template_of(opened);
    } catch (const InputError& error) {
      template_problem = error.what();
    }
    if (chat_template) end_of_reply = attend::end_of_reply(*chat_template, *tokenizer);
    const CausalLmOptions& o = language_model->network().options;
    layers = o.layers, heads = o.heads, context = o.positions;
    attention.emplace(*language_model);
    engine_limits_ = {.rows = limits_.batch_rows, .tokens = limits_.batch_tokens};
    engine_ = std::make_unique<Engine>(
        language_model->generator(), engine_limits_, [this] { check_files(); }, std::move(prefixes));
  }
  if (opened.can(Ability::translate)) {
    translator.emplace(opened);
    summarizer.emplace(opened);
    // With the model's own beam, a text counts as one row.
    engine_limits_ = {.rows = limits_.batch_rows * translator->generation().search.beam,
                      .tokens = limits_.batch_tokens};
    engine_ = std::make_unique<Engine>(translator->generator(), engine_limits_, [this] { check_files(); });
    const auto network = opened.model<Seq2SeqModel>("serve", Ability::translate);
    const Seq2SeqSpec spec = network->spec();
    if (spec.encoder.layers + spec.decoder.layers + spec.cross.layers > 0) attention.emplace(*translator);
    layers = std::max<std::int64_t>(spec.cross.layers, 1), heads = std::max<std::int64_t>(spec.cross.heads, 1);
    if (network->max_positions() > 0) context = network->max_positions();
    if (translator->languages().empty()) {
      auto [source, target] = languages_of(folder, name);
      source_language = std::move(source), target_language = std::move(target);
    }
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
    const auto network = std::dynamic_pointer_cast<const TextClassifier>(opened.model());
    if (!network || network->attends()) attention.emplace(*classifier);
  }
  if (opened.can(Ability::stories)) stories.emplace(opened);
  // A memory network, whose hops are one map, or BiDAF.
  if ((stories && stories->hops() > 0) || (opened.can(Ability::answer) && !attention)) {
    attention.emplace(opened);
    layers = heads = 1;
  }
}

std::vector<std::string> ServedModel::capabilities() const {
  std::vector<std::string> all;
  if (language_model) all.emplace_back("generate");
  if (language_model && template_problem.empty()) all.emplace_back("chat");
  if (translator) all.insert(all.end(), {"translate", "summarize"});
  if (encoder) all.emplace_back("embed");
  if (classifier) all.emplace_back("classify");
  if (mask_filler) all.emplace_back("fill-mask");
  if (stories) all.emplace_back("answer");
  if (attention) all.emplace_back("attention");
  if (attention && attention->takes_pairs()) all.emplace_back("pairs");
  if (tokenizer) all.emplace_back("tokenize");
  return all;
}

bool ServedModel::can(const std::string& capability) const {
  const std::vector<std::string> all = capabilities();
  return std::ranges::find(all, capability) != all.end();
}

void ServedModel::check_files() const {
  const auto changed = [&](const std::string& why) {
    return ApiError(503, "model_changed", "the model \"" + name + "\" cannot answer any more: " + why);
  };
  if (changed_) throw changed("its files were changed while they were in use; start the server again");
  try {
    check_mapped_files(folder);
    if (!adapter.empty()) check_mapped_files(adapter);
  } catch (const Error& error) {
    changed_ = true;
    throw changed(error.what());
  }
}

std::vector<std::int32_t> ServedModel::ids(std::string text, const Patience& patience, bool special_tokens) {
  check_files();
  const bool is_long = text.size() > kLongText;
  if (is_long) patience.reserve(kBytesToTokenize * static_cast<double>(text.size()));
  auto run = [this, text = std::move(text), special_tokens] { return tokenizer->ids(text, special_tokens); };
  return is_long ? long_work_.ask(holding(patience, std::move(run)), patience)
                 : tokenizer_thread_.ask(std::move(run), patience);
}

/// Refuses a request if the model is broken, or if too many wait.
void ServedModel::accept() const {
  check_files();
  const std::size_t waiting = load().waiting;
  if (waiting == 0 || waiting < limits_.queue) return;
  ApiError error(429, "queue_full",
                 "too many requests wait for " + name + ": " + std::to_string(waiting) + ", at most " +
                     std::to_string(limits_.queue));
  error.retry_after = 1;
  throw error;
}

/// Queues the sequences of one request for the engine.
void ServedModel::submit(Waiting waiting) {
  if (waiting.requests.empty()) return;
  for (const EngineRequest& one : waiting.requests)
    if (one.rows() > engine_limits_.rows || (engine_limits_.tokens > 0 && one.tokens() > engine_limits_.tokens))
      throw ApiError(400, "input_too_long",
                     "the request is larger than the server's batch: got " + std::to_string(one.rows()) +
                         " sequences with " + std::to_string(one.tokens()) + " tokens, expected at most " +
                         std::to_string(engine_limits_.rows) + " and " + std::to_string(engine_limits_.tokens));
  if (!waiting.goes_on) accept();
  for (const EngineRequest& one : waiting.requests) prompt_tokens += one.input.prompt.size() + one.input.source.size();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }
  wake_();
}

/// Removes what still waits of a request. A large one takes a while to be freed, so the model thread should not do it.
void ServedModel::withdraw(const Client* client) {
  std::vector<Waiting> removed;
  const std::lock_guard lock(mutex_);
  for (Waiting& one : waiting_)
    if (one.client.get() == client) removed.push_back(std::move(one));
  std::erase_if(waiting_, [](const Waiting& one) { return !one.client; });
}

std::shared_ptr<EventStream> ServedModel::generate(std::vector<GenerationTask> tasks,
                                                   std::optional<std::int64_t> alternatives) {
  auto events = std::make_shared<EventStream>();
  Waiting waiting{std::make_shared<const Client>(Client{[events] { return events->abandoned.load(); },
                                                        [events](std::exception_ptr error) { events->fail(error); }})};
  const auto listeners = std::make_shared<std::vector<EngineListener>>();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EngineListener& one = listeners->emplace_back(tasks[i].decode_for(listener(events, i, alternatives)));
    one.read = [this, then = std::move(one.read)](std::int64_t reused) {
      reused_tokens += static_cast<std::uint64_t>(reused);
      then(reused);
    };
    waiting.requests.push_back(std::move(tasks[i].request));
  }
  waiting.listener = [listeners](std::size_t i) { return std::move((*listeners)[i]); };
  submit(std::move(waiting));
  return events;
}

std::vector<std::vector<Translation>> ServedModel::translate(std::vector<std::string> texts,
                                                             const TranslateOptions& options,
                                                             const Patience& patience) {
  patience.reserve(translation_bytes(texts, options));
  return run_translation(std::move(texts), options, patience);
}

std::vector<std::vector<Translation>> ServedModel::run_translation(std::vector<std::string> texts,
                                                                   const TranslateOptions& options,
                                                                   const Patience& patience, bool goes_on) {
  using Results = std::vector<std::vector<Translation>>;
  struct Order {
    std::vector<std::string> texts;
    bool is_long;
    std::mutex mutex = {};
    std::optional<TranslationJob> job = {};  // guarded by the mutex until the promise has its value
    std::promise<Results> promise = {};
    std::atomic<bool> abandoned = false;
    bool failed = false;

    void fail(std::exception_ptr error) {
      abandoned = true;  // what still waits of it is not started
      if (!std::exchange(failed, true)) promise.set_exception(std::move(error));
    }
    void set(std::size_t request, std::vector<Hypothesis>&& hypotheses) try {
      const std::lock_guard lock(mutex);
      if (!job) return;
      job->set(request, std::move(hypotheses));
      if (job->complete()) promise.set_value(is_long ? Results() : job->finish());
    } catch (...) {
      fail(std::current_exception());
    }
    /// Frees the job, which takes a while if it is large.
    void drop() {
      std::optional<TranslationJob> dropped;
      const std::lock_guard lock(mutex);
      dropped.swap(job);
    }
  };
  check_files();
  const std::size_t bytes = bytes_of(texts) + option_bytes(options.search, texts.size());
  const bool is_long = bytes > kLongTranslation || (options.attention && bytes > kLongToAttend);
  const std::shared_ptr<Order> order(new Order{std::move(texts), is_long});
  auto prepare = holding(patience, [this, order, options] {
    order->job.emplace(*translator, order->texts, options);
    return order->job->take_requests();
  });
  Waiting waiting;
  waiting.requests = order->is_long ? long_work_.ask(std::move(prepare), patience)
                                    : tokenizer_thread_.ask(std::move(prepare), patience);
  if (waiting.requests.empty()) return order->job->finish();  // all texts are blank
  const auto client = std::make_shared<const Client>(
      Client{[order] { return order->abandoned.load(); }, [order](std::exception_ptr error) { order->fail(error); }});
  waiting.client = client, waiting.goes_on = goes_on;
  waiting.listener = [this, order](std::size_t i) {
    EngineListener listener;
    listener.done = [this, order, i](std::vector<Hypothesis>&& found) {
      for (const Hypothesis& one : found) generated_tokens += one.ids.size();
      order->set(i, std::move(found));
    };
    return listener;
  };
  std::future<Results> results = order->promise.get_future();
  submit(std::move(waiting));
  try {
    Results finished = wait_for(results, order->abandoned, patience);
    if (order->is_long)
      finished = long_work_.ask(holding(patience, [order] { return order->job->finish(); }), patience);
    check_files();
    return finished;
  } catch (...) {
    withdraw(client.get());
    if (results.valid()) order->drop();  // otherwise long work may still use it
    throw;
  }
}

/// In rounds: the parts of all texts are translated, then their summaries, until one is left of each.
std::vector<Summary> ServedModel::summarize(std::vector<std::string> texts, const SummarizeOptions& options,
                                            const Patience& patience) {
  struct Order {
    std::vector<std::string> texts;
    std::optional<SummaryJob> job = {};
  };
  check_files();
  patience.reserve(summary_bytes(*summarizer, texts, options, heads));
  const bool is_long =
      bytes_of(texts) + texts.size() * summarizer->prefix_of(options).size() + option_bytes(options.search, 1) >
      kLongTranslation;
  const auto order = std::make_shared<Order>(Order{std::move(texts)});
  const auto beside = [&](auto run) {
    return is_long ? long_work_.ask(holding(patience, std::move(run)), patience)
                   : tokenizer_thread_.ask(holding(patience, std::move(run)), patience);
  };
  Texts sources = beside([this, order, options] {
    order->job.emplace(*summarizer, order->texts, options);
    return order->job->next_sources();
  });
  for (bool goes_on = false; !sources.empty(); goes_on = true) {
    auto found = std::make_shared<const std::vector<std::vector<Translation>>>(
        run_translation(std::move(sources), order->job->options(), patience, goes_on));
    sources = beside([order, found = std::move(found)] {
      order->job->set(*found);
      return order->job->next_sources();
    });
  }
  return order->job->finish();
}

template <typename Result>
std::vector<Result> ServedModel::run_batched(Batcher<Result>& batcher, std::string key, std::vector<std::string> texts,
                                             typename Batcher<Result>::Run run, const Patience& patience,
                                             std::size_t added) {
  patience.reserve(kBytesToTokenize * static_cast<double>(bytes_of(texts) + added * texts.size()));
  run = holding(patience, std::move(run));
  if (std::ranges::any_of(texts, [&](const std::string& text) { return text.size() + added > kLongText; })) {
    check_files();
    std::vector<Result> results =
        long_work_.ask([run = std::move(run), texts = std::move(texts)] { return run(texts); }, patience);
    check_files();
    return results;
  }
  accept();
  using Job = typename Batcher<Result>::Job;
  const std::shared_ptr<Job> job(new Job{std::move(key), std::move(texts), std::move(run), added});
  std::future<std::vector<Result>> future = job->promise.get_future();
  batcher.submit(job);
  wake_();
  std::vector<Result> results = wait_for(future, job->abandoned, patience);
  check_files();
  return results;
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
  return run_batched<Embedded>(embeddings_, key, std::move(texts), run, patience, options.prompt.value_or("").size());
}

std::vector<Classification> ServedModel::classify(std::vector<std::string> texts, const ClassifyOptions& options,
                                                  const std::string& key, const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) { return (*classifier)(all, options); };
  return run_batched<Classification>(classifications_, key, std::move(texts), run, patience);
}

std::vector<FilledText> ServedModel::fill(std::vector<std::string> texts, const FillOptions& options,
                                          const std::string& key, const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) { return (*mask_filler)(all, options); };
  return run_batched<FilledText>(filled_, key, std::move(texts), run, patience);
}

std::string ServedModel::ask(std::function<std::string()> run, const Patience& patience, bool is_long) {
  if (is_long) {
    check_files();
    std::string answer = long_work_.ask(holding(patience, std::move(run)), patience);
    check_files();
    return answer;
  }
  const auto once = [run = std::move(run)](std::span<const std::string>) { return std::vector<std::string>{run()}; };
  return run_batched<std::string>(others_, "", {""}, once, patience).front();
}

bool ServedModel::work() {
  bool worked = engine_ && generate_some();
  worked |= embeddings_.work();
  worked |= classifications_.work();
  worked |= filled_.work();
  worked |= others_.work();
  return worked;
}

/// Lets requests join the engine in the order of their arrival, as long as there is room. A request with many sequences
/// lets others join in between.
void ServedModel::admit() {
  std::vector<Waiting> done;  // freed after the lock
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const Waiting& one) { return one.client->gone(); });
  for (int turn = 0; !waiting_.empty();) {
    Waiting& first = waiting_.front();
    if (!engine_->has_room(first.requests[first.joined])) break;
    const std::size_t i = first.joined++;
    const std::shared_ptr<const Client> client = first.client;
    EngineListener listener = first.listener(i);
    EngineRequest request = std::move(first.requests[i]);
    if (first.joined == first.requests.size()) {
      done.push_back(std::move(first));
      waiting_.pop_front(), turn = 0;
    } else if (++turn == kSequencesInTurn) {
      std::rotate(waiting_.begin(), waiting_.begin() + 1, waiting_.end()), turn = 0;
    }
    join(std::move(request), std::move(listener), client);
  }
}

void ServedModel::join(EngineRequest request, EngineListener listener, const std::shared_ptr<const Client>& client) {
  const auto done = std::make_shared<bool>(false);
  listener.done = [done, then = std::move(listener.done)](std::vector<Hypothesis>&& hypotheses) {
    *done = true;
    then(std::move(hypotheses));
  };
  running_.push_back({0, client, done});
  running_.back().ticket = engine_->join(std::move(request), std::move(listener));
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
    // Not only the sequences in the engine: one that was about to join is among them.
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
