// What a trained model knows, in a model with another vocabulary: the parameters of pieces that both vocabularies have
// are carried over, those of new pieces stay as they were initialised, and all other parameters are copied.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attend/formats/safetensors.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// For each id of the new vocabulary, the id of the same piece in the old one; -1 where there is none. Special tokens
/// (end of sentence, padding, unknown) correspond by what they mean, however they are written.
using PieceMap = std::vector<std::int64_t>;
PieceMap map_pieces(const Tokenizer& from, const Tokenizer& to);

/// How many pieces have an old id.
std::int64_t shared_pieces(const PieceMap& pieces);

/// Copies parameters by their names. Those in `by_piece` have a row for each piece of a vocabulary: [V, …], or a vector
/// or row of V numbers. Throws Error when a parameter is missing, or its shape does not fit.
void carry_over(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to,
                const std::map<std::string, PieceMap>& by_piece);

}  // namespace attend
