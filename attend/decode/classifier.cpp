#include "attend/decode/classifier.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/nn/module.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"

namespace attend {

struct Classifier::Model {
  RecurrentClassifier classifier;
  Tokenizer tokenizer;
};

Classifier::Classifier(RecurrentClassifier model, const Tokenizer& tokenizer)
    : model_(std::make_shared<Model>(Model{std::move(model), tokenizer})) {}

Classifier::Classifier(const std::filesystem::path& folder) {
  const Config config(folder / "config.json");
  const std::string type = config.text("model_type", "");
  if (type != kRecurrentClassifierType)
    fail<InputError>("classifier", folder.string(), ": holds a model of type \"", type, "\", expected a classifier (",
                     kRecurrentClassifierType, ")");
  RecurrentClassifier classifier(RecurrentClassifierOptions::read(config));
  load_parameters(classifier, folder);
  model_ = std::make_shared<Model>(Model{std::move(classifier), load_tokenizer(folder)});
}

const std::vector<std::string>& Classifier::labels() const { return model_->classifier.options.labels; }

std::vector<std::int32_t> ids_to_classify(const Tokenizer& tokenizer, std::vector<std::int32_t> ids) {
  if (ids.empty()) ids.push_back(tokenizer.special().unknown.value_or(0));
  return ids;
}

std::vector<Classification> Classifier::operator()(std::span<const std::string> texts,
                                                   const ClassifyOptions& options) const {
  const NoGrad no_grad;
  if (texts.empty()) return {};
  std::vector<Encoding> encodings =
      model_->tokenizer.encode_all(texts, {.max_tokens = options.max_tokens, .long_text = options.long_text});
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::int32_t> lengths;
  for (const Encoding& encoding : encodings) {
    ids.push_back(ids_to_classify(model_->tokenizer, encoding.ids));
    lengths.push_back(static_cast<std::int32_t>(ids.back().size()));
  }
  const std::int32_t padding = model_->tokenizer.special().padding.value_or(0);
  BatchSampler sampler(lengths, {.max_tokens = options.batch_tokens, .shuffle = false});
  std::vector<Classification> results(texts.size());
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const std::vector<std::int64_t> chosen = sampler.next();
    const TokenBatch batch = pad(ids, chosen, padding);
    Probe probe;
    const Tensor probabilities =
        softmax(model_->classifier(batch.ids, batch.lengths, options.attention ? &probe : nullptr));
    const std::int64_t classes = probabilities.dim(1), T = batch.ids.dim(1);
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const auto at = static_cast<std::size_t>(chosen[b]);
      Classification& result = results[at];
      const float* row = probabilities.data() + static_cast<std::int64_t>(b) * classes;
      result.probabilities.assign(row, row + classes);
      result.label = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
      result.truncated = encodings[at].dropped;
      if (!options.attention) continue;
      for (const std::int32_t id : ids[at]) result.tokens.push_back(model_->tokenizer.token(id));
      result.spans = encodings[at].spans;
      result.spans.resize(ids[at].size());
      if (probe.records().empty()) continue;
      const float* weights = probe.records().front().weights.data() + static_cast<std::int64_t>(b) * T;
      result.attention.assign(weights, weights + lengths[at]);
    }
  }
  return results;
}

}  // namespace attend
