// A model that is served, and the requests that wait for it. Any thread may submit requests; only the model thread
// (model_thread.h) runs the model. Generations, translations and parts of documents join its engine as they arrive.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "attend/decode/engine.h"
#include "attend/serve/batcher.h"
#include "attend/serve/event_stream.h"
#include "attend/serve/patience.h"
#include "attend/serve/worker_thread.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/tasks/embedding/text_encoder.h"
#include "attend/tasks/language_model/generation_task.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/tasks/masked_lm/mask_filler.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/tasks/summarization/summarizer.h"
#include "attend/tasks/translation/translator.h"
#include "attend/text/chat_template.h"

namespace attend::serve {

/// A text with more bytes is long work: the model thread would be busy with it for too long.
constexpr std::size_t kLongText = 16 << 10;
/// The same for a text whose attention weights are computed.
constexpr std::size_t kLongToAttend = 2000;

struct ModelLimits {
  std::int64_t batch_rows = 64;       ///< sequences that are generated at once
  std::int64_t batch_tokens = 16384;  ///< tokens of these sequences at their end, with their prompts
  std::size_t queue = 256;            ///< largest number of requests that wait
};

/// The vector of a text, and its numbers of tokens: read and dropped.
struct Embedded {
  std::vector<float> vector;
  std::int64_t tokens = 0, truncated = 0;
};

class ServedModel {
 public:
  /// `opened` is the model of the folder, with or without an adapter. Throws InputError when the folder holds no model
  /// that can be served. `wake` is called when there is work for the model thread.
  /// `prefixes` keeps the beginnings of prompts; none: they are read again.
  ServedModel(std::string name, const std::filesystem::path& folder, const ModelFolder& opened,
              const ModelLimits& limits, std::function<void()> wake, std::optional<PrefixCache> prefixes = {});

  const std::string name;
  const std::filesystem::path folder, adapter;
  std::string kind;  ///< "model_type" of its config.json
  std::int64_t layers = 0, heads = 0;
  std::optional<std::int64_t> context = {};
  std::optional<std::string> source_language = {}, target_language = {};  ///< of a translator between two

  // Its capabilities; those that it lacks are empty.
  std::optional<LanguageModel> language_model = {};
  std::optional<Translator> translator = {};
  std::optional<Summarizer> summarizer = {};
  std::optional<TextEncoder> encoder = {};
  std::optional<Classifier> classifier = {};
  std::optional<MaskFiller> mask_filler = {};
  std::optional<StoryReader> stories = {};
  std::optional<AttentionReader> attention = {};
  std::optional<Tokenizer> tokenizer = {};
  std::optional<ChatTemplate> chat_template = {};  ///< of a language model, if its folder has one
  std::string template_problem = {};               ///< why its template cannot be used; then it cannot chat
  std::optional<std::int32_t> end_of_reply = {};   ///< the special token that the template puts after a reply
  std::vector<std::string> capabilities() const;
  bool can(const std::string& capability) const;
  /// Throws ApiError model_changed if the files of the model were changed on disk since it was opened: its answers
  /// would be wrong.
  void check_files() const;

  using Patience = serve::Patience;
  /// All of these throw ApiError: model_changed; queue_full when too many requests wait; those that wait for a result
  /// also timeout, hung_up and shutting_down; those that reserve memory for it too_large_for_memory and memory_full.
  /// The tokens of a text.
  std::vector<std::int32_t> ids(std::string text, const Patience& patience, bool special_tokens = false);
  /// With `alternatives`, there is an event for each token, with so many of the most likely tokens; without, only for
  /// finished texts.
  std::shared_ptr<EventStream> generate(std::vector<GenerationTask> tasks, std::optional<std::int64_t> alternatives);
  std::vector<Embedded> embed(std::vector<std::string> texts, const EmbedOptions& options, const std::string& key,
                              const Patience& patience);
  std::vector<std::vector<Translation>> translate(std::vector<std::string> texts, const TranslateOptions& options,
                                                  const Patience& patience);
  std::vector<Summary> summarize(std::vector<std::string> texts, const SummarizeOptions& options,
                                 const Patience& patience);
  std::vector<Classification> classify(std::vector<std::string> texts, const ClassifyOptions& options,
                                       const std::string& key, const Patience& patience);
  std::vector<FilledText> fill(std::vector<std::string> texts, const FillOptions& options, const std::string& key,
                               const Patience& patience);
  /// Other work with the model: one call of `run` on the model thread, which waits meanwhile. `is_long`: on a thread of
  /// its own, beside the model thread. `run` owns what it uses.
  std::string ask(std::function<std::string()> run, const Patience& patience, bool is_long = false);

  /// Called by the model thread: one step of the engine, and one call for each other kind of request. Returns false
  /// when there is nothing to do.
  bool work();

  struct Load {
    std::size_t waiting = 0;
    std::int64_t rows = 0, tokens = 0;  ///< that are being generated
  };
  Load load() const;
  std::atomic<std::uint64_t> prompt_tokens = 0, generated_tokens = 0, steps = 0;  ///< so far, of finished texts
  std::atomic<std::uint64_t> reused_tokens = 0;                                   ///< of prompts that were read before

 private:
  /// The client of a request.
  struct Client {
    std::function<bool()> gone;
    std::function<void(std::exception_ptr)> fail;
  };
  /// The sequences of one request, which join the engine as there is room.
  struct Waiting {
    std::shared_ptr<const Client> client = {};
    std::vector<EngineRequest> requests = {};
    std::function<EngineListener(std::size_t)> listener = {};  // of a sequence
    std::size_t joined = 0;
    bool goes_on = false;  // with a request that was accepted before
  };
  struct Running {
    Engine::Ticket ticket;
    std::shared_ptr<const Client> client;
    std::shared_ptr<bool> done;
  };

  void open(const ModelFolder& opened, std::optional<PrefixCache> prefixes);
  void accept() const;
  void submit(Waiting waiting);
  void withdraw(const Client* client);
  std::vector<std::vector<Translation>> run_translation(std::vector<std::string> texts, const TranslateOptions& options,
                                                        const Patience& patience, bool goes_on = false);
  bool generate_some();
  void admit();
  void join(EngineRequest request, EngineListener listener, const std::shared_ptr<const Client>& client);
  GenerationListener listener(const std::shared_ptr<EventStream>& events, std::size_t prompt,
                              std::optional<std::int64_t> alternatives);
  template <typename Result>
  std::vector<Result> run_batched(Batcher<Result>& batcher, std::string key, std::vector<std::string> texts,
                                  typename Batcher<Result>::Run run, const Patience& patience, std::size_t added = 0);

  ModelLimits limits_;
  std::function<void()> wake_;

  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;
  Engine::Limits engine_limits_;
  std::unique_ptr<Engine> engine_;  // this and `running_` are used by the model thread only
  std::vector<Running> running_;
  std::atomic<std::int64_t> rows_ = 0, tokens_ = 0;
  Batcher<Embedded> embeddings_;
  Batcher<Classification> classifications_;
  Batcher<FilledText> filled_;
  Batcher<std::string> others_;
  mutable std::atomic<bool> changed_ = false;  // check_files() has failed
  WorkerThread tokenizer_thread_;
  LongWork long_work_;
};

}  // namespace attend::serve
