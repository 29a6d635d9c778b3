// GRU and LSTM: one or more layers, in one direction or both, with dropout between the layers. Parameters have the
// names and shapes of PyTorch's nn.GRU and nn.LSTM: weight_ih_l0, weight_hh_l0, bias_ih_l0, …, weight_ih_l0_reverse, ….
#pragma once
#include <string>
#include <vector>

#include "attend/core/random.h"
#include "attend/ops/recurrence.h"

namespace attend {

struct RecurrentLayerOptions {
  std::int64_t input = 0;      ///< I: number of input features
  std::int64_t hidden = 0;     ///< H: number of features of the hidden state
  int layers = 1;              ///< number of stacked layers
  bool bidirectional = false;  ///< D = 2 if true: the outputs of both directions are concatenated; otherwise D = 1
  float dropout = 0.f;         ///< between layers, not after the last
  bool bias = true;
};

/// The hidden states: one [B, H] for each layer and direction, in the order layer 0 forward, layer 0 reverse, layer 1
/// forward, …. Empty vectors stand for zeros.
struct RecurrentState {
  std::vector<Tensor> h = {};
  std::vector<Tensor> c = {};  ///< cell states, LSTM only
};

struct RecurrentOutput {
  Tensor y;              ///< [B, T, D*H]: output of the last layer; zero in padding
  RecurrentState state;  ///< after the last step of each sequence
};

/// The common base of GRU and LSTM.
class RecurrentStack {
 public:
  RecurrentLayerOptions options;
  std::vector<RecurrentWeights> weights;  ///< in the order of RecurrentState

  void visit(auto&& v) {
    const int directions = options.bidirectional ? 2 : 1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const int layer = static_cast<int>(i) / directions, direction = static_cast<int>(i) % directions;
      const std::string suffix = "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      v("weight_ih" + suffix, weights[i].weight_ih), v("weight_hh" + suffix, weights[i].weight_hh);
      v("bias_ih" + suffix, weights[i].bias_ih), v("bias_hh" + suffix, weights[i].bias_hh);
    }
  }

 protected:
  RecurrentStack() = default;
  RecurrentStack(const char* name, kernels::Cell cell, const RecurrentLayerOptions& options, Generator& generator);
  RecurrentOutput run(const Tensor& x, const RecurrentState& state, const Tensor& lengths,
                      const Tensor& projected = {}) const;
  RecurrentOutput run_step(const Tensor& x, const RecurrentState& state) const;

 private:
  const char* name_ = "";
  kernels::Cell cell_ = kernels::Cell::gru;
};

/// GRU or LSTM, chosen at run time. The parameters are initialised as in PyTorch: uniform in ±1 / √H.
struct Recurrent : RecurrentStack {
  Recurrent() = default;
  Recurrent(kernels::Cell cell, const RecurrentLayerOptions& options, Generator& generator = default_generator())
      : RecurrentStack(cell == kernels::Cell::gru ? "gru" : "lstm", cell, options, generator) {}

  /// x [B, T, I], lengths int32 [B] or undefined -> y [B, T, D*H] and the last states.
  /// `projected` [B, T, G*H] is added to the input gates of the first layer, for input that was already multiplied by
  /// a weight. It needs a layer with one direction.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const Tensor& lengths = {},
                             const Tensor& projected = {}) const {
    return run(x, state, lengths, projected);
  }
  RecurrentOutput step(const Tensor& x, const RecurrentState& state) const { return run_step(x, state); }
};

/// A GRU (see ops/recurrence.h for the formula).
struct Gru : RecurrentStack {
  Gru() = default;
  explicit Gru(const RecurrentLayerOptions& options, Generator& generator = default_generator())
      : RecurrentStack("gru", kernels::Cell::gru, options, generator) {}

  /// x [B, T, I], lengths int32 [B] or undefined -> y [B, T, D*H] and the last states.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const Tensor& lengths = {}) const {
    return run(x, state, lengths);
  }
  /// A single step of a decoder: x [B, I] -> y [B, H] and the states after it. Not for bidirectional layers.
  RecurrentOutput step(const Tensor& x, const RecurrentState& state) const { return run_step(x, state); }
};

/// An LSTM; shapes as in Gru.
struct Lstm : RecurrentStack {
  Lstm() = default;
  explicit Lstm(const RecurrentLayerOptions& options, Generator& generator = default_generator())
      : RecurrentStack("lstm", kernels::Cell::lstm, options, generator) {}

  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const Tensor& lengths = {}) const {
    return run(x, state, lengths);
  }
  RecurrentOutput step(const Tensor& x, const RecurrentState& state) const { return run_step(x, state); }
};

}  // namespace attend
