// How a language model reads prompts: long ones in passes, after the beginnings that a PrefixCache has.
#include <algorithm>
#include <utility>

#include "attend/core/stop.h"
#include "attend/core/threads.h"
#include "attend/kernels/few_rows.h"
#include "attend/kernels/matmul.h"
#include "attend/kernels/row_blocks.h"
#include "attend/models/causal_lm.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

bool is_long(std::span<const std::int32_t> prompt) { return std::ssize(prompt) > kernels::kFewRows; }

}  // namespace

StartedGeneration CausalLm::start(std::span<const GenerationInput> inputs) const {
  if (std::ranges::all_of(inputs, [](const GenerationInput& input) { return is_long(input.prompt); }))
    return start_long(inputs);
  std::vector<std::span<const std::int32_t>> texts;
  for (const GenerationInput& input : inputs) texts.push_back(input.prompt);
  auto state = std::make_unique<CausalLmState>(options.layers);
  Tensor next = start(texts, *state);
  return {std::move(state), std::move(next)};
}

/// Of prompts in a PrefixCache: those with different rotary frequencies have different keys.
std::int64_t CausalLm::kind_of(std::size_t length) const {
  return angles.short_length() > 0 && std::cmp_greater(length, angles.short_length()) ? 1 : 0;
}

std::int64_t CausalLm::unread(const GenerationInput& input) const {
  const std::int64_t all = std::ssize(input.prompt);
  if (!input.prefixes || !is_long(input.prompt)) return all;
  return all - input.prefixes->matching(input.prompt.first(input.prompt.size() - 1), kind_of(input.prompt.size()));
}

/// Reads prompts in passes, after the beginnings that a PrefixCache has. All passes use the same kernels, so that the
/// bits do not depend on where a pass begins.
StartedGeneration CausalLm::start_long(std::span<const GenerationInput> inputs) const {
  const NoGrad no_grad;
  const Training no_training(false);
  auto state = std::make_unique<CausalLmState>(options.layers);
  for (const GenerationInput& input : inputs) {
    check_length(input.prompt);
    state->lengths.push_back(std::ssize(input.prompt));
    if (angles.short_length() > 0) state->texts.emplace_back(input.prompt.begin(), input.prompt.end());
  }
  KeyValueCache& cache = state->cache;
  const std::int64_t width = 2 * options.key_heads() * options.head_width();
  cache.reserve(state->lengths, width);

  constexpr std::int64_t kBlock = PrefixCache::kBlock;
  std::vector<KeyValueCache::Part> unread;
  std::vector<std::int64_t> reused;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const std::int32_t> prompt = inputs[i].prompt;
    std::vector<Tensor> blocks;
    if (inputs[i].prefixes) blocks = inputs[i].prefixes->find(prompt.first(prompt.size() - 1), kind_of(prompt.size()));
    reused.push_back(std::ssize(blocks) * kBlock);
    unread.push_back({i, reused.back(), std::ssize(prompt) - reused.back()});
    parallel_tasks(options.layers, [&](std::int64_t layer) {
      float* to = cache.keys_values(static_cast<std::size_t>(layer), {i, 0, reused.back()}).data();
      for (const Tensor& block : blocks) to = std::ranges::copy(block.view_rows(layer, layer + 1).span(), to).out;
    });
  }

  Tensor last = Tensor::empty({std::ssize(inputs), options.width});
  {
    const kernels::UniformRows uniform;
    for (auto next = unread.begin(); next != unread.end();) {
      check_stop();
      std::vector<KeyValueCache::Part> parts;
      std::vector<std::int32_t> ids, places;
      std::vector<std::int64_t> lengths;
      for (std::int64_t room = kernels::kMostInRowBlocks; next != unread.end() && room > 0;) {
        const std::span<const std::int32_t> prompt = inputs[next->sequence].prompt;
        KeyValueCache::Part& part = parts.emplace_back(*next);
        part.count = std::min(part.count, room), room -= part.count;
        for (std::int64_t t = part.first; t < part.first + part.count; ++t) {
          ids.push_back(prompt[static_cast<std::size_t>(t)]), places.push_back(static_cast<std::int32_t>(t));
          lengths.push_back(std::ssize(prompt));
        }
        next->first += part.count, next->count -= part.count;
        if (next->count == 0) ++next;
      }
      cache.read_next(parts);
      const std::int64_t rows = std::ssize(ids);
      const Tensor states =
          run(Tensor::ids(ids, {rows}), places, lengths, {.cache = &cache, .lengths = state->lengths});
      const float* end = states.data();
      for (const KeyValueCache::Part& part : parts) {
        end += part.count * options.width;
        if (part.first + part.count == state->lengths[part.sequence])
          std::copy_n(end - options.width, options.width,
                      last.data() + static_cast<std::int64_t>(part.sequence) * options.width);
      }
    }
  }

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].prefixes) continue;
    const auto make = [&](std::int64_t first) {
      Tensor block = Tensor::empty({options.layers, kBlock, width});
      for (std::int64_t layer = 0; layer < options.layers; ++layer)
        std::ranges::copy(cache.keys_values(static_cast<std::size_t>(layer), {i, first, kBlock}),
                          block.data() + layer * kBlock * width);
      return block;
    };
    inputs[i].prefixes->add(inputs[i].prompt, make, kind_of(inputs[i].prompt.size()));
  }
  cache.read_next({});
  return {std::move(state), logits(last), std::move(reused)};
}

}  // namespace attend
