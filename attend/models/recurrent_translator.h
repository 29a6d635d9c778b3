// Recurrent sequence-to-sequence translation: without attention (Sutskever et al. 2014, Cho et al. 2014), and with it
// (Bahdanau et al. 2015; Luong et al. 2015 for the other scores).
#pragma once
#include <cstdint>
#include <vector>

#include "attend/attention/pooling.h"
#include "attend/formats/config.h"
#include "attend/models/model.h"
#include "attend/models/seq2seq_model.h"
#include "attend/nn/embedding.h"
#include "attend/nn/recurrent.h"

namespace attend {

/// How the decoder looks at the source.
enum class DecoderAttention : std::uint8_t { none, additive, dot, general, location };
extern const std::vector<std::pair<std::string, DecoderAttention>> kDecoderAttentionNames;

struct RecurrentTranslatorOptions {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t embedding = 256;
  std::int64_t hidden = 256;
  int encoder_layers = 1;
  int decoder_layers = 1;
  kernels::Cell cell = kernels::Cell::gru;
  bool bidirectional = true;  ///< the encoder; the decoder cannot know what it has not said
  DecoderAttention attention = DecoderAttention::additive;
  bool reverse_source = false;       ///< read the source backwards: the old trick to bring first words close together
  std::int64_t max_positions = 128;  ///< source tokens that location attention can tell apart
  float dropout = 0.2f;              ///< of embeddings, between layers, and of the readout
  bool deep_output = true;           ///< tanh(W [state, context, word]) before the vocabulary; off: the state alone
  bool tied_output = false;          ///< the readout multiplies with the target's embeddings; needs deep_output

  static RecurrentTranslatorOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
};

/// A source, read: what every step of the decoder looks at.
struct EncodedSource {
  Tensor states;         ///< [B, S, E]: the values
  Tensor keys;           ///< what the score made of the states, once a sentence; undefined without attention
  Tensor lengths;        ///< int32 [B]
  RecurrentState start;  ///< the decoder's first state
};

/// Sequences in the middle of their generation.
struct RecurrentDecodingState : GenerationState {
  EncodedSource source;
  RecurrentState state;
  std::vector<std::int64_t> lengths;  ///< of each row, in tokens that the decoder has read
  std::vector<std::int64_t> origins;  ///< which source each row has; neighbours share the number

  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

struct RecurrentTranslator : ModelOf<RecurrentTranslator>, Seq2SeqModel {
  RecurrentTranslatorOptions options;
  Embedding source_embedding, target_embedding;
  Recurrent encoder, decoder;
  std::vector<Linear> bridge;  // one for each state of the decoder: encoder's last state -> decoder's first
  Score score;
  Linear readout;  // [embedding, hidden + E + embedding], or undefined
  Linear output;   // [target_vocabulary, …]; tied: a bias alone, and the target embedding's weight

  RecurrentTranslator() = default;
  explicit RecurrentTranslator(const RecurrentTranslatorOptions& options, Generator& generator = default_generator());

  /// ids int32 [B, S] or features [B, S, embedding] in place of the tokens' embeddings, lengths int32 [B].
  EncodedSource encode(const Tensor& ids, const Tensor& lengths) const;

  /// Teacher forcing: what the decoder says after each of these words.   words int32 [B, T] -> logits [B, T, V]
  /// A probe gets layer "cross", [B, 1, T, S].
  Tensor decode(const EncodedSource& source, const Tensor& words, Probe* probe = nullptr) const;

  /// One step of decoding: after the words int32 [B], which sentences say next. The state goes in and comes out.
  ///   -> logits [B, V];  a probe gets layer "cross", [B, 1, 1, S]
  Tensor step(const EncodedSource& source, const Tensor& words, RecurrentState& state, Probe* probe = nullptr) const;

  Seq2SeqSpec spec() const override;
  Tensor logits(const Tensor& sources, const Tensor& lengths, const Tensor& ids) const override;
  void record_attention(const Tensor& sources, const Tensor& lengths, const Tensor& ids, Probe& probe) const override;

  std::int64_t vocabulary() const override { return options.target_vocabulary; }
  std::int64_t max_positions() const override { return 0; }
  SequenceBytes sequence_bytes() const override {
    // The states of the layers with an LSTM's cells; of each source token, its state (of both directions) and its key.
    return {.each = options.decoder_layers * 2 * options.hidden * std::int64_t{sizeof(float)},
            .token = 3 * options.hidden * std::int64_t{sizeof(float)}};
  }
  StartedGeneration start(std::span<const GenerationInput> inputs) const override;
  Tensor step(const Tensor& ids, GenerationState& state) const override;

  Config config() const override;

  void visit(auto&& v) {
    v("source_embedding", source_embedding), v("target_embedding", target_embedding);
    v("encoder", encoder), v("decoder", decoder), v("bridge", bridge), v("score", score);
    v("readout", readout), v("output", output);
  }

 private:
  std::int64_t source_width() const { return options.hidden * (options.bidirectional ? 2 : 1); }
  /// [B, 1, hidden] -> [B, 1, E]
  Tensor look(const EncodedSource& source, const Tensor& query, Probe* probe) const;
  /// What state, context and word together say.   [..., hidden], [..., E], [..., embedding] -> logits [..., V]
  Tensor say(const Tensor& state, const Tensor& context, const Tensor& word) const;
};

}  // namespace attend
