#include "attend/tasks/classification/classifier.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/data/batches.h"
#include "attend/nn/module.h"
#include "attend/ops/activation.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/encoder/bert_reader.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend {

/// The interface of the classifiers below.
struct Classifier::Model {
  virtual ~Model() = default;
  virtual const std::vector<std::string>& labels() const = 0;
  virtual bool several_labels() const { return false; }
  virtual std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                               const Progress& progress) const = 0;
  virtual AttentionMap attention_map(const std::string& text, const ClassifyOptions& options,
                                     const AttentionSelection& selection) const = 0;
};

namespace {

/// Fills the members of a result that follow from the probabilities.
void decide(const float* probabilities, std::size_t labels, bool several, Classification& result) {
  result.probabilities.assign(probabilities, probabilities + labels);
  result.label =
      static_cast<std::size_t>(std::ranges::max_element(result.probabilities) - result.probabilities.begin());
  if (!several) result.predicted = {result.label};
  for (std::size_t i = 0; several && i < labels; ++i)
    if (probabilities[i] > 0.5f) result.predicted.push_back(i);
}

/// logits [N, labels] -> probabilities [N, labels]: softmax, or sigmoid for multi-label models and for a single label.
/// Throws ModelError if the logits are not finite.
Tensor probabilities(const Tensor& logits, bool several) {
  check_finite("classify", logits.span());
  return several || logits.dim(1) == 1 ? sigmoid(logits) : softmax(logits);
}

/// The attention weights of one token in the last layer, the mean over the heads.   -> [T]
std::vector<float> attention_from(const Probe& probe, std::int64_t token) {
  const Tensor& weights = probe.records().back().weights;  // [1, H, T, T]
  const std::int64_t H = weights.dim(1), T = weights.dim(3);
  std::vector<float> mean(static_cast<std::size_t>(T));
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t t = 0; t < T; ++t)
      mean[static_cast<std::size_t>(t)] += weights.data()[(h * T + token) * T + t] / static_cast<float>(H);
  return mean;
}

struct RecurrentModel : Classifier::Model {
  RecurrentClassifier classifier;
  Tokenizer tokenizer;

  RecurrentModel(RecurrentClassifier model, const Tokenizer& tokens)
      : classifier(std::move(model)), tokenizer(tokens) {}

  const std::vector<std::string>& labels() const override { return classifier.options.labels; }

  std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                       const Progress& progress) const override {
    if (options.pairs) fail<InputError>("classifier", "a recurrent classifier takes single texts, not pairs");
    std::vector<Encoding> encodings =
        tokenizer.encode_all(texts, {.max_tokens = options.max_tokens, .long_text = options.long_text});
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::int32_t> lengths;
    for (const Encoding& encoding : encodings) {
      ids.push_back(ids_to_classify(tokenizer, encoding.ids));
      lengths.push_back(static_cast<std::int32_t>(ids.back().size()));
    }
    const std::int32_t padding = tokenizer.special().padding.value_or(0);
    BatchSampler sampler(lengths, {.max_tokens = options.batch_tokens ? options.batch_tokens : 8192, .shuffle = false});
    std::vector<Classification> results(texts.size());
    for (std::int64_t i = sampler.batches(); i > 0; --i) {
      const std::vector<std::int64_t> chosen = sampler.next();
      const TokenBatch batch = pad(ids, chosen, padding);
      Probe probe;
      const Tensor all =
          probabilities(classifier(batch.ids, batch.lengths, options.attention ? &probe : nullptr), false);
      const std::int64_t classes = all.dim(1), T = batch.ids.dim(1);
      for (std::size_t b = 0; b < chosen.size(); ++b) {
        const auto at = static_cast<std::size_t>(chosen[b]);
        Classification& result = results[at];
        decide(all.data() + static_cast<std::int64_t>(b) * classes, labels().size(), false, result);
        result.truncated = encodings[at].dropped;
        if (!options.attention) continue;
        for (const std::int32_t id : ids[at]) result.tokens.push_back(tokenizer.token(id));
        result.spans = encodings[at].spans;
        result.spans.resize(ids[at].size());
        if (probe.records().empty()) continue;
        const float* weights = probe.records().front().weights.data() + static_cast<std::int64_t>(b) * T;
        result.attention.assign(weights, weights + lengths[at]);
      }
      if (progress) progress(sampler.batches() - i + 1, sampler.batches());
    }
    return results;
  }

  AttentionMap attention_map(const std::string& text, const ClassifyOptions& options,
                             const AttentionSelection& selection) const override {
    if (options.pairs) fail<InputError>("classifier", "a recurrent classifier takes single texts, not pairs");
    if (classifier.options.pooling != StatePooling::attention)
      fail<InputError>("attention", "the model has no attention: it pools by ",
                       name_of(classifier.options.pooling, kStatePoolingNames));
    const Encoding encoding =
        tokenizer.encode(text, {.max_tokens = options.max_tokens, .long_text = options.long_text});
    if (encoding.ids.empty()) fail<InputError>("attention", "the text is blank: it has no tokens");
    AttentionMap map;
    map.kind = "attend-recurrent-classifier", map.text = text, map.truncated = encoding.dropped;
    AttentionView view{AttentionKind::self};
    view.keys = attention_tokens(tokenizer, encoding.ids, text, encoding.spans);
    view.queries = {{"(whole text)"}, {"(whole text)"}, {-1}};  // the query is the last state
    if (!prepare(view, 1, 1, selection, true))
      fail<InputError>("attention", "a recurrent classifier has self-attention only");
    map.views.push_back(std::move(view));
    AttentionMap* const maps[] = {&map};
    Probe probe([&](const Probe::Record& record) { keep(record, maps); });
    classifier(Tensor::ids(encoding.ids, {1, encoding.size()}),
               Tensor::ids({static_cast<std::int32_t>(encoding.size())}, {1}), &probe);
    return map;
  }
};

