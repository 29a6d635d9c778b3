// Attention that was captured, as plain data: who looked at whom, in every layer and head, with the tokens as people
// read them. Models fill it through a Probe (see tasks/attention/attention_reader.h); explain/ draws it and writes it.
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

/// Whose queries look at whose keys.
enum class AttentionKind : std::uint8_t {
  self,     ///< of a model with one text: its tokens at each other
  encoder,  ///< of a translator: the source at itself
  decoder,  ///< the translation at itself
  cross,    ///< the translation at the source
};
inline const std::vector<std::pair<std::string, AttentionKind>> kAttentionKindNames = {
    {"self", AttentionKind::self},
    {"encoder", AttentionKind::encoder},
    {"decoder", AttentionKind::decoder},
    {"cross", AttentionKind::cross}};
const std::string& name_of(AttentionKind kind);

/// One side of a view. All vectors have one element a token.
struct AttentionTokens {
  std::vector<std::string> shown;    ///< as people read them: " hello", "##ing", "[SEP]"
  std::vector<std::string> written;  ///< as the vocabulary has them: "Ġhello", "▁hello"
  std::vector<std::int32_t> words;   ///< which word of the text, as white space cuts it; -1 for what stands for none

  std::int64_t size() const { return std::ssize(shown); }
};

/// One kind of a model's attention.
struct AttentionView {
  AttentionKind kind = AttentionKind::self;
  bool causal = false;                      ///< no query sees what comes after it
  AttentionTokens queries = {}, keys = {};  ///< of a cross view, the queries are the tokens that were being said
  std::vector<std::int64_t> layers = {};    ///< the numbers of those that were captured, from 0
  std::vector<std::int64_t> heads = {};     ///< and of their heads
  std::vector<Tensor> weights = {};         ///< of each layer, [heads, queries, keys]; rows sum to 1, or are zero
};

/// One text through one model.
struct AttentionMap {
  std::string kind;  ///< of model: config.json's model_type
  std::string text;  ///< what was given; of a pair with the tab
  std::vector<AttentionView> views;
  std::size_t main = 0;                                         ///< the view that is meant when none is named
  std::int64_t truncated = 0;                                   ///< tokens of the text that the model did not see
  std::optional<std::string> translation;                       ///< of translators
  std::optional<double> score;                                  ///< of the translation, unless it was given
  std::optional<std::string> generated_text;                    ///< of language models that wrote something
  std::int64_t generated = 0;                                   ///< how many of the tokens they wrote
  std::vector<std::pair<std::size_t, std::size_t>> alignments;  ///< of translators: source word, target word
  std::vector<double> logprobs;  ///< of language models, all layers: ln p of each token; NaN for the first

  /// Throws InputError when there is no such view.
  const AttentionView& view(std::optional<AttentionKind> kind = {}) const;
};

/// What is wanted of a model's attention. Empty: all.
struct AttentionSelection {
  std::vector<AttentionKind> views = {};
  std::vector<std::int64_t> layers = {};  ///< negative: from the last; views without them are left out
  std::vector<std::int64_t> heads = {};
  bool one_layer = false;  ///< where `layers` names none: only the default one

  bool wants(AttentionKind kind) const;
};

/// The layer to show when none is named: the last; of more than four that look at a source the last but one, since deep
/// decoders think of the next word in their last.
std::int64_t default_layer(AttentionKind kind, std::int64_t layers);

/// Fills in which layers and heads of a view with so many are captured, and makes room for them. False when the
/// selection wants nothing of this view; if the view is `needed` (the model's main one, or named), throws InputError
/// for a layer or head that it lacks.
bool prepare(AttentionView& view, std::int64_t layers, std::int64_t heads, const AttentionSelection& selection,
             bool needed);

/// What the name of a record says: "encoder.3.self", "layers.3", "cross".
struct AttentionPlace {
  AttentionKind kind = AttentionKind::self;
  std::int64_t layer = 0;
};
AttentionPlace place_of(std::string_view record);

/// Copies what a probe recorded to where it belongs: of row b the layer and heads that maps[b] has room for. Rows
/// without a map (null) are passed over; what lies beyond a map's tokens is padding.
void keep(const Probe::Record& record, std::span<AttentionMap* const> maps);

}  // namespace attend
