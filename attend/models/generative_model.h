// The interface of models that generate tokens step by step: language models and encoder–decoders. The engine in
// decode/ uses only this interface, so that it works with every family.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/attention/prefix_cache.h"
#include "attend/attention/probe.h"
#include "attend/core/tensor.h"
#include "attend/data/batches.h"

namespace attend {

/// The input of one sequence.
struct GenerationInput {
  std::span<const std::int32_t> source = {};  ///< ids for the encoder; empty for language models
  std::span<const std::int32_t> prompt = {};  ///< the decoder's first tokens, at least one; an encoder–decoder takes
                                              ///< exactly one, the start token
  Tensor features = {};                       ///< float32 [S, D] for the encoder, in place of `source`
  PrefixCache* prefixes = nullptr;            ///< where a model that can looks up and keeps the first tokens of prompts
};

/// The sources of all inputs, padded: `ids` holds ids [B, S], or features [B, S, D]. Throws where some inputs have
/// features and others do not.
TokenBatch pad_sources(std::span<const GenerationInput> inputs, std::int32_t padding);

/// The model's state of a batch of sequences during generation (for example their key-value cache). Each sequence is
/// one row.
class GenerationState {
 public:
  virtual ~GenerationState() = default;
  virtual std::int64_t rows() const = 0;
  /// The number of tokens of a sequence that the decoder has read, including the prompt.
  virtual std::int64_t length(std::int64_t row) const = 0;
  /// Reorders the sequences: the new row i is the old row rows[i]. A row may be repeated or left out.
  virtual void select(std::span<const std::int64_t> rows) = 0;
  /// Appends the sequences of another state of the same model; the lengths may differ. `other` must not be used
  /// afterwards.
  virtual void join(GenerationState&& other) = 0;
};

/// The result of GenerativeModel::start().
struct StartedGeneration {
  std::unique_ptr<GenerationState> state;  ///< one row for each input
  Tensor logits;                           ///< [N, V], for the token that follows each prompt
  /// The number of tokens of each prompt that came from GenerationInput::prefixes; may be empty if it is 0 for all.
  std::vector<std::int64_t> reused = {};
};

/// The memory that a sequence needs during generation, in bytes.
struct SequenceBytes {
  std::int64_t each = 0;   ///< independent of its length
  std::int64_t token = 0;  ///< for each token: its keys and values
};

/// Generation runs without gradients and without dropout. The logits of a sequence do not depend on the other sequences
/// of the batch.
class GenerativeModel {
 public:
  virtual ~GenerativeModel() = default;
  /// The size of the vocabulary: token ids are 0 … vocabulary() - 1.
  virtual std::int64_t vocabulary() const = 0;
  /// The maximum length of a sequence in the decoder, including the prompt; 0: no limit.
  virtual std::int64_t max_positions() const = 0;
  virtual SequenceBytes sequence_bytes() const = 0;

  /// The number of tokens of a prompt that start() has to read: those that GenerationInput::prefixes does not have.
  virtual std::int64_t unread(const GenerationInput& input) const { return std::ssize(input.prompt); }
  /// Reads sources and prompts. Throws InputError if one is longer than the model allows.
  virtual StartedGeneration start(std::span<const GenerationInput> inputs) const = 0;
  /// Reads one more token of each sequence.   ids int32 [N] -> logits [N, V] for the next token
  virtual Tensor step(const Tensor& ids, GenerationState& state) const = 0;

 protected:
  GenerativeModel() = default;
  GenerativeModel(const GenerativeModel&) = default;
  GenerativeModel& operator=(const GenerativeModel&) = default;
};

}  // namespace attend
