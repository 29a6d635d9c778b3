// The interface of the classifiers that Attend trains from random weights or word vectors. It hides what kind of
// network it is from training and use: a network for texts, for pairs of texts, or for documents.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/models/bounds.h"
#include "attend/models/model.h"
#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"

namespace attend {

/// How a network divides its input.
enum class TextParts : std::uint8_t {
  whole,      ///< a text is one part
  pair,       ///< two texts
  sentences,  ///< the sentences of a document
};

/// A batch of texts.
struct ClassifierInput {
  Tensor ids;      ///< int32 [B, T], padded
  Tensor lengths;  ///< int32 [B], each at least 1
  /// int32 [B, T]: the part that each token belongs to: 0, then 1, …. Undefined: all tokens belong to part 0.
  Tensor parts = {};
};

class TextClassifier : public Model {
 public:
  /// -> [B, labels]. A probe records the attention weights; each network says how.
  virtual Tensor logits(const ClassifierInput& input, Probe* probe = nullptr) const = 0;

  virtual TextParts parts() const { return TextParts::whole; }
  /// Whether the network has attention weights for a probe.
  virtual bool attends() const { return true; }
  /// A longer part is divided; 0: no limit.
  virtual std::int64_t max_part_tokens() const { return 0; }
  /// The most tokens of a text, or of both texts of a pair; 0: no limit. It bounds the memory for one text, which grows
  /// with its length, and the time for a pair, which grows with the product of its lengths. Documents are read sentence
  /// by sentence.
  std::int64_t max_tokens() const {
    constexpr std::int64_t kText = 16384, kPair = 8192;
    return parts() == TextParts::whole ? kText : parts() == TextParts::pair ? kPair : 0;
  }
  /// The names of the classes.
  virtual const std::vector<std::string>& labels() const = 0;
  /// Gives the network another output layer for these labels, with random weights.
  virtual void set_labels(const std::vector<std::string>& labels, Generator& generator) = 0;
  virtual void set_dropout(float dropout) = 0;
  /// Makes every parameter a leaf of the tape.
  virtual void train_all() = 0;
  virtual Embedding& words() = 0;  ///< the vectors of the words
};

/// Implements TextClassifier for a struct with `options` (labels, dropout), `embedding`, `output` and a visit().
template <typename Self>
class TextClassifierOf : public ModelOf<Self, TextClassifier> {
 public:
  Config config() const override {
    Config config;
    self().options.write(config);
    return config;
  }
  const std::vector<std::string>& labels() const override { return self().options.labels; }
  void set_labels(const std::vector<std::string>& labels, Generator& generator) override {
    self().output = Linear(self().output.in(), std::ssize(labels), true, generator);
    self().options.labels = labels;
  }
  void set_dropout(float dropout) override { self().options.dropout = dropout; }
  void train_all() override { train_parameters(self()); }
  Embedding& words() override { return self().embedding; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// Reads and writes the options that all networks have.
template <typename Options>
void read_common(const Config& config, Options& o) {
  o.vocabulary = config.integer_in("vocab_size", 1, bounds::kVocabulary);
  o.labels = config.texts("labels");
  o.embedding = config.integer_in("embedding", 1, bounds::kWidth);
  o.hidden = config.integer_in("hidden", 1, bounds::kWidth);
  o.dropout = config.probability("dropout", 0.0);
}
template <typename Options>
void write_common(const char* type, const Options& o, Config& config) {
  config.set("model_type", type);
  config.set("vocab_size", o.vocabulary);
  config.set("labels", o.labels);
  config.set("embedding", o.embedding);
  config.set("hidden", o.hidden);
  config.set("dropout", o.dropout);
}

/// Throws InputError unless there are at least two labels.
void check_labels(const std::vector<std::string>& labels);

/// Sequences that were cut out of a batch: the parts of its texts.
struct PartBatch {
  Tensor ids;      ///< int32 [N, W], padded with 0
  Tensor lengths;  ///< int32 [N]
};
/// The first and the second texts of a batch of pairs. Throws Error if a text is not divided into two parts with at
/// least one token each.
struct PairBatch {
  PartBatch first, second;
};
PairBatch pairs_of(const char* op, const ClassifierInput& input);

/// Counts the words of each text of a pair that match, or do not match, the other text. Learned gates choose the words:
///   g_i = σ(W e_i + b)                      for word i with the vector e_i
///   m_i = (1, 1 - same_i, 1 - nearest_i)    same_i: 1 if the word occurs in the other text, else 0;
///                                           nearest_i: the largest cosine of e_i with the vectors of the other text
///   counts = Σ_i g_i m_iᵀ                   [gates, 3]
/// One gate may count negations that the other text lacks, another one nouns. The m_i have no gradient.
struct MatchCounts {
  Linear gate;  // [gates, embedding]

  MatchCounts() = default;
  MatchCounts(std::int64_t embedding, std::int64_t gates, Generator& generator) {
    if (gates > 0) gate = Linear(embedding, gates, true, generator);
  }
  /// The number of counts of a pair.
  static std::int64_t size(std::int64_t gates) { return 2 * 3 * gates; }
  /// Appends the counts of each pair to its features.   [N, F] -> [N, F + size]. Without gates, returns the features.
  Tensor append(const Tensor& features, const PairBatch& pair, const Embedding& words) const;
  void visit(auto&& v) { v("gate", gate); }
};

/// The sentences of all documents of a batch, in groups of similar length, so that there is little padding.
struct SentenceBatch {
  std::vector<PartBatch> groups;  ///< their rows, one group after the other, are the sentences
  Tensor rows;                    ///< int32 [B, S]: the row of each sentence of each document; 0 in padding
  Tensor counts;                  ///< int32 [B]: the number of sentences
};
/// With `grouped` = false, there is one group, and the rows are in the order of the texts.
SentenceBatch sentences_of(const char* op, const ClassifierInput& input, bool grouped);

}  // namespace attend
