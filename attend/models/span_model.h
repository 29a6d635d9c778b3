// The interface of models that point at the answer to a question in a text: for each token, the logits that the answer
// begins and ends there (extractive question answering, Rajpurkar et al. 2016). It hides from training and use whether
// the network reads question and text apart (BiDAF) or as one sequence (BERT).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/core/tensor.h"
#include "attend/models/model.h"
#include "attend/nn/embedding.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// A batch of questions, each with its text. Both are in one sequence, the question first, as Tokenizer::encode_pair
/// makes it.
struct SpanInput {
  Tensor ids;         ///< int32 [B, T], padded
  Tensor lengths;     ///< int32 [B]
  Tensor types;       ///< int32 [B, T]: 0 for the tokens of the question, 1 for those of the text; at least one of each
  Tensor bytes = {};  ///< int32 [B, T, W]: the spelling of each token (see word_bytes()); only if the model reads it
};

/// The logits of the first and of the last token of the answer, over the same sequence. Position 0, which can be no
/// answer, stands for "the text has no answer". The logits of the other tokens of the question and of the padding are
/// kNoSpan, so that the loss is the cross-entropy of each row with the position of the token.
struct SpanLogits {
  Tensor start, end;  ///< [B, T]
};
/// A logit that is finite, and so low that its probability is 0.
constexpr float kNoSpan = -1e30f;

class SpanModel : public Model {
 public:
  /// A probe records the attention weights; each network says how.
  virtual SpanLogits find_spans(const SpanInput& input, Probe* probe = nullptr) const = 0;

  /// W: how many bytes of each token's spelling the model reads; 0: it reads no spelling.
  virtual std::int64_t word_bytes() const { return 0; }
  virtual void set_dropout(float dropout) = 0;
  /// Makes every parameter a leaf of the tape.
  virtual void train_all() = 0;
  virtual Embedding& words() = 0;  ///< the vectors of the words
};

/// The spelling of tokens, W numbers each: the bytes of text[span] plus 1, then 0. A longer token is cut, and one with
/// an empty span has no bytes. Unlike ids, the spelling tells apart words that the vocabulary does not have.
std::vector<std::int32_t> word_bytes(std::string_view text, std::span<const Span> spans, std::int64_t width);

}  // namespace attend
