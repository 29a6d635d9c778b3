// Looking at attention: a probe that is passed along collects the weights of every layer and head. Results do not
// change: the fused kernel computes as ever, and the weights are computed beside it.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

class Probe {
 public:
  struct Record {
    std::string layer;
    Tensor weights;  ///< [B, H, T, S]: each row sums to 1, or is zero where nothing was to be seen
  };

  /// Keeps what it is given: see records().
  Probe() = default;
  /// Hands each record on instead, so that no more than one layer's weights need be in memory.
  explicit Probe(std::function<void(const Record&)> take) : take_(std::move(take)) {}

  /// What the following weights belong to: "encoder.0.self", say. A model names its layers before it calls them.
  void enter(std::string layer) { layer_ = std::move(layer); }
  const std::string& layer() const { return layer_; }
  /// weights [B, H, T, S], or [B, T, S] for one head.
  void record(const Tensor& weights);

  const std::vector<Record>& records() const { return records_; }
  void clear() { records_.clear(); }

 private:
  std::string layer_;
  std::vector<Record> records_;
  std::function<void(const Record&)> take_;
};

}  // namespace attend
