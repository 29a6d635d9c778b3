#include "attend/train/memory.h"

#include <algorithm>
#include <cctype>
#include <iomanip>
#include <map>
#include <sstream>

#include "attend/core/error.h"
#include "attend/train/average.h"

namespace attend {
namespace {

std::string megabytes(std::int64_t bytes) {
  const bool large = bytes >= 1'000'000'000;
  std::ostringstream text;
  text << std::fixed << std::setprecision(large ? 2 : 1) << static_cast<double>(bytes) / (large ? 1e9 : 1e6)
       << (large ? " GB" : " MB");
  return text.str();
}

/// The block that a layer belongs to, "encoder.layers.0.": the name up to its first number; empty: none.
std::string block_of(const std::string& name) {
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    std::size_t end = dot + 1;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (end > dot + 1 && (end == name.size() || name[end] == '.')) return name.substr(0, end + 1);
  }
  return "";
}

}  // namespace

std::string TrainingMemory::text() const {
  return megabytes(parameters) + " of parameters to train, " + megabytes(gradients) + " of gradients, " +
         megabytes(optimizer) + " of optimizer state" +
         (activations > 0 ? ", about " + megabytes(activations) + " for a batch" : "");
}

TrainingMemory training_memory(const std::vector<NamedTensor>& trained, bool average, std::int64_t activations) {
  TrainingMemory memory;
  for (const NamedTensor& one : distinct(trained)) memory.parameters += static_cast<std::int64_t>(one.tensor.bytes());
  memory.gradients = memory.parameters;
  memory.optimizer = memory.parameters * (average ? 3 : 2);
  memory.activations = activations;
  return memory;
}

std::int64_t activation_bytes(Model& model, std::int64_t tokens, double logits, bool recompute) {
  struct Block {
    std::int64_t width = 0, outputs = 0;
  };
  std::map<std::string, Block> blocks;
  model.visit_linear_layers([&](const std::string& name, Linear& layer) {
    const std::string where = block_of(name);
    if (where.empty()) return;  // heads see few of the tokens, or their outputs are the logits
    Block& block = blocks[where];
    if (block.width == 0) block.width = layer.in();
    block.outputs += layer.out();
  });
  std::int64_t all = 0, inputs = 0, largest = 0;
  for (const auto& [name, block] : blocks) {
    all += 2 * block.outputs, inputs += 2 * block.width;
    largest = std::max(largest, 2 * block.outputs);
  }
  const double floats = static_cast<double>(recompute ? inputs + largest : all) + logits;
  return static_cast<std::int64_t>(floats * static_cast<double>(tokens) * sizeof(float));
}

void check_memory(const TrainingMemory& memory, std::int64_t free) {
  if (free <= 0 || memory.needed() <= free) return;
  fail<InputError>(
      "train", "the run needs more memory than is free: ", memory.text(), ", but ", megabytes(free),
      " are free; train adapters only (--lora 8), compute activations again (--recompute), or take smaller ",
      "batches (--batch-tokens, with --accumulate)");
}

}  // namespace attend
