#include "attend/tasks/translation/carry_over.h"

#include <algorithm>

#include "attend/core/error.h"

namespace attend {

PieceMap map_pieces(const Tokenizer& from, const Tokenizer& to) {
  PieceMap pieces(static_cast<std::size_t>(to.size()), -1);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = to.token(static_cast<std::int32_t>(i));
    if (!piece.empty()) pieces[i] = from.id(piece).value_or(-1);
  }
  const SpecialTokens &old_special = from.special(), &new_special = to.special();
  for (const auto token : {&SpecialTokens::eos, &SpecialTokens::padding, &SpecialTokens::unknown})
    if (const auto& id = new_special.*token; id && old_special.*token)
      pieces.at(static_cast<std::size_t>(*id)) = *(old_special.*token);
  return pieces;
}

std::int64_t shared_pieces(const PieceMap& pieces) {
  return std::ranges::count_if(pieces, [](std::int64_t old) { return old >= 0; });
}

void carry_over(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to,
                const std::map<std::string, PieceMap>& by_piece) {
  for (const NamedTensor& target : to) {
    const auto source = std::ranges::find(from, target.name, &NamedTensor::name);
    if (source == from.end()) fail("carry_over", "the old model has no ", target.name);
    const auto pieces = by_piece.find(target.name);
    if (pieces == by_piece.end()) {
      if (source->tensor.shape() != target.tensor.shape())
        fail("carry_over", target.name, " has the shape ", source->tensor.shape(), " in the old model, and ",
             target.tensor.shape(), " in the new one");
      std::ranges::copy(source->tensor.span(), target.tensor.data());
      continue;
    }
    const auto V = static_cast<std::int64_t>(pieces->second.size());
    const std::int64_t width = V > 0 ? target.tensor.numel() / V : 0;
    const std::int64_t old_rows = width > 0 ? source->tensor.numel() / width : 0;
    for (std::int64_t i = 0; i < V; ++i) {
      const std::int64_t old = pieces->second[static_cast<std::size_t>(i)];
      if (old < 0) continue;
      if (old >= old_rows || V * width != target.tensor.numel())
        fail("carry_over", target.name, " does not fit the vocabularies: got ", source->tensor.shape(), " and ",
             target.tensor.shape(), " for ", V, " pieces");
      std::copy_n(source->tensor.data() + old * width, width, target.tensor.data() + i * width);
    }
  }
}

}  // namespace attend
