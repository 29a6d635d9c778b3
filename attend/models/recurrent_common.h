// Constants of the recurrent models: the names of the cells in config.json and on the command line, and the initial
// standard deviation of embeddings.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/kernels/recurrent.h"

namespace attend {

inline const std::vector<std::pair<std::string, kernels::Cell>> kCellNames = {{"gru", kernels::Cell::gru},
                                                                              {"lstm", kernels::Cell::lstm}};

/// The standard deviation of new embeddings. It is small, so that the random embeddings of rare tokens do not dominate,
/// and so that the logits of a tied output, which are products with embeddings, start small.
constexpr float kEmbeddingDeviation = 0.1f;

}  // namespace attend
