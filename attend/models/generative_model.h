// The interface of models that generate tokens step by step: language models and encoder–decoders alike. The engine in
// decode/ works on this interface only, so that every family can be generated from in the same way.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "attend/attention/probe.h"
#include "attend/core/tensor.h"

namespace attend {

/// What one sequence starts from.
struct GenerationInput {
  std::span<const std::int32_t> source = {};  ///< ids for the encoder; empty for language models
  std::span<const std::int32_t> prompt = {};  ///< the decoder's first tokens, at least one. Encoder–decoders take
                                              ///< exactly one, the start token
};

/// Sequences in the middle of their generation, one a row: what the model remembers of each.
class GenerationState {
 public:
  virtual ~GenerationState() = default;
  virtual std::int64_t rows() const = 0;
  /// Tokens of a row that the decoder has read, prompt included.
  virtual std::int64_t length(std::int64_t row) const = 0;
  /// From now on row i is what row rows[i] was. Rows may repeat and may be left out.
  virtual void select(std::span<const std::int64_t> rows) = 0;
  /// Appends the rows of another state of the same model, of whatever lengths. That state is used up.
  virtual void join(GenerationState&& other) = 0;
};

/// Sequences whose inputs have been read.
struct StartedGeneration {
  std::unique_ptr<GenerationState> state;  ///< a row for each input
  Tensor logits;                           ///< of the token that follows each prompt, [N, V]
};

/// Memory that a sequence takes while it is generated, in bytes.
struct SequenceBytes {
  std::int64_t each = 0;   ///< whatever its length
  std::int64_t token = 0;  ///< for each token that was read: its keys and values
};

/// Works without gradients and without dropout. The logits of a row do not depend on the other rows.
class GenerativeModel {
 public:
  virtual ~GenerativeModel() = default;
  /// Rows of the output: token ids are 0 … vocabulary() - 1.
  virtual std::int64_t vocabulary() const = 0;
  /// Tokens that the decoder can read in one sequence, prompt included; 0: any number.
  virtual std::int64_t max_positions() const = 0;
  virtual SequenceBytes sequence_bytes() const = 0;

  /// Reads the inputs. Throws InputError where one is longer than the model's positions allow.
  virtual StartedGeneration start(std::span<const GenerationInput> inputs) const = 0;
  /// Reads one more token for each row.   int32 [N] -> logits of the token that follows, [N, V]
  virtual Tensor step(const Tensor& ids, GenerationState& state) const = 0;

 protected:
  GenerativeModel() = default;
  GenerativeModel(const GenerativeModel&) = default;
  GenerativeModel& operator=(const GenerativeModel&) = default;
};

}  // namespace attend
