// What subword models make of a word.
#pragma once
#include <cstdint>

namespace attend {

/// A piece of a word: its id, and the bytes [begin, end) of the word that it stands for.
struct Piece {
  std::int32_t id;
  std::uint32_t begin, end;
  bool operator==(const Piece&) const = default;
};

}  // namespace attend
