// The engine that generates text: a batch of sequences that share the steps of one model. A sequence joins when there
// is room and leaves when it is done, at any step. Language models and encoder–decoders, the program and the server use
// it. The result of a sequence does not depend on the others in the batch.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/decode/sequence_search.h"
#include "attend/models/generative_model.h"

namespace attend {

/// One input and how to generate from it.
struct EngineRequest {
  std::shared_ptr<const SearchOptions> options;  ///< checked; requests of one call share it
  SearchInput input;
  bool slide = false;      ///< at the end of the model's positions, drop the beginning and go on
  std::int64_t bytes = 0;  ///< estimate of the memory that it takes at its end

  std::int64_t rows() const { return std::max(options->beam, options->nbest); }
  /// Largest number of tokens of all hypotheses at their end.
  std::int64_t tokens() const;
};

/// Makes requests of inputs. Throws InputError where the options contradict each other, name tokens that the model does
/// not have, or ask for more hypotheses than fit into the available memory.
std::vector<EngineRequest> make_requests(const GenerativeModel& model, SearchOptions options,
                                         std::vector<SearchInput> inputs);

/// Callbacks for one request, called inside Engine::step(). An exception ends the step; the engine must then be
/// cleared.
struct EngineListener {
  SearchCallbacks callbacks = {};
  /// Called when the prompt has been read: how many of its tokens came from the PrefixCache.
  std::function<void(std::int64_t reused)> read = {};
  std::function<void(std::vector<Hypothesis>&& hypotheses)> done = {};  ///< called with the results
};

/// Not safe for several threads at once.
class Engine {
 public:
  struct Limits {
    // 0: no limit
    std::int64_t rows = 64;          ///< hypotheses at once
    std::int64_t tokens = 0;         ///< largest number of tokens of all hypotheses together, at their end
    std::int64_t source_tokens = 0;  ///< tokens of all sources together
    /// Tokens of prompts and sources to read between two steps. The running sequences wait for them.
    std::int64_t read_tokens = 512;
  };
  /// `verify` is called after each pass of the model, before its results are used. It may throw; the engine must then
  /// be cleared.
  /// `prefixes` has the beginnings of prompts that were read before, and gets those of this engine.
  Engine(std::shared_ptr<const GenerativeModel> model, const Limits& limits, std::function<void()> verify = {},
         std::optional<PrefixCache> prefixes = {});
  ~Engine();

  using Ticket = std::uint64_t;
  /// Whether a request can join without exceeding the limits, and the memory that was available when the engine was
  /// made. An empty engine takes any request.
  bool has_room(const EngineRequest& request) const;
  /// Adds a request; it is read in one of the next steps.
  Ticket join(EngineRequest request, EngineListener listener);
  /// Removes a request, unless it is done.
  void drop(Ticket ticket);
  void clear();

  /// Reads requests that have joined, which gives each its first token, and then gives every running sequence one
  /// token. Returns whether anything is left to do.
  bool step();

  // Of all requests together:
  std::int64_t rows() const;           ///< largest number of hypotheses
  std::int64_t tokens() const;         ///< largest number of tokens at their end
  std::int64_t source_tokens() const;  ///< tokens of the sources

 private:
  struct Sequence;
  using Group = std::vector<std::unique_ptr<Sequence>>;
  std::int64_t sum(std::int64_t (*of)(const EngineRequest&)) const;
  void read_some();
  std::vector<GenerationInput> inputs_of(const Sequence& one);
  Group next_to_read(std::int64_t& tokens);
  void read(Group group);
  void slide();
  void advance();
  std::vector<std::int64_t> extend(Group& group, const Tensor& logits);
  void select(std::span<const std::int64_t> rows);

  std::shared_ptr<const GenerativeModel> model_;
  Limits limits_;
  std::function<void()> verify_;
  std::optional<PrefixCache> prefixes_;
  std::int64_t memory_;  // bytes available for requests; 0: not known
  Ticket last_ticket_ = 0;
  Group waiting_;  // their prompts or sources are not read yet
  Group running_;  // in the order of the rows of the state
  std::unique_ptr<GenerationState> state_;
};

/// Generates from all inputs at once, from beginning to end.   -> the nbest hypotheses of each, best first (samples: in
/// the order in which they were sampled). Throws as make_requests() does. Of equal scores the smaller id wins, and each
/// sequence has its own random numbers, so that a result depends neither on threads nor on the batch.
std::vector<std::vector<Hypothesis>> search(const GenerativeModel& model, std::vector<SearchInput> inputs,
                                            const SearchOptions& options);

}  // namespace attend
