// Hierarchical attention (Yang et al. 2016): classifies documents of any length. A network reads the words of each
// sentence, and attention pools them into a vector; a second network reads these vectors, and attention pools them into
// one vector of the document. The networks are GRUs, as in the paper, or small Transformers.
#pragma once
#include <string>
#include <vector>

#include "attend/models/block.h"
#include "attend/models/text_classifier.h"
#include "attend/nn/recurrent.h"

namespace attend {

struct HierarchicalClassifier;

struct HierarchicalClassifierOptions {
  using Network = HierarchicalClassifier;

  std::int64_t vocabulary = 0;
  std::vector<std::string> labels = {};
  std::int64_t embedding = 100;
  std::int64_t hidden = 64;     ///< of each direction of a GRU; a Transformer has twice this width
  bool transformer = false;     ///< Transformers instead of GRUs
  std::int64_t layers = 1;      ///< of each Transformer
  std::int64_t heads = 4;       ///< of each Transformer
  std::int64_t max_words = 64;  ///< a longer sentence is divided
  float dropout = 0.3f;         ///< on the embeddings, on the vectors of sentences and documents, in Transformers

  static HierarchicalClassifierOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
};

/// One level: reads a sequence of vectors, and pools it by attention with a learned query (eq. 5 to 7).
struct AttentiveReader {
  Gru recurrent;  // either this
  Linear input;   // or these: [width, in], and the blocks behind it
  TransformerStack stack;
  Linear key;
  Tensor query;  // [1, width]: the context vector u

  /// `in`: the width of the vectors.
  AttentiveReader() = default;
  AttentiveReader(std::int64_t in, const HierarchicalClassifierOptions& options, Generator& generator);

  /// x [N, T, in], lengths int32 [N] -> [N, width]. A probe records the weights, [N, 1, 1, T].
  Tensor operator()(const Tensor& x, const Tensor& lengths, Probe* probe) const;

  void visit(auto&& v) {
    v("recurrent", recurrent), v("input", input), v("layers", stack.blocks), v("norm", stack.final_norm);
    v("key", key), v("query", query);
  }
};

struct HierarchicalClassifier : TextClassifierOf<HierarchicalClassifier> {
  HierarchicalClassifierOptions options;
  Embedding embedding;
  AttentiveReader words_reader, sentences_reader;
  Linear output;

  HierarchicalClassifier() = default;
  explicit HierarchicalClassifier(const HierarchicalClassifierOptions& options,
                                  Generator& generator = default_generator());

  TextParts parts() const override { return TextParts::sentences; }
  std::int64_t max_part_tokens() const override { return options.max_words; }
  void set_dropout(float dropout) override;
  /// A probe records the layers "words" [N, 1, 1, W], the weights of each sentence of the batch over its words, and
  /// "sentences" [B, 1, 1, S].
  Tensor logits(const ClassifierInput& input, Probe* probe = nullptr) const override;

  void visit(auto&& v) {
    v("embedding", embedding), v("words", words_reader), v("sentences", sentences_reader), v("output", output);
  }
};

}  // namespace attend
