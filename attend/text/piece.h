// A token of a word, as subword models return it.
#pragma once
#include <cstdint>

namespace attend {

/// A token: its id, and the bytes [begin, end) of the word that it covers.
struct Piece {
  std::int32_t id;
  std::uint32_t begin, end;
  bool operator==(const Piece&) const = default;
};

}  // namespace attend
