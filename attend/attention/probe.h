// Records attention weights. A model that gets a Probe records the weights of every layer and head in it. The model's
// results do not change: the fused kernel runs as usual, and the weights are computed in addition.
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
    Tensor weights;  ///< [B, H, T, S]: each row sums to 1, or is zero if all keys are masked
  };

  /// Stores all records; see records().
  Probe() = default;
  /// Calls take(record) for each record instead of storing it, so that the weights of only one layer need memory.
  explicit Probe(std::function<void(const Record&)> take) : take_(std::move(take)) {}

  /// Sets the name of the next records, for example "encoder.0.self". A model calls this before each layer.
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
