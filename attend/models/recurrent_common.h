// What the recurrent models share: how their choices are written in config.json and on the command line, and how their
// embeddings start.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/kernels/recurrent.h"

namespace attend {

inline const std::vector<std::pair<std::string, kernels::Cell>> kCellNames = {{"gru", kernels::Cell::gru},
                                                                              {"lstm", kernels::Cell::lstm}};

/// Of embeddings at the start. Small, as the gates are: rare words must not drown the others by what they started with,
/// and the logits of a tied output are products with embeddings.
constexpr float kEmbeddingDeviation = 0.1f;

}  // namespace attend
