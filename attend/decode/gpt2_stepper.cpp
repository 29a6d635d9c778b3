#include "attend/decode/gpt2_stepper.h"

#include <algorithm>
#include <utility>

#include "attend/ops/gather.h"

namespace attend {
namespace {

void forget_all_but_last(std::vector<std::int32_t>& text, std::int64_t count) {
  if (std::ssize(text) > count) text.erase(text.begin(), text.end() - count);
}

}  // namespace

Gpt2Stepper::Gpt2Stepper(const Gpt2& model, std::vector<std::vector<std::int32_t>> prompts, LongContext long_context)
    : model_(model), long_context_(long_context), texts_(std::move(prompts)) {
  if (long_context_ == LongContext::slide)
    for (std::vector<std::int32_t>& text : texts_) forget_all_but_last(text, model_.options.positions);
  first_ = read();
  if (long_context_ == LongContext::refuse) texts_.clear();
}

Tensor Gpt2Stepper::read() {
  const std::vector<std::span<const std::int32_t>> texts(texts_.begin(), texts_.end());
  return model_.start(texts, state_);
}

Tensor Gpt2Stepper::step(const Tensor& words) {
  if (first_.defined()) return std::exchange(first_, Tensor());
  if (long_context_ == LongContext::refuse) return model_.step(words, state_);
  for (std::size_t row = 0; row < texts_.size(); ++row) texts_[row].push_back(words.data<std::int32_t>()[row]);
  const std::int64_t positions = model_.options.positions;
  if (state_.longest() < positions) return model_.step(words, state_);
  for (std::vector<std::int32_t>& text : texts_)
    if (std::ssize(text) > positions) forget_all_but_last(text, positions - positions / 4);
  return read();
}

void Gpt2Stepper::select(std::span<const std::int64_t> rows) {
  if (first_.defined()) {
    const std::vector<std::int32_t> ids(rows.begin(), rows.end());
    first_ = index_select(first_, Tensor::ids(ids, {std::ssize(ids)}), 0);
  }
  state_.select(rows);
  if (long_context_ == LongContext::refuse) return;
  std::vector<std::vector<std::int32_t>> chosen;
  for (const std::int64_t row : rows) chosen.push_back(texts_[static_cast<std::size_t>(row)]);
  texts_ = std::move(chosen);
}

}  // namespace attend
