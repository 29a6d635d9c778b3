// The networks that answer questions about stories, behind one function: a memory network, or a classifier (recurrent
// network or Transformer encoder) that reads story and question as one sequence and whose labels are the answers.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/models/model.h"
#include "attend/tasks/stories/story_set.h"

namespace attend {

struct StoryNetwork {
  std::vector<std::string> answers;
  std::int64_t memory = 0;      ///< the number of sentences that the network sees
  std::int64_t hops = 0;        ///< 0: not a memory network
  std::int64_t max_tokens = 0;  ///< of story and question, for a network that reads them as one sequence; 0: no limit
  /// The logits of all answers.   -> [B, answers].  A memory network records its hops in the probe. Inside a Training
  /// scope, `noise` is the share of empty memories (see TimeNoise).
  std::function<Tensor(const StorySet& set, std::span<const std::int64_t> chosen, float noise, Probe* probe)> logits;
};

/// The network of a model: MemoryNetwork, RecurrentClassifier or Bert with labels. `memory` is used for the last two.
/// Throws Error for other models.
StoryNetwork story_network(const std::shared_ptr<const Model>& model, const Tokenizer& tokenizer, std::int64_t memory);

/// Saves a model with its tokenizer. A classifier's config.json gets the key "stories", by which the registry knows
/// that it answers questions about stories.
void save_story_model(Model& model, const Tokenizer& tokenizer, const StoryNetwork& network,
                      const std::filesystem::path& folder);

}  // namespace attend
