// The interface of sequence-to-sequence models: they have an encoder and a decoder and generate a text from a source.
#pragma once
#include <optional>

#include "attend/models/generative_model.h"

namespace attend {

struct Seq2SeqSpec {
  struct Attention {
    std::int64_t layers = 0, heads = 0;
  };
  Attention encoder = {}, decoder = {}, cross = {};  ///< layers is 0 if the model has no attention of this kind
  std::int64_t max_source = 0;                       ///< the maximum length of a source in tokens; 0: no limit
  bool whole_texts = false;  ///< the family reads whole texts or prompts; others are trained on single sentences
  /// Above 0: the ids of a source also tell how its tokens are written (see ids_with_case()), with this step.
  std::int64_t case_step = 0;
  bool pointer = false;  ///< the last layer of `cross` is a pointer: its weights are those of copying
  // Token ids. If the configuration of the model does not have them, the tokenizer does.
  std::optional<std::int32_t> padding = {}, start = {}, end = {};
};

class Seq2SeqModel : public GenerativeModel {
 public:
  virtual Seq2SeqSpec spec() const = 0;
  /// Teacher forcing: the logits of the token that follows each id.
  /// sources int32 [B, S], lengths int32 [B], ids int32 [B, T] -> [B, T, V].  Records gradients unless inside NoGrad.
  virtual Tensor logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const = 0;
  /// Records the attention weights of the same pass, without gradients. The layers are called "encoder.0.self",
  /// "decoder.0.self", "decoder.0.cross", …; a recurrent model has one layer, "cross".
  virtual void record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids,
                                Probe& probe) const = 0;
};

}  // namespace attend
