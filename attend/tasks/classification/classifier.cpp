#include "attend/tasks/classification/classifier.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/core/threads.h"
#include "attend/data/batches.h"
#include "attend/models/text_classifier.h"
#include "attend/nn/module.h"
#include "attend/ops/activation.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/classification/encode_parts.h"
#include "attend/tasks/encoder/bert_reader.h"
#include "attend/tasks/encoder/text_pair.h"
#include "attend/tasks/language_model/language_model.h"

namespace attend {

/// The interface of the classifiers below.
struct Classifier::Model {
  virtual ~Model() = default;
  virtual const std::vector<std::string>& labels() const = 0;
  virtual bool several_labels() const { return false; }
  virtual bool takes_pairs() const { return false; }
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

/// The attention weights of one text, from the records of a TextClassifier's probe, as rows over all tokens. There is a
/// row for each query: one for a whole text; one for each token of a pair, over the tokens of the other text; one for
/// each sentence of a document, and then one for the document, whose weights are those of the sentence times those of
/// the word.   -> [queries, T]
Tensor weight_rows(const Probe& probe, TextParts kind, std::span<const std::int32_t> parts) {
  const auto T = std::ssize(parts);
  const Tensor& first = probe.records().front().weights;
  const Tensor& second = probe.records().back().weights;
  switch (kind) {
    case TextParts::whole:
      return first.reshape({1, T});
    case TextParts::pair: {
      Tensor rows = Tensor::zeros({T, T});
      const std::int64_t A = first.dim(2), B = first.dim(3);
      for (std::int64_t i = 0; i < A; ++i) std::copy_n(first.data() + i * B, B, rows.data() + i * T + A);
      for (std::int64_t i = 0; i < B; ++i) std::copy_n(second.data() + i * A, A, rows.data() + (A + i) * T);
      return rows;
    }
    case TextParts::sentences:
      break;
  }
  const std::int64_t S = first.dim(0), W = first.dim(3);
  Tensor rows = Tensor::zeros({S + 1, T});
  std::int64_t word = 0;
  for (std::int64_t t = 0; t < T; ++t) {
    const std::int64_t s = parts[static_cast<std::size_t>(t)];
    word = t > 0 && parts[static_cast<std::size_t>(t - 1)] == s ? word + 1 : 0;
    const float weight = first.data()[s * W + word];
    rows.data()[s * T + t] = weight;
    rows.data()[S * T + t] = weight * second.data()[s];
  }
  return rows;
}

/// A network of models/text_classifier.h.
struct NetworkModel : Classifier::Model {
  std::shared_ptr<const TextClassifier> network;
  Tokenizer tokenizer;

  NetworkModel(std::shared_ptr<const TextClassifier> model, const Tokenizer& tokens)
      : network(std::move(model)), tokenizer(tokens) {}

  const std::vector<std::string>& labels() const override { return network->labels(); }
  bool takes_pairs() const override { return network->parts() == TextParts::pair; }

  Encoding encode(std::span<const std::string> texts, std::size_t i, const ClassifyOptions& options) const {
    const EncodeOptions limits{.max_tokens = options.max_tokens, .long_text = options.long_text};
    const std::string_view line = texts[i];
    if (!options.pairs && network->parts() != TextParts::pair)
      return encode_parts(tokenizer, *network, line, std::nullopt, limits);
    const TextPair pair = pair_of(texts, i);
    return encode_parts(tokenizer, *network, pair.first, pair.second, limits);
  }

  ClassifierInput input(const TokenBatch& batch, const std::vector<std::vector<std::int32_t>>& parts,
                        std::span<const std::int64_t> chosen) const {
    return {batch.ids, batch.lengths, network->parts() == TextParts::whole ? Tensor() : pad(parts, chosen, 0).ids};
  }

  std::vector<Classification> classify(std::span<const std::string> texts, const ClassifyOptions& options,
                                       const Progress& progress) const override {
    std::vector<Encoding> encodings(texts.size());
    parallel_tasks(std::ssize(texts), [&](std::int64_t i) {
      encodings[static_cast<std::size_t>(i)] = encode(texts, static_cast<std::size_t>(i), options);
    });
    std::vector<std::vector<std::int32_t>> ids, parts;
    std::vector<std::int32_t> lengths;
    for (Encoding& encoding : encodings) {
      ids.push_back(std::move(encoding.ids)), parts.push_back(std::move(encoding.types));
      lengths.push_back(static_cast<std::int32_t>(ids.back().size()));
    }
    const std::int32_t padding = tokenizer.special().padding.value_or(0);
    const bool attention = options.attention && network->attends();
    BatchSampler sampler(lengths, {.max_tokens = attention              ? 1
                                                 : options.batch_tokens ? options.batch_tokens
                                                                        : 8192,
                                   .shuffle = false});
    std::vector<Classification> results(texts.size());
    for (std::int64_t i = sampler.batches(); i > 0; --i) {
      const std::vector<std::int64_t> chosen = sampler.next();
      const TokenBatch batch = pad(ids, chosen, padding);
      Probe probe;
      const Tensor all =
          probabilities(network->logits(input(batch, parts, chosen), attention ? &probe : nullptr), false);
      for (std::size_t b = 0; b < chosen.size(); ++b) {
        const auto at = static_cast<std::size_t>(chosen[b]);
        Classification& result = results[at];
        decide(all.data() + static_cast<std::int64_t>(b) * all.dim(1), labels().size(), false, result);
        result.truncated = encodings[at].dropped;
        if (!options.attention) continue;
        for (const std::int32_t id : ids[at]) result.tokens.push_back(tokenizer.token(id));
        result.spans = encodings[at].spans;
        if (attention) explain(probe, parts[at], result);
      }
      if (progress) progress(sampler.batches() - i + 1, sampler.batches());
    }
    return results;
  }

