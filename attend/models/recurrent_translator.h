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

/// The attention of the decoder over the encoder's states.
enum class DecoderAttention : std::uint8_t { none, additive, dot, general, location };
extern const std::vector<std::pair<std::string, DecoderAttention>> kDecoderAttentionNames;

struct RecurrentTranslator;

struct RecurrentTranslatorOptions {
  using Network = RecurrentTranslator;

  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t embedding = 256;
  std::int64_t hidden = 256;
  int encoder_layers = 1;
  int decoder_layers = 1;
  kernels::Cell cell = kernels::Cell::gru;
  bool bidirectional = true;  ///< the encoder reads in both directions
  DecoderAttention attention = DecoderAttention::additive;
  bool reverse_source = false;       ///< read the source backwards (Sutskever et al. 2014, section 3.3)
  std::int64_t max_positions = 128;  ///< the maximum length of a source with location attention
  float dropout = 0.2f;              ///< on the embeddings, between layers, and before the output layer
  bool deep_output = true;           ///< tanh(W [state, context, embedding]) before the output layer; false: the state
  bool tied_output = false;          ///< the output layer uses the weights of the target embedding; needs deep_output

  static RecurrentTranslatorOptions read(const Config& config);
  void write(Config& config) const;  ///< "model_type" included
  /// A lower bound of the number of parameters, by which the weights of a folder are checked before it is loaded.
  double least_parameters() const;
};

/// The output of the encoder. E is its width: hidden, or 2 · hidden if it is bidirectional.
struct EncodedSource {
  Tensor states;         ///< [B, S, E], the values of the attention
  Tensor keys;           ///< score.keys(states), computed once for all steps; undefined without attention
  Tensor lengths;        ///< int32 [B]
  RecurrentState start;  ///< the initial state of the decoder
};

/// The state of a batch of sequences during generation.
struct RecurrentDecodingState : GenerationState {
  EncodedSource source;
  RecurrentState state;
  std::vector<std::int64_t> lengths;  ///< of each sequence, in tokens that the decoder has read
  std::vector<std::int64_t> origins;  ///< the index of the source of each sequence

  std::int64_t rows() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t row) const override { return lengths[static_cast<std::size_t>(row)]; }
  void select(std::span<const std::int64_t> rows) override;
  void join(GenerationState&& other) override;
};

struct RecurrentTranslator : ModelOf<RecurrentTranslator>, Seq2SeqModel {
  RecurrentTranslatorOptions options;
  Embedding source_embedding, target_embedding;
  Recurrent encoder, decoder;
  std::vector<Linear> bridge;  // for each state of the decoder, a layer from the encoder's last state to its first one
  Score score;
  Linear readout;  // [embedding, hidden + E + embedding]; undefined without deep_output
  Linear output;   // [target_vocabulary, …]; with tied_output, only its bias is defined

  RecurrentTranslator() = default;
  explicit RecurrentTranslator(const RecurrentTranslatorOptions& options, Generator& generator = default_generator());

  /// Runs the encoder on ids int32 [B, S], or on features [B, S, embedding] that replace the token embeddings.
  /// lengths int32 [B].
  EncodedSource encode(const Tensor& ids, const Tensor& lengths) const;

  /// Teacher forcing: the logits of the token that follows each id.   ids int32 [B, T] -> [B, T, V]
  /// A probe records the layer "cross", [B, 1, T, S].
  Tensor decode(const EncodedSource& source, const Tensor& ids, Probe* probe = nullptr) const;

  /// One step of the decoder, which updates `state`.   ids int32 [B] -> logits [B, V] for the next token
  /// A probe records the layer "cross", [B, 1, 1, S].
  Tensor step(const EncodedSource& source, const Tensor& ids, RecurrentState& state, Probe* probe = nullptr) const;

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
  /// The context vector: the source states, weighted by attention.   query [B, 1, hidden] -> [B, 1, E]
  Tensor context_of(const EncodedSource& source, const Tensor& query, Probe* probe) const;
  /// The output layers.   state [..., hidden], context [..., E] or undefined, embedded [..., embedding] -> [..., V]
  Tensor project(const Tensor& state, const Tensor& context, const Tensor& embedded) const;
};

}  // namespace attend
