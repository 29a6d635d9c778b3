#include "attend/tasks/stories/story_network.h"

#include "attend/core/error.h"
#include "attend/models/bert.h"
#include "attend/models/memory_network.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/registry.h"
#include "attend/ops/dropout.h"
#include "attend/tasks/encoder/pack.h"

namespace attend {
namespace {

StoryNetwork network_of(const std::shared_ptr<const MemoryNetwork>& model) {
  return {.answers = model->options.answers,
          .memory = model->options.memory,
          .hops = model->options.hops,
          .logits = [model](const StorySet& set, std::span<const std::int64_t> chosen, float noise, Probe* probe) {
            TimeNoise times;
            if (training() && noise > 0) times = {noise, default_generator().next()};
            return (*model)(story_batch(set, chosen, model->options.memory, times), probe);
          }};
}

StoryNetwork network_of(const std::shared_ptr<const RecurrentClassifier>& model, FlatStoryOptions flat,
                        std::int64_t memory) {
  flat.max_tokens = model->max_tokens();
  return {.answers = model->options.labels,
          .memory = memory,
          .max_tokens = flat.max_tokens - (flat.first ? 1 : 0),
          .logits = [model, flat](const StorySet& set, std::span<const std::int64_t> chosen, float, Probe*) {
            const TokenBatch batch = flat_batch(set, chosen, flat);
            return model->logits({batch.ids, batch.lengths});
          }};
}

StoryNetwork network_of(const std::shared_ptr<const Bert>& model, FlatStoryOptions flat, std::int64_t memory) {
  flat.max_tokens = model->options.max_tokens();
  return {.answers = model->options.labels,
          .memory = memory,
          .max_tokens = flat.max_tokens - (flat.first ? 1 : 0),
          .logits = [model, flat](const StorySet& set, std::span<const std::int64_t> chosen, float, Probe*) {
            const BertInput input = pack(flat_batch(set, chosen, flat));
            return model->label_texts(model->encode(input), input.lengths);
          }};
}

}  // namespace

StoryNetwork story_network(const std::shared_ptr<const Model>& model, const Tokenizer& tokenizer, std::int64_t memory) {
  const SpecialTokens& special = tokenizer.special();
  const FlatStoryOptions flat{
      .first = special.bos, .end = special.eos.value_or(0), .padding = special.padding.value_or(0)};
  if (const auto network = std::dynamic_pointer_cast<const MemoryNetwork>(model)) return network_of(network);
  if (const auto network = std::dynamic_pointer_cast<const RecurrentClassifier>(model))
    return network_of(network, flat, memory);
  if (const auto network = std::dynamic_pointer_cast<const Bert>(model)) return network_of(network, flat, memory);
  fail("stories", "a model of type \"", model->type(), "\" cannot answer questions about stories");
}

void save_story_model(Model& model, const Tokenizer& tokenizer, const StoryNetwork& network,
                      const std::filesystem::path& folder) {
  save_model(model, tokenizer, folder);
  if (network.hops > 0) return;
  Config config(folder / "config.json"), stories;
  stories.set("memory", network.memory);
  config.set("stories", stories);
  config.save(folder / "config.json");
}

}  // namespace attend
