// The interface of models that generate a text from a source: translators, and whatever else has an encoder and a
// decoder.
#pragma once
#include <optional>

#include "attend/models/generative_model.h"

namespace attend {

struct Seq2SeqSpec {
  struct Attention {
    std::int64_t layers = 0, heads = 0;
  };
  Attention encoder = {}, decoder = {}, cross = {};  ///< no layers: the model has no attention of this kind
  std::int64_t max_source = 0;                       ///< tokens of a source; 0: any number
  bool whole_texts = false;  ///< the family reads whole texts or prompts; others are trained on single sentences
  // Where the model itself knows them; otherwise its tokenizer does:
  std::optional<std::int32_t> padding = {}, start = {}, end = {};
};

class Seq2SeqModel : public GenerativeModel {
 public:
  virtual Seq2SeqSpec spec() const = 0;
  /// Teacher forcing: logits of the token that follows each.   sources int32 [B, S] with lengths [B], ids int32 [B, T]
  ///   -> [B, T, V].  Records gradients where it is called with them.
  virtual Tensor logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const = 0;
  /// The attention of the same pass, without gradients: "encoder.0.self" …, "decoder.0.self", "decoder.0.cross" …, or
  /// "cross" where that is all there is.
  virtual void record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids,
                                Probe& probe) const = 0;
};

}  // namespace attend
