#include "attend/tasks/classification/reranker.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

struct Reranker::Model {
  BertReader reader;
};

Reranker::Reranker(const ModelFolder& folder)
    : model_(std::make_shared<Model>(Model{BertReader(folder, BertHead::sequence_classification)})) {
  if (const std::size_t labels = model_->reader.model.options.labels.size(); labels != 1)
    fail<InputError>("rerank", folder.path().string(), ": is a classifier with ", labels,
                     " labels, expected a cross-encoder with one");
}

Relevance Reranker::operator()(const std::string& query, std::span<const std::string> texts,
                               const RerankOptions& options) const {
  const BertReader& reader = model_->reader;
  std::string first = query;
  std::ranges::replace(first, '\t', ' ');  // a tab ends the first text of a pair
  std::vector<std::string> pairs;
  for (const std::string& text : texts) pairs.push_back(first + '\t' + text);
  const std::vector<BertWindow> windows = reader.windows(pairs, {.max_tokens = options.max_tokens, .pairs = true});
  Relevance result{std::vector<float>(texts.size()), std::vector<float>(texts.size())};
  for (const BertWindow& window : windows) result.truncated += window.encoding.dropped > 0;
  reader.read(windows, options.batch_tokens > 0 ? options.batch_tokens : kBertBatchTokens, [&](const BertBatch& batch) {
    const Tensor logits = reader.model.label_texts(batch.states, batch.lengths);  // [texts, 1]
    check_finite("rerank", logits.span());
    for (std::size_t b = 0; b < batch.windows.size(); ++b)
      result.logits[windows[batch.windows[b]].text] = logits.data()[b];
  });
  std::ranges::transform(result.logits, result.scores.begin(), [](float x) { return 1.f / (1.f + std::exp(-x)); });
  return result;
}

}  // namespace attend
