// BiDAF, bidirectional attention flow (Seo et al. 2017): points at the answer to a question in a text. Words are known
// by their vectors and by their spelling. Each word of the text attends to the question, the question attends to the
// text, and recurrent layers read the result.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "attend/models/span_model.h"
#include "attend/nn/linear.h"
#include "attend/nn/recurrent.h"

namespace attend {

struct Bidaf;

struct BidafOptions {
  using Network = Bidaf;

  std::int64_t vocabulary = 0;
  std::int64_t embedding = 100;      ///< width of the word vectors
  std::int64_t hidden = 100;         ///< d: each direction of the recurrent layers
  std::int64_t word_bytes = 16;      ///< how much of a word's spelling is read; 0: the spelling is not read
  std::int64_t byte_embedding = 16;  ///< width of the vectors of the bytes
  std::int64_t filters = 100;        ///< of the convolution over the spelling
  std::int64_t filter_width = 5;     ///< in bytes
  /// Adds to each word whether the other text has it, too: the same word, the same in lower case, and a word with the
  /// same beginning (Chen et al. 2017, section 3.2). The last two need the spelling. Words that match are also more
  /// similar in the attention, so that it is aligned before the network has learned what is similar.
  bool match = false;
  /// How `match` works. 2: the lower case of Unicode; a beginning is common if it has at least four letters and half of
  /// the longer word. Each word of the text also knows how close it is to words that match the question's. 1, the
  /// version of folders that have none: the lower case of ASCII, the first five bytes, and no closeness.
  std::int64_t match_version = 2;
  /// Adds to the logits a bilinear form of the word and a summary of the question (Chen et al. 2017, section 3.2).
  bool summary = false;
  float dropout = 0.2f;  ///< on the inputs of the recurrent and last layers, and on the vectors of the bytes

  static BidafOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
  std::int64_t word_width() const { return embedding + (word_bytes > 0 ? filters : 0); }
  std::int64_t match_features() const { return !match ? 0 : word_bytes > 0 ? 3 : 1; }
  std::int64_t closeness_features() const { return match && match_version > 1 ? 2 : 0; }
};

/// y = g ∘ relu(W x + b) + (1 - g) ∘ x with g = σ(V x + c) (Srivastava et al. 2015).   [..., D] -> [..., D]
struct Highway {
  Linear transform, gate;

  Highway() = default;
  /// At first, most of x is carried over.
  Highway(std::int64_t width, Generator& generator);
  Tensor operator()(const Tensor& x) const;
  void visit(auto&& v) { v("transform", transform), v("gate", gate); }
};

struct Bidaf : ModelOf<Bidaf, SpanModel> {
  BidafOptions options;
  Embedding embedding;
  Embedding bytes;  // [257, byte_embedding]: row 0 is the border of a word
  Linear filters;   // [filter_width · filters, byte_embedding], the convolution: W_k of each place k of the window
  Tensor filters_bias;
  std::vector<Highway> highway;
  Lstm contextual;                        // reads the question and the text
  Linear text_similarity;                 // [1, 2·d]: the parts of w in α(h, u) = w · [h; u; h ∘ u]
  Linear question_similarity;             // [1, 2·d]
  Tensor product_similarity;              // [2·d]
  Tensor match_similarity;                // [features, 1]: added to α where the words match; undefined without `match`
  Linear importance;                      // [1, 2·d]: how much closeness to each word of the question counts
  Lstm modelling, end_modelling;          //
  Linear start, end;                      // [1, 10·d, and the features of closeness]
  Linear summary;                         // [1, 2·d]: the weights of the words of the question; only with `summary`
  Linear question_start, question_end;    // [2·d, 2·d]; only with `summary`
  Tensor no_answer = Tensor::zeros({2});  // the logits of "no answer" in both softmaxes (Levy et al. 2017)

  Bidaf() = default;
  /// Throws InputError if a size does not fit the others.
  explicit Bidaf(const BidafOptions& options, Generator& generator = default_generator());

  /// A probe records the layers "context_to_question" [B, 1, T, J], the weights of each word of the text over the words
  /// of the question, and "question_to_context" [B, 1, 1, T], those of the question over the words of the text.
  SpanLogits find_spans(const SpanInput& input, Probe* probe = nullptr) const override;
  std::int64_t word_bytes() const override { return options.word_bytes; }
  void set_dropout(float dropout) override;
  void train_all() override { train_parameters(*this); }
  Embedding& words() override { return embedding; }

  Config config() const override;

  void visit(auto&& v) {
    v("embedding", embedding), v("bytes", bytes), v("filters", filters), v("filters_bias", filters_bias);
    v("highway", highway), v("contextual", contextual), v("text_similarity", text_similarity);
    v("question_similarity", question_similarity), v("product_similarity", product_similarity);
    v("match_similarity", match_similarity), v("importance", importance);
    v("modelling", modelling), v("end_modelling", end_modelling), v("start", start), v("end", end);
    v("summary", summary), v("question_start", question_start), v("question_end", question_end);
    v("no_answer", no_answer);
  }
};

}  // namespace attend