struct BertModel : Classifier::Model {
  BertReader reader;

  explicit BertModel(BertReader given) : reader(std::move(given)) {}

  const std::vector<std::string>& labels() const override { return reader.model.options.labels; }
  bool several_labels() const override { return reader.model.options.several_labels; }

  /// Also fills the attention weights of the first token.
  void classify_with_attention(const Encoding& encoding, Classification& result) const {
    Probe probe;
    const Tensor states = reader.read(encoding, &probe);
    const Tensor logits = reader.model.label_texts(states, {encoding.size()});
    decide(probabilities(logits, several_labels()).data(), labels().size(), several_labels(), result);
    for (const std::int32_t id : encoding.ids) result.tokens.push_back(reader.tokenizer.token(id));
    result.spans = encoding.spans;
    result.attention = attention_from(probe, 0);
  }

  std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                       const Progress& progress) const override {
    const std::vector<BertWindow> windows = reader.windows(
        texts, {.max_tokens = options.max_tokens, .long_text = options.long_text, .pairs = options.pairs});
    std::vector<Classification> results(texts.size());
    for (const BertWindow& window : windows) {
      results[window.text].truncated = window.encoding.dropped;
      if (!options.attention) continue;
      classify_with_attention(window.encoding, results[window.text]);
      if (progress) progress(static_cast<std::int64_t>(window.text) + 1, std::ssize(texts));
    }
    if (options.attention) return results;
    reader.read(
        windows, options.batch_tokens ? options.batch_tokens : kBertBatchTokens,
        [&](const BertBatch& batch) {
          const Tensor all = probabilities(reader.model.label_texts(batch.states, batch.lengths), several_labels());
          for (std::size_t b = 0; b < batch.windows.size(); ++b)
            decide(all.data() + static_cast<std::int64_t>(b) * all.dim(1), labels().size(), several_labels(),
                   results[windows[batch.windows[b]].text]);
        },
        progress);
    return results;
  }

  AttentionMap attention_map(const std::string& text, const ClassifyOptions& options,
                             const AttentionSelection& selection) const override {
    return reader.attention_map(
        text, {.max_tokens = options.max_tokens, .long_text = options.long_text, .pairs = options.pairs}, selection);
  }
};

struct Gpt2Model : Classifier::Model {
  Gpt2 gpt2;
  Tokenizer tokenizer;

  Gpt2Model(Gpt2 model, const Tokenizer& tokens) : gpt2(std::move(model)), tokenizer(tokens) {}

  const std::vector<std::string>& labels() const override { return gpt2.options.labels; }
  bool several_labels() const override { return gpt2.options.several_labels; }

