// Exact nearest-neighbour search by cosine similarity: every vector is compared.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/core/tensor.h"

namespace attend {

/// Finds for each query the rows with the largest cosine. Rows are added in blocks, which are not kept, so memory does
/// not grow with the number of rows.
class Nearest {
 public:
  struct Match {
    std::int64_t row;  ///< counted from 0 over all blocks
    float cosine;      ///< 0 if one of the vectors is zero
  };

  /// queries [Q, D]
  Nearest(const Tensor& queries, std::int64_t top);
  /// rows [N, D]. Throws InputError if D is not the size of the queries.
  void add(const Tensor& rows);

  std::int64_t rows() const { return rows_; }
  /// The matches of each query, best first. If cosines are equal, the earlier row comes first.
  std::vector<std::vector<Match>> best() const;

 private:
  Tensor queries_;  // [Q, D], normalised
  std::int64_t top_, rows_ = 0;
  std::vector<std::vector<Match>> heaps_;  // of each query, with the worst match on top
};

}  // namespace attend
