// Looking at attention: a probe that is passed along collects the weights of every layer and head. Results do not
// change: the fused kernel computes as ever, and the weights are computed beside it.
#pragma once
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
};

}  // namespace attend
