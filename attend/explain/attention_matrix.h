// What a picture of attention shows: one matrix out of a map's layers and heads, by tokens or by words.
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
  std::optional<AttentionKind> view = {};  ///< otherwise the map's main one
  std::optional<std::int64_t> layer = {};  ///< by number, negative: from the last; otherwise default_layer()
  std::optional<std::int64_t> head = {};   ///< otherwise the mean of all
  bool average = false;                    ///< over all layers; excludes `layer`
  bool rollout = false;                    ///< through all layers; excludes the three above
  bool words = false;                      ///< words instead of tokens
  std::int64_t top_k = 0;                  ///< of each row only the greatest; 0: all
};

/// Weights [queries, keys] under a name: "cross attention, layer 4, mean of 8 heads".
struct AttentionMatrix {
  std::string name;
  AttentionTokens queries, keys;
  std::vector<float> values;  ///< row by row
};

/// Throws InputError when the map lacks what was chosen.
AttentionMatrix matrix_of(const AttentionMap& map, const AttentionChoice& choice = {});

/// Whether the queries are the keys: the tokens of one text, which look at each other and have neighbours.
bool looks_at_itself(const AttentionView& view);

/// The place, among the layers that were captured, of the one to show when none is chosen.
std::size_t default_place(const AttentionView& view);

/// How much of each token's information comes from which other when layers are taken together (Abnar & Zuidema 2020):
///   R_0 = I,  R_l = (½ A_l + ½ I) R_(l-1),  A_l the mean of layer l's heads.
/// Needs all layers of a view that looks at itself; throws InputError otherwise.   -> [T, T], row by row
std::vector<float> attention_rollout(const AttentionView& view);
bool can_roll_out(const AttentionView& view);

/// Rows and columns of one word together: what goes to a word is the sum over its tokens, what comes from it their mean
/// (Clark et al. 2019). Special tokens stay by themselves.
AttentionMatrix by_words(const AttentionMatrix& matrix);

/// Sets all but the k greatest of each row of `columns` to zero; of equal ones the first stay.
void keep_greatest(std::vector<float>& values, std::int64_t columns, std::int64_t k);

/// A token as a picture writes it: without the space before it, white space alone by a sign (␣, ↵, ⇥).
std::string label_of(const std::string& shown_token);
/// All of them.
std::vector<std::string> labels_of(const AttentionTokens& tokens);

/// A panel for each map, for svg.h, png.h and terminal.h.
Figure figure_of(std::span<const AttentionMap> maps, const AttentionChoice& choice = {});

}  // namespace attend
