// Recorded attention as plain data: the attention weights of every layer and head, with the tokens in readable form.
// Models fill it through a Probe (see tasks/attention/attention_reader.h); explain/ draws and exports it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/attention/probe.h"

namespace attend {

/// Which tokens are the queries and which are the keys.
enum class AttentionKind : std::uint8_t {
  self,                 ///< self-attention of an encoder-only or decoder-only model
  encoder,              ///< self-attention of the encoder of an encoder-decoder: source to source
  decoder,              ///< self-attention of its decoder: target to target
  cross,                ///< cross-attention of its decoder: target (queries) to source (keys)
  memory,               ///< the hops of a memory network (queries) to the sentences of a story (keys)
  context_to_question,  ///< the words of a text (queries) to those of a question (keys)
  question_to_context,  ///< a question as a whole (query) to the words of a text (keys)
};
inline const std::vector<std::pair<std::string, AttentionKind>> kAttentionKindNames = {
    {"self", AttentionKind::self},
    {"encoder", AttentionKind::encoder},
    {"decoder", AttentionKind::decoder},
    {"cross", AttentionKind::cross},
    {"memory", AttentionKind::memory},
    {"context-to-question", AttentionKind::context_to_question},
    {"question-to-context", AttentionKind::question_to_context}};
const std::string& name_of(AttentionKind kind);
/// Whether queries and keys are of the same text.
bool within_one_text(AttentionKind kind);

/// The tokens of the queries or keys of a view. All vectors have one element for each token.
struct AttentionTokens {
  std::vector<std::string> shown;    ///< in readable form: " hello", "##ing", "[SEP]"
  std::vector<std::string> written;  ///< as in the vocabulary: "Ġhello", "▁hello"
  std::vector<std::int32_t> words;   ///< index of the whitespace-separated word of the text; -1: belongs to no word

  std::int64_t size() const { return std::ssize(shown); }
};

/// The weights of one kind of attention of a model.
struct AttentionView {
  AttentionKind kind = AttentionKind::self;
  bool causal = false;                      ///< queries do not attend to later tokens
  AttentionTokens queries = {}, keys = {};  ///< in a cross view, the queries are the tokens being predicted
  std::vector<std::int64_t> layers = {};    ///< indices of the recorded layers, from 0
  std::vector<std::int64_t> heads = {};     ///< indices of the recorded heads
  std::vector<Tensor> weights = {};         ///< [heads, queries, keys] for each layer; a row sums to 1, or is zero
};

/// The recorded attention of one model on one text.
struct AttentionMap {
  std::string kind;  ///< model_type of config.json
  std::string text;  ///< the input; a pair of texts is separated by a tab
  std::vector<AttentionView> views;
  std::size_t main = 0;                                         ///< index of the default view
  std::int64_t truncated = 0;                                   ///< number of tokens that were cut off
  std::optional<std::string> translation;                       ///< translators only
  std::optional<double> score;                                  ///< score of the translation, if the model generated it
  std::optional<std::string> generated_text;                    ///< language models only, if text was generated
  std::int64_t generated = 0;                                   ///< number of generated tokens
  std::vector<std::pair<std::size_t, std::size_t>> alignments;  ///< translators only: source word, target word
  std::vector<double> logprobs;  ///< language models only: ln p of each token; NaN for the first

  /// The view of the given kind, or the default view. Throws InputError if there is none.
  const AttentionView& view(std::optional<AttentionKind> kind = {}) const;
};

/// Selects a part of a model's attention. An empty list selects everything.
struct AttentionSelection {
  std::vector<AttentionKind> views = {};
  std::vector<std::int64_t> layers = {};  ///< negative: from the last; views without these layers are skipped
  std::vector<std::int64_t> heads = {};
  bool one_layer = false;  ///< if `layers` is empty: only the default layer

  bool wants(AttentionKind kind) const;
};

/// The layer to show by default: the last one. For cross-attention with more than four layers, the second to last,
/// because in deep decoders the last layer is less aligned with the source.
std::int64_t default_layer(AttentionKind kind, std::int64_t layers);

/// Sets the layers and heads of a view that are to be recorded, and allocates `weights`. Returns false if the selection
/// does not include this view. Throws InputError for a layer or head that does not exist, if the view is `needed` (the
/// model's main view) or selected by name.
bool prepare(AttentionView& view, std::int64_t layers, std::int64_t heads, const AttentionSelection& selection,
             bool needed);

/// The kind and layer that the name of a record stands for: "encoder.3.self", "layers.3", "cross",
/// "context_to_question".
struct AttentionPlace {
  AttentionKind kind = AttentionKind::self;
  std::int64_t layer = 0;
};
AttentionPlace place_of(std::string_view record);

/// Copies recorded weights to the maps: those of sequence b to maps[b], if that map includes the layer. A null map is
/// skipped. Weights beyond the number of a map's tokens belong to padding and are not copied.
/// Throws ModelError if the weights are not finite, or if those of a token are all zero.
void keep(const Probe::Record& record, std::span<AttentionMap* const> maps);

}  // namespace attend
