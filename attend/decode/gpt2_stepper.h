// GPT-2 in the middle of its texts.
#pragma once
#include <vector>

#include "attend/decode/search.h"
#include "attend/models/gpt2.h"

namespace attend {

/// What becomes of a text that grows beyond the positions that a model has.
enum class LongContext : std::uint8_t {
  refuse,  ///< InputError
  slide,   ///< its beginning is forgotten: the last three quarters of the positions are read anew
};

class Gpt2Stepper : public Stepper {
 public:
  /// Reads the prompts in one pass, a row each; of one with more tokens than positions, if it may slide, only the last.
  /// The first step gives what follows them, and takes no word. The model must outlive this.
  Gpt2Stepper(const Gpt2& model, std::vector<std::vector<std::int32_t>> prompts,
              LongContext long_context = LongContext::refuse);

  Tensor step(const Tensor& words) override;
  void select(std::span<const std::int64_t> rows) override;

 private:
  Tensor read();

  const Gpt2& model_;
  LongContext long_context_;
  std::vector<std::vector<std::int32_t>> texts_;  // what each row has read; empty unless they may slide
  Gpt2State state_;
  Tensor first_;  // logits behind the prompts, until they are asked for
};

}  // namespace attend
