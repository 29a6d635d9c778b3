// Runs a trained network on sequences of its task, and shows what it did:
//
//   attend::AlgorithmModel model("copier");
//   attend::AlgorithmRun run = model(attend::make_sequence(model.algorithm(), /*seed=*/1, /*index=*/0));
//   std::cout << run.wrong << " of " << run.targets << " bits are wrong\n";
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/models/registry.h"
#include "attend/models/turing_machine.h"
#include "attend/tasks/algorithm/algorithm.h"

namespace attend {

/// The weights of one head: where it read or wrote in each step.
struct HeadWeights {
  std::string name;  ///< "write 1", "read 1", …
  std::int64_t steps = 0, slots = 0;
  std::vector<float> weights;  ///< [steps, slots]
};

/// What a network did with one sequence.
struct AlgorithmRun {
  AlgorithmSequence sequence;
  std::vector<float> output;  ///< [steps, outputs]: the probabilities of ones
  std::int64_t targets = 0, wrong = 0;
  double bits = 0;                 ///< the loss of the whole sequence
  std::vector<HeadWeights> heads;  ///< write heads first; empty without a memory
};

struct AlgorithmScores {
  std::int64_t sequences = 0, targets = 0, wrong = 0;
  double bits_per_sequence = 0;
  double optimal_bits = 0;  ///< ngrams: the loss of the optimal estimator per sequence

  double error_rate() const { return targets == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(targets); }
};
/// Evaluates a network on generated sequences 0 to count - 1.
AlgorithmScores evaluate_algorithm(const TuringMachine& model, const AlgorithmOptions& options, std::int64_t count,
                                   std::uint64_t seed);

/// Runs a network on one sequence. Throws ModelError if its output is not finite.
AlgorithmRun run_algorithm(const TuringMachine& model, const AlgorithmSequence& sequence);

/// Immutable and cheap to copy.
class AlgorithmModel {
 public:
  /// Throws InputError if the folder holds no such network. `slots` above 0 replaces the size of the memory: the
  /// parameters do not depend on it, and longer sequences need more slots.
  explicit AlgorithmModel(const ModelFolder& folder, std::int64_t slots = 0);
  explicit AlgorithmModel(const std::filesystem::path& folder, std::int64_t slots = 0)
      : AlgorithmModel(ModelFolder(folder), slots) {}

  const AlgorithmOptions& algorithm() const { return algorithm_; }
  const TuringMachine& model() const { return *model_; }

  AlgorithmRun operator()(const AlgorithmSequence& sequence) const { return run_algorithm(*model_, sequence); }
  /// Evaluates the network on generated sequences.
  AlgorithmScores evaluate(const AlgorithmOptions& options, std::int64_t count, std::uint64_t seed) const;

 private:
  std::shared_ptr<const TuringMachine> model_;
  AlgorithmOptions algorithm_;
};

}  // namespace attend
