// A cache of encoded words. Words repeat, and a lookup takes a tenth of the time of encoding a word.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"

namespace attend {

/// For one model and one thread. It is cleared when it is full, and takes at most about 5 MB.
class WordCache {
 public:
  static constexpr std::size_t kLongestWord = 64;

  /// The tokens of a word of at most kLongestWord bytes. For a new word, cut(word, pieces) appends them. The result is
  /// valid until the next call.
  template <typename Cut>
  std::span<const Piece> find_or(std::string_view word, Cut cut) {
    if (slots_.empty()) slots_.resize(kSlots);
    const std::uint64_t hash = hash_of(word);
    for (std::size_t at = hash % kSlots;; at = (at + 1) % kSlots) {
      Slot& slot = slots_[at];
      if (slot.count == kFree) {
        if (++used_ > kSlots / 2 || pieces_.size() > kMostPieces) {
          clear();
          return find_or(word, cut);
        }
        const auto begin = static_cast<std::uint32_t>(pieces_.size());
        cut(word, pieces_);
        slot = {hash, static_cast<std::uint32_t>(words_.size()), begin, static_cast<std::uint32_t>(word.size()),
                static_cast<std::uint32_t>(pieces_.size()) - begin};
        words_ += word;
        return pieces(slot);
      }
      if (slot.hash == hash && std::string_view(words_).substr(slot.word, slot.size) == word) return pieces(slot);
    }
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t word = 0, piece = 0, size = 0, count = kFree;
  };
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  static constexpr std::size_t kSlots = 1 << 16, kMostPieces = 1 << 17;

  static std::uint64_t hash_of(std::string_view word);
  std::span<const Piece> pieces(const Slot& slot) const { return {pieces_.data() + slot.piece, slot.count}; }
  void clear();

  std::vector<Slot> slots_;
  std::string words_;
  std::vector<Piece> pieces_;
  std::size_t used_ = 0;
};

/// The cache of the calling thread for a model, which is identified by a unique number. A thread keeps a few caches.
WordCache& word_cache(std::uint64_t model);
std::uint64_t new_model_number();

}  // namespace attend
