// The most similar of many vectors: all are compared, none is missed.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Finds, for each query, the rows with the largest cosine. Rows are given in pieces, of which nothing is kept: memory
/// does not grow with their number.
class Nearest {
 public:
  struct Match {
    std::int64_t row;  ///< counted over all pieces
    float cosine;      ///< 0 where one of the two is zero
  };

  /// queries [Q, D]
  Nearest(const Tensor& queries, std::int64_t top);
  /// rows [N, D]. Throws when D is another.
  void add(const Tensor& rows);

  std::int64_t rows() const { return rows_; }
  /// Of each query, best first; of equal ones the earlier.
  std::vector<std::vector<Match>> best() const;

 private:
  Tensor queries_;  // of length 1
  std::int64_t top_, rows_ = 0;
  std::vector<std::vector<Match>> heaps_;  // the worst of the best on top
};

}  // namespace attend
