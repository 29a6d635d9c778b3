// Sorts texts by how well they match a query. A cross-encoder reads query and text together, which is slower and more
// accurate than comparing their vectors: use it for the best candidates of a search.
//
//   attend::Reranker reranker("ms-marco-MiniLM-L-6-v2");
//   std::vector<float> scores = reranker("lost password", texts).scores;
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/models/registry.h"

namespace attend {

struct RerankOptions {
  std::int64_t max_tokens = 0;    ///< the maximum length of query and text together; 0: only the model's limit
  std::int64_t batch_tokens = 0;  ///< tokens in a batch; 0: the default
};

struct Relevance {
  std::vector<float> scores;   ///< of each text, from 0 to 1: the sigmoid of the model's logit
  std::vector<float> logits;   ///< of each text; large logits differ where scores are rounded to 1
  std::int64_t truncated = 0;  ///< the number of texts that were cut to fit
};

/// Immutable and cheap to copy.
class Reranker {
 public:
  /// Throws InputError if the folder holds no classifier of BERT's family with exactly one label.
  explicit Reranker(const ModelFolder& folder);
  explicit Reranker(const std::filesystem::path& folder) : Reranker(ModelFolder(folder)) {}

  /// Scores each text for the query, in order.
  Relevance operator()(const std::string& query, std::span<const std::string> texts,
                       const RerankOptions& options = {}) const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
