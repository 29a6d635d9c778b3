// Copies the parameters of a trained model to a model with another vocabulary. Rows of tokens that both vocabularies
// have are copied; rows of new tokens keep their initial values; all other parameters are copied.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attend/formats/safetensors.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// For each id of the new vocabulary, the id of the same token in the old one; -1 if there is none. Special tokens (end
/// of sentence, padding, unknown) are matched by their role, not by their text.
using PieceMap = std::vector<std::int64_t>;
PieceMap map_pieces(const Tokenizer& from, const Tokenizer& to);

/// The number of tokens that have an id in the old vocabulary.
std::int64_t shared_pieces(const PieceMap& pieces);

/// Copies parameters by name. Those in `by_piece` have a row for each token of a vocabulary: [V, …], [V] or [1, V].
/// Throws Error if a parameter is missing or has another shape.
void carry_over(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to,
                const std::map<std::string, PieceMap>& by_piece);

}  // namespace attend
