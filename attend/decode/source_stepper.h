// A translator that has read its sources: it goes on word by word, and can say where it looked.
#pragma once
#include <vector>

#include "attend/decode/search.h"

namespace attend {

class SourceStepper : public Stepper {
 public:
  /// Where each word looks when it says the next. The sources are those that were read, whatever was chosen since.
  ///   words int32 [B, T] -> a layer each, [B, H, T, S]; none when the model has no attention
  virtual std::vector<Tensor> cross_attention(const Tensor& words) const = 0;
};

}  // namespace attend
