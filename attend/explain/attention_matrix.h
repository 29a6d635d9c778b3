// One matrix of attention weights, chosen from the layers and heads of a map, between tokens or between words.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/explain/page.h"

namespace attend {

struct AttentionChoice {
  std::optional<AttentionKind> view = {};  ///< default: the map's main view
  std::optional<std::int64_t> layer = {};  ///< its number; negative: counted from the last; default: default_layer()
  std::optional<std::int64_t> head = {};   ///< its number; default: the mean of all heads
  bool average = false;                    ///< the mean of all layers; excludes `layer`
  bool rollout = false;                    ///< the roll-out of all layers; excludes the three above
  bool words = false;                      ///< words instead of tokens
  std::int64_t top_k = 0;                  ///< keep the k greatest weights of each row; 0: all
};

/// Weights [queries, keys] with a name such as "cross attention, layer 4, mean of 8 heads".
struct AttentionMatrix {
  std::string name;
  AttentionTokens queries, keys;
  std::vector<float> values;  ///< row by row
};

/// Throws InputError if the map does not have the chosen view, layer or head.
AttentionMatrix matrix_of(const AttentionMap& map, const AttentionChoice& choice = {});

/// True for self-attention: queries and keys are the same tokens. False where a text, its sentences or the hops of a
/// memory network attend, even if there are as many of them as keys.
bool is_self_attention(const AttentionView& view);

/// The place of default_layer() among the captured layers; the last place if that layer was not captured.
std::size_t default_place(const AttentionView& view);

/// Attention roll-out (Abnar & Zuidema 2020): how much of a token's information comes from each input token, through
/// all layers:
///   R_0 = I,  R_l = (½ A_l + ½ I) R_(l-1),  A_l the mean of layer l's heads.
/// Needs all layers of a view with self-attention; throws InputError otherwise.   -> [T, T], row by row
std::vector<float> attention_rollout(const AttentionView& view);
bool can_roll_out(const AttentionView& view);

/// Weights between words (Clark et al. 2019): those to a word are the sum over its tokens, those from a word are the
/// mean. Special tokens stay as they are.
AttentionMatrix by_words(const AttentionMatrix& matrix);

/// Sets all but the k greatest values of each row to zero. Of equal values, the first ones stay.
void keep_greatest(std::vector<float>& values, std::int64_t columns, std::int64_t k);

/// The label of a token: without the space before it; white space becomes visible signs (␣, ↵, ⇥).
std::string label_of(const std::string& shown_token);
/// The labels of all tokens.
std::vector<std::string> labels_of(const AttentionTokens& tokens);

/// One panel for each map, to be drawn by svg.h, png.h or terminal.h.
Figure figure_of(std::span<const AttentionMap> maps, const AttentionChoice& choice = {});

}  // namespace attend
