// GRU and LSTM layers: stacked, in one direction or both, with dropout between the layers. Parameters are named and
// laid out as PyTorch's nn.GRU and nn.LSTM name theirs: weight_ih_l0, weight_hh_l0, bias_ih_l0, …, …_l0_reverse.
#pragma once
#include <string>
#include <vector>

#include "attend/core/random.h"
#include "attend/ops/gru.h"
#include "attend/ops/lstm.h"

namespace attend {

struct RecurrentLayerOptions {
  std::int64_t input = 0;      ///< I, the size of an input
  std::int64_t hidden = 0;     ///< H, the size of a state
  int layers = 1;              ///< one on top of the other
  bool bidirectional = false;  ///< each layer reads both ways, and the next sees both results: D = 2, otherwise 1
  float dropout = 0.f;         ///< between layers, not after the last
  bool bias = true;
};

/// One [B, H] for each layer and direction: layer 0 forward, layer 0 reverse, layer 1 forward, …; empty: zeros.
struct RecurrentState {
  std::vector<Tensor> h = {};
  std::vector<Tensor> c = {};  ///< an LSTM's only
};

struct RecurrentOutput {
  Tensor y;              ///< [B, T, D*H], of the last layer; zero beyond a sequence's length
  RecurrentState state;  ///< after each sequence's last step
};

/// What both kinds are: their weights and the way through them.
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

/// Either kind, chosen at run time.
struct Recurrent : RecurrentStack {
  Recurrent() = default;
  Recurrent(kernels::Cell cell, const RecurrentLayerOptions& options, Generator& generator = default_generator())
      : RecurrentStack(cell == kernels::Cell::gru ? "gru" : "lstm", cell, options, generator) {}

  /// `projected` [B, T, G*H] is more input of the first layer, through its own weight already; one direction only.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const Tensor& lengths = {},
                             const Tensor& projected = {}) const {
    return run(x, state, lengths, projected);
  }
  RecurrentOutput step(const Tensor& x, const RecurrentState& state) const { return run_step(x, state); }
};

/// Starts as PyTorch's: every parameter uniform in ±1 / √H.
struct Gru : RecurrentStack {
  Gru() = default;
  explicit Gru(const RecurrentLayerOptions& options, Generator& generator = default_generator())
      : RecurrentStack("gru", kernels::Cell::gru, options, generator) {}

  /// x [B, T, I], lengths int32 [B] or undefined -> y [B, T, D*H] and the last states.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& state = {}, const Tensor& lengths = {}) const {
    return run(x, state, lengths);
  }
  /// A decoder's single step: x [B, I] -> y [B, H] and the states after it. One direction only.
  RecurrentOutput step(const Tensor& x, const RecurrentState& state) const { return run_step(x, state); }
};

/// The same with cells.
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
