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

/// Bytes of texts in one call of a model, some thousand tokens. A request with more is answered in several, so that
/// others get their turn between.
constexpr std::size_t kBytesAtOnce = 5000, kBytesToTranslateAtOnce = 10000;

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
      translations_(kBytesToTranslateAtOnce),
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
    batch_ = std::make_unique<GenerationBatch>(
        *language_model, GenerationBatch::Limits{.rows = limits_.batch_rows, .tokens = limits_.batch_tokens});
  }
  if (opened.can(Ability::translate)) {
    translator.emplace(opened);
    attention.emplace(*translator);
    const auto network = opened.model<Seq2SeqModel>("serve", Ability::translate);
    const Seq2SeqSpec spec = network->spec();
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
  if (classifier && !attention) attention.emplace(*classifier);
}

std::vector<std::string> ServedModel::capabilities() const {
  std::vector<std::string> all;
  if (language_model) all.insert(all.end(), {"generate", "chat"});
  if (translator) all.emplace_back("translate");
  if (encoder) all.emplace_back("embed");
  if (classifier) all.emplace_back("classify");
  if (mask_filler) all.emplace_back("fill-mask");
  if (attention) all.emplace_back("attention");
  if (tokenizer) all.emplace_back("tokenize");
  return all;
}

bool ServedModel::can(const std::string& capability) const {
  const std::vector<std::string> all = capabilities();
  return std::ranges::find(all, capability) != all.end();
}

Encoding ServedModel::encode(const std::string& text) {
  return clerk_.ask([&] { return tokenizer->encode(text); });
}

std::vector<std::int32_t> ServedModel::ids(const std::string& text) {
  return clerk_.ask([&] { return tokenizer->ids(text); });
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

std::shared_ptr<Feed> ServedModel::generate(std::vector<GenerationTask> tasks,
                                            std::optional<std::int64_t> alternatives) {
  for (const GenerationTask& task : tasks)
    if (task.rows() > limits_.batch_rows || (limits_.batch_tokens > 0 && task.tokens() > limits_.batch_tokens))
      throw ApiError(400, "input_too_long",
                     "the request takes more than the server gives to all: got " + std::to_string(task.rows()) +
                         " texts with " + std::to_string(task.tokens()) + " tokens, expected at most " +
                         std::to_string(limits_.batch_rows) + " and " + std::to_string(limits_.batch_tokens));
  refuse_when_full(tasks.size());
  auto feed = std::make_shared<Feed>();
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      prompt_tokens += static_cast<std::uint64_t>(tasks[i].prompt_tokens());
      waiting_.push_back({std::move(tasks[i]), feed, i, alternatives});
    }
  }
  wake_();
  return feed;
}

template <typename Result>
std::vector<Result> ServedModel::wait_for(Gatherer<Result>& gatherer, std::string key, std::vector<std::string> texts,
                                          typename Gatherer<Result>::Run run, const Patience& patience) {
  refuse_when_full(1);
  using Job = typename Gatherer<Result>::Job;
  const std::shared_ptr<Job> job(new Job{std::move(key), std::move(texts), std::move(run)});
  std::future<std::vector<Result>> results = job->promise.get_future();
  gatherer.submit(job);
  wake_();
  while (results.wait_for(kLook) != std::future_status::ready) try {
      patience.check();
    } catch (...) {
      job->abandoned = true;
      throw;
    }
  return results.get();
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

std::vector<std::vector<Translation>> ServedModel::translate(std::vector<std::string> texts,
                                                             const TranslateOptions& options, const std::string& key,
                                                             const Patience& patience) {
  const auto run = [this, options](std::span<const std::string> all) { return (*translator)(all, options); };
  return wait_for<std::vector<Translation>>(translations_, key, std::move(texts), run, patience);
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
  bool worked = batch_ && write();
  worked |= embeddings_.work();
  worked |= translations_.work();
  worked |= classifications_.work();
  worked |= filled_.work();
  worked |= others_.work();
  return worked;
}

/// Who waits joins the batch, in the order in which they came, as long as there is room.
void ServedModel::admit() {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const Waiting& one) { return one.feed->abandoned.load(); });
  while (!waiting_.empty() && batch_->has_room(waiting_.front().task)) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    auto done = std::make_shared<bool>(false);
    writing_.push_back({0, next.feed, done});
    GenerationListener told = listener(next, done);
    writing_.back().ticket = batch_->join(std::move(next.task), std::move(told));
  }
}

GenerationListener ServedModel::listener(const Waiting& one, const std::shared_ptr<bool>& done) {
  GenerationListener told;
  told.alternatives = one.alternatives.value_or(0);
  if (one.alternatives)
    told.said = [feed = one.feed, prompt = one.prompt, most = static_cast<std::size_t>(*one.alternatives)](
                    std::size_t sample, const SaidToken* token, const std::string& text) {
      FeedEvent event{.prompt = prompt, .sample = sample, .text = text};
      if (token) {
        event.token = FeedEvent::Token{token->word.id, token->word.log_probability, {}};
        for (std::size_t i = 0; i < std::min(token->best.size(), most); ++i)
          event.token->best.emplace_back(token->best[i].id, token->best[i].log_probability);
      }
      feed->push(std::move(event));
    };
  told.done = [this, feed = one.feed, prompt = one.prompt, done](std::vector<Generation>&& texts) {
    *done = true;
    for (const Generation& text : texts) generated_tokens += text.ids.size();
    feed->push({.prompt = prompt, .done = std::move(texts)});
  };
  return told;
}

bool ServedModel::write() {
  try {
    for (const Writing& one : writing_)
      if (one.feed->abandoned && !*one.done) batch_->drop(one.ticket), *one.done = true;
    std::erase_if(writing_, [](const Writing& one) { return *one.done; });
    admit();
    rows_ = batch_->rows(), tokens_ = batch_->tokens();
    if (writing_.empty()) return false;
    batch_->step();
    ++steps;
  } catch (...) {
    for (const Writing& one : writing_)
      if (!*one.done) one.feed->push({.failed = std::current_exception()});
    writing_.clear();
    batch_->clear();
  }
  return true;
}

ServedModel::Load ServedModel::load() const {
  Load load{embeddings_.waiting() + translations_.waiting() + classifications_.waiting() + filled_.waiting() +
                others_.waiting(),
            rows_, tokens_};
  const std::lock_guard lock(mutex_);
  load.waiting += waiting_.size();
  return load;
}

}  // namespace attend::serve