  std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                       const Progress& progress) const override {
    if (options.pairs) fail<InputError>("classifier", "GPT-2 takes single texts, not pairs");
    const std::int64_t positions = gpt2.options.positions;
    const std::vector<Encoding> encodings = tokenizer.encode_all(
        texts, {.max_tokens = options.max_tokens ? std::min(options.max_tokens, positions) : positions,
                .long_text = options.long_text});
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::int32_t> lengths;
    for (const Encoding& encoding : encodings) {
      ids.push_back(encoding.ids.empty() ? std::vector{gpt2.options.end} : encoding.ids);
      lengths.push_back(static_cast<std::int32_t>(ids.back().size()));
    }
    const std::int64_t tokens = options.batch_tokens ? options.batch_tokens : kBertBatchTokens;
    BatchSampler sampler(lengths, {.max_tokens = options.attention ? 1 : tokens, .shuffle = false});
    std::vector<Classification> results(texts.size());
    for (std::int64_t i = sampler.batches(); i > 0; --i) {
      const std::vector<std::int64_t> chosen = sampler.next();
      std::vector<std::span<const std::int32_t>> batch;
      for (const std::int64_t at : chosen) batch.emplace_back(ids[static_cast<std::size_t>(at)]);
      Probe probe;
      const Tensor all = probabilities(gpt2.label(batch, options.attention ? &probe : nullptr), several_labels());
      for (std::size_t b = 0; b < chosen.size(); ++b) {
        const auto at = static_cast<std::size_t>(chosen[b]);
        decide(all.data() + static_cast<std::int64_t>(b) * all.dim(1), labels().size(), several_labels(), results[at]);
        results[at].truncated = encodings[at].dropped;
        if (!options.attention) continue;
        for (const std::int32_t id : ids[at]) results[at].tokens.push_back(tokenizer.token(id));
        results[at].spans = encodings[at].spans;
        results[at].spans.resize(ids[at].size());
        results[at].attention = attention_from(probe, lengths[at] - 1);
      }
      if (progress) progress(sampler.batches() - i + 1, sampler.batches());
    }
    return results;
  }

  AttentionMap attention_map(const std::string& text, const ClassifyOptions& options,
                             const AttentionSelection& selection) const override {
    if (options.pairs) fail<InputError>("classifier", "GPT-2 takes single texts, not pairs");
    AttentionMap map = LanguageModel(gpt2, tokenizer).attention_map(text, {}, selection, options.long_text);
    map.logprobs.clear();  // a classifier does not predict tokens
    return map;
  }
};

std::shared_ptr<const Classifier::Model> load(const ModelFolder& folder) {
  // A folder without "architectures" may still have the weights of the head.
  if (folder.can(Ability::embed))
    return std::make_shared<BertModel>(BertReader(folder, BertHead::sequence_classification));
  const auto model = folder.model<attend::Model>("classifier", Ability::classify);
  if (const auto* gpt2 = dynamic_cast<const Gpt2*>(model.get()))
    return std::make_shared<Gpt2Model>(*gpt2, folder.tokenizer());
  return std::make_shared<RecurrentModel>(dynamic_cast<const RecurrentClassifier&>(*model), folder.tokenizer());
}

}  // namespace

Classifier::Classifier(const ModelFolder& folder) : model_(load(folder)) {}

const std::vector<std::string>& Classifier::labels() const { return model_->labels(); }
bool Classifier::several_labels() const { return model_->several_labels(); }

AttentionMap Classifier::attention_map(const std::string& text, const ClassifyOptions& options,
                                       const AttentionSelection& selection) const {
  const NoGrad no_grad;
  return model_->attention_map(text, options, selection);
}

std::vector<std::int32_t> ids_to_classify(const Tokenizer& tokenizer, std::vector<std::int32_t> ids) {
  if (ids.empty()) ids.push_back(tokenizer.special().unknown.value_or(0));
  return ids;
}

std::vector<Classification> Classifier::operator()(std::span<const std::string> texts, const ClassifyOptions& options,
                                                   const Progress& progress) const {
  const NoGrad no_grad;
  if (options.long_text == LongText::split)
    fail<InputError>("classifier", "long_text split is not supported: expected error or truncate");
  if (texts.empty()) return {};
  return model_->classify(texts, options, progress);
}

}  // namespace attend
