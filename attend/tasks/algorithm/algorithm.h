// The five tasks of the Neural Turing Machine (Graves et al. 2014, section 4), as generators of random sequences. A
// sequence is a pure function of the options, a seed and an index, so that a run can be resumed at any sequence.
//
// A sequence has T steps. In each step the network gets an input vector and gives bits; in some steps these are
// compared with target bits. B is the number of bits of a vector:
//
//   task         input vector                      steps
//   copy         B bits, delimiter                 L vectors · delimiter · L targets
//   repeat-copy  B bits, delimiter, repeats        L vectors · delimiter with the number of repeats · R L targets · end
//   recall       B bits, item mark, query mark     for each item: mark, 3 vectors · query mark, the 3 vectors of an
//   item,
//                                                  query mark · 3 targets: the item that followed it
//   sort         B bits, priority, delimiter       L vectors with priorities · delimiter · targets: the vectors with
//   the
//                                                  highest priorities, in order
//   ngrams       1 bit                             L - 1 bits; the target is the next bit, from the sixth bit on
//
// A bit is given to the network as -1 or 1, so that a vector of zero bits differs from a step without input; targets
// are 0 or 1. The bits are random with probability ½, except in n-grams: there a table gives the probability of a 1
// after each of the 32 contexts of five bits, and is sampled from Beta(½, ½) for each sequence. The number of repeats
// is given as (R - mean) / deviation of its training range; the target of repeat-copy has one more bit, which is 1 only
// at the end. Priorities are uniform in -1 … 1.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/formats/config.h"

namespace attend {

enum class AlgorithmTask : std::uint8_t { copy, repeat_copy, recall, sort, ngrams };
extern const std::vector<std::pair<std::string, AlgorithmTask>> kAlgorithmTaskNames;

struct AlgorithmOptions {
  AlgorithmTask task = AlgorithmTask::copy;
  std::int64_t bits = 8;                         ///< B
  std::int64_t min_length = 1, max_length = 20;  ///< L: vectors; recall: items; ngrams: bits
  std::int64_t min_repeats = 1, max_repeats = 1;
  std::int64_t item_length = 3;  ///< recall: vectors in an item
  std::int64_t sorted = 16;      ///< sort: vectors in the target, at most L
  std::int64_t context = 5;      ///< ngrams: bits that determine the next one

  /// The sizes of the paper.
  static AlgorithmOptions of(AlgorithmTask task);

  std::int64_t inputs() const;   ///< numbers in an input vector
  std::int64_t outputs() const;  ///< bits in a target
  /// Throws InputError unless the sizes are in range and fit each other.
  void check() const;

  static AlgorithmOptions read(const Config& config);
  Config config() const;
  void visit(auto&& v) const {
    v("task", task), v("bits", bits), v("min_length", min_length), v("max_length", max_length);
    v("min_repeats", min_repeats), v("max_repeats", max_repeats), v("item_length", item_length), v("sorted", sorted);
    v("context", context);
  }
};

/// One sequence.
struct AlgorithmSequence {
  std::int64_t steps = 0, inputs = 0, outputs = 0;
  std::vector<float> input;              ///< [steps, inputs]
  std::vector<std::int32_t> target;      ///< [steps, outputs]: 0 or 1, or kNoTarget
  std::int64_t length = 0, repeats = 1;  ///< L and R of this sequence
  double optimal_bits = 0;               ///< ngrams: the loss of the optimal estimator, in bits
  std::vector<float> optimal = {};       ///< ngrams: its probability of a 1 in each step; 0 where there is no target

  static constexpr std::int32_t kNoTarget = -100;
  std::int64_t targets() const;  ///< the number of target bits
};

/// The sequence with this index. `longest` limits its length (for a curriculum); 0: no limit.
AlgorithmSequence make_sequence(const AlgorithmOptions& options, std::uint64_t seed, std::uint64_t index,
                                std::int64_t longest = 0);

/// A sequence from text. Vectors are written as bits: "0110". By task:
///   copy         "01101100 11100011"                      vectors
///   repeat-copy  "01101100 11100011 x3"                   vectors, and the number of repeats
///   recall       "011011 … | 100110 … | … ? 011011 …"     items, and the one to look for
///   sort         "01101100:0.5 11100011:-0.25"            vectors with priorities
///   ngrams       "0110100110…"                            bits
/// Throws InputError that names what is wrong.
AlgorithmSequence parse_sequence(const AlgorithmOptions& options, const std::string& text);

/// Several sequences, padded with zeros to the longest.
struct AlgorithmBatch {
  Tensor input;              ///< [B, T, inputs]
  Tensor target;             ///< int32 [B, T, outputs]; kNoTarget in padding
  std::int64_t targets = 0;  ///< target bits
  std::int64_t steps = 0;    ///< of all sequences, without padding
};
AlgorithmBatch batch_of(std::span<const AlgorithmSequence> sequences);

}  // namespace attend