  /// Fills the weights of a result, whose tokens and spans are there.
  void explain(const Probe& probe, const std::vector<std::int32_t>& parts, Classification& result) const {
    const auto T = std::ssize(result.tokens);
    const Tensor rows = weight_rows(probe, network->parts(), parts);
    const float* last = rows.data() + (rows.dim(0) - 1) * T;
    if (network->parts() != TextParts::pair) result.attention.assign(last, last + T);
    if (network->parts() == TextParts::sentences) {
      for (std::size_t t = 0; t < parts.size(); ++t) {
        if (t == 0 || parts[t] != parts[t - 1]) result.sentences.push_back({result.spans[t], 0});
        SentenceWeight& sentence = result.sentences.back();
        sentence.span.end = std::max(sentence.span.end, result.spans[t].end);
        sentence.weight += last[t];
      }
    }
    if (network->parts() != TextParts::pair) return;
    // The mean over the tokens of the other text.
    const auto A = std::ranges::count(parts, 0), B = T - A;
    result.attention.assign(static_cast<std::size_t>(T), 0);
    for (std::int64_t q = 0; q < T; ++q) {
      const float* row = rows.data() + q * T;
      for (std::int64_t k = 0; k < T; ++k)
        result.attention[static_cast<std::size_t>(k)] += row[k] / static_cast<float>(2 * (q < A ? A : B));
      result.aligned.push_back(static_cast<std::size_t>(std::max_element(row, row + T) - row));
      result.aligned_weights.push_back(row[result.aligned.back()]);
    }
  }

  AttentionMap attention_map(const std::string& text, const ClassifyOptions& options,
                             const AttentionSelection& selection) const override {
    if (!network->attends()) fail<InputError>("attention", "the model has no attention: it pools in another way");
    const Encoding encoding = encode(std::span(&text, 1), 0, options);
    if (std::ranges::all_of(encoding.special, [](std::uint8_t added) { return added != 0; }))
      fail<InputError>("attention", "the text is blank: it has no tokens");
    const std::int64_t T = encoding.size();
    Probe probe;
    const Tensor parts = network->parts() == TextParts::whole ? Tensor() : Tensor::ids(encoding.types, {1, T});
    network->logits({Tensor::ids(encoding.ids, {1, T}), Tensor::ids({static_cast<std::int32_t>(T)}, {1}), parts},
                    &probe);
    const Tensor rows = weight_rows(probe, network->parts(), encoding.types);

    AttentionMap map;
    map.kind = network->type(), map.text = text, map.truncated = encoding.dropped;
    AttentionView view{AttentionKind::self};
    view.keys = attention_tokens(tokenizer, encoding.ids, text, encoding.spans);
    if (network->parts() == TextParts::pair) {
      view.queries = view.keys;
    } else {
      const auto query = [&](const std::string& name) {
        view.queries.shown.push_back(name), view.queries.written.push_back(name), view.queries.words.push_back(-1);
      };
      for (std::int64_t s = 0; s + 1 < rows.dim(0); ++s) query("(sentence " + std::to_string(s + 1) + ")");
      query(network->parts() == TextParts::whole ? "(whole text)" : "(document)");
    }
    if (!prepare(view, 1, 1, selection, true)) fail<InputError>("attention", "the model has self-attention only");
    map.views.push_back(std::move(view));
    AttentionMap* const maps[] = {&map};
    keep({"layers.0", rows.reshape({1, 1, rows.dim(0), T})}, maps);
    return map;
  }
};

struct BertModel : Classifier::Model {
  BertReader reader;

  explicit BertModel(BertReader given) : reader(std::move(given)) {}

  const std::vector<std::string>& labels() const override { return reader.model.options.labels; }
  bool several_labels() const override { return reader.model.options.several_labels; }
  bool takes_pairs() const override { return true; }

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
  CausalLm gpt2;
  Tokenizer tokenizer;

  Gpt2Model(CausalLm model, const Tokenizer& tokens) : gpt2(std::move(model)), tokenizer(tokens) {}

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
      ids.push_back(encoding.ids.empty() ? std::vector{gpt2.options.end()} : encoding.ids);
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
  if (const auto* gpt2 = dynamic_cast<const CausalLm*>(model.get()))
    return std::make_shared<Gpt2Model>(*gpt2, folder.tokenizer());
  return std::make_shared<NetworkModel>(std::dynamic_pointer_cast<const TextClassifier>(model), folder.tokenizer());
}

}  // namespace

Classifier::Classifier(const ModelFolder& folder) : model_(load(folder)) {}

const std::vector<std::string>& Classifier::labels() const { return model_->labels(); }
bool Classifier::several_labels() const { return model_->several_labels(); }
bool Classifier::takes_pairs() const { return model_->takes_pairs(); }

AttentionMap Classifier::attention_map(const std::string& text, const ClassifyOptions& options,
                                       const AttentionSelection& selection) const {
  const NoGrad no_grad;
  return model_->attention_map(text, options, selection);
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
