// A translator that has read its sources: it goes on word by word, and can say where it looked.
#pragma once
#include "attend/attention/probe.h"
#include "attend/decode/search.h"

namespace attend {

class SourceStepper : public Stepper {
 public:
  /// Where each word looks when it says the next. The sources are those that were read, whatever was chosen since.
  ///   words int32 [B, T];  the probe gets "decoder.0.self", "decoder.0.cross" …, or "cross" where that is all there
  ///   is;
  /// nothing when the model has no attention
  virtual void look(const Tensor& words, Probe& probe) const = 0;
  /// Where the words of the sources look at each other: "encoder.0.self" …; nothing when they do not.
  virtual void look_at_sources(Probe& probe) const = 0;
};

}  // namespace attend
