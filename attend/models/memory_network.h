// End-to-end memory networks (Sukhbaatar et al. 2015): a question is answered by attending several times ("hops") to
// the sentences of a story.
//
//   m_i = Σ_j l_j ∘ A x_ij + T_A(i)      input memory     (section 4.1: position and temporal encoding)
//   c_i = Σ_j l_j ∘ C x_ij + T_C(i)      output memory
//   u   = Σ_j l_j ∘ B q_j                the question
//   p   = softmax(uᵀ m_i)                eq. 1
//   o   = Σ_i p_i c_i                    eq. 2
//   u'  = u + o                          eq. 4, the next hop; H u + o with a matrix between hops (section 2.2)
//   answer = softmax(W u')               eq. 3
//
// One hop without temporal encoding is plain dot-product attention: query u, keys m, values c.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/probe.h"
#include "attend/formats/config.h"
#include "attend/models/model.h"
#include "attend/nn/linear.h"
#include "attend/ops/embedding_bag.h"

namespace attend {

/// How the hops share their embeddings (section 2.2).
enum class MemoryTying : std::uint8_t {
  adjacent,    ///< C of a hop is A of the next; B is A of the first hop, and W is C of the last
  layer_wise,  ///< all hops have the same A and C, as in a recurrent network; always with the hop matrix H
};
extern const std::vector<std::pair<std::string, MemoryTying>> kMemoryTyingNames;

/// How the words of a sentence are summed (section 4.1).
enum class SentenceEncoding : std::uint8_t {
  bag,       ///< bag of words: l_j = 1
  position,  ///< l_kj = (1 - j/J) - (k/D)(1 - 2j/J), with word j of J and dimension k of D
};
extern const std::vector<std::pair<std::string, SentenceEncoding>> kSentenceEncodingNames;

struct MemoryNetwork;

struct MemoryNetworkOptions {
  using Network = MemoryNetwork;

  std::int64_t vocabulary = 0;
  std::vector<std::string> answers = {};       ///< all answers that the model can give
  std::vector<std::int64_t> answer_rows = {};  ///< the embedding of each answer: a word, or a row behind all words
  std::int64_t width = 64;
  std::int64_t hops = 3;
  std::int64_t memory = 50;  ///< the number of sentences that the model sees, the last ones of a story
  MemoryTying tying = MemoryTying::adjacent;
  SentenceEncoding encoding = SentenceEncoding::position;
  bool temporal = true;     ///< temporal encoding: a vector for each distance of a sentence from the question
  bool nonlinear = false;   ///< ReLU on half of the units of u', except after the last hop (section 5); not if `linear`
  bool hop_matrix = false;  ///< u' = H u + o, with one H for all hops, which is at first the identity
  bool linear = false;      ///< without the softmax of eq. 1: linear start (section 4.1) of a training run; not saved
  float dropout = 0.f;      ///< on the memories and the question
  float deviation = 0.1f;   ///< the standard deviation of the initial embeddings

  static MemoryNetworkOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  double least_parameters() const;
  /// The number of rows of an embedding: words, and answers that are no words.
  std::int64_t rows() const;
};

/// Stories and a question about each. A sentence that occurs in several stories is embedded once.
struct StoryBatch {
  Tensor sentences;  ///< int32 [N, J]: the words of each different sentence; kNoWord behind the last word
  Tensor stories;    ///< int32 [B, S]: the sentences of each story, as rows of `sentences`; padded with any row
  Tensor times;      ///< int32 [B, S]: the time of each sentence; 0 is the last one before the question
  Tensor lengths;    ///< int32 [B]: the number of sentences of each story, at least 1
  Tensor questions;  ///< int32 [B, J']
};

/// A (or C) and T_A (or T_C): embeds sentences and their times.
struct MemoryEmbedding {
  Tensor words;  // [rows, width]
  Tensor times;  // [memory, width]; undefined without temporal encoding

  void visit(auto&& v) { v("words", words), v("times", times); }
};

struct MemoryNetwork : ModelOf<MemoryNetwork> {
  MemoryNetworkOptions options;
  std::vector<MemoryEmbedding> embeddings;  // adjacent: A of the first hop, then C of each hop; layer-wise: A and C
  Tensor question;                          // B [rows, width], layer-wise tying only
  Linear next;                              // H, with a hop matrix only
  Tensor output;                            // W [answers, width], layer-wise tying only

  MemoryNetwork() = default;
  explicit MemoryNetwork(const MemoryNetworkOptions& options, Generator& generator = default_generator());

  /// The logits of all answers.   -> [B, answers].  A probe records each hop as "hop.0", …: [B, 1, 1, S].
  Tensor operator()(const StoryBatch& batch, Probe* probe = nullptr) const;

  Config config() const override;
  /// Whether a matrix transforms the question between hops.
  bool has_hop_matrix() const { return options.hop_matrix || options.tying == MemoryTying::layer_wise; }

  void visit(auto&& v) { v("embeddings", embeddings), v("question", question), v("next", next), v("output", output); }

 private:
  /// The memories of all sentences.   -> [B, S, width]
  Tensor memories(const MemoryEmbedding& embedding, const StoryBatch& batch, const BagWeights& weights,
                  const Tensor& rows) const;
};

}  // namespace attend
