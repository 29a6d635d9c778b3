// Byte-pair encoding: a word begins as its characters (or bytes), and the adjacent pair that was merged first in
// training is merged first, until none is left. Without merges: a model of characters.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/piece.h"
#include "attend/text/vocabulary.h"

namespace attend {

struct BpeOptions {
  std::optional<std::string> unk_token{};   ///< for characters not in the vocabulary; none: they vanish
  std::string continuing_subword_prefix{};  ///< begins every piece that does not begin a word
  std::string end_of_word_suffix{};         ///< ends every piece that ends a word
  bool fuse_unk = false;                    ///< neighbouring unknown characters are one token
  bool byte_fallback = false;               ///< an unknown character is its bytes: <0x61>
  bool ignore_merges = false;               ///< a word that is in the vocabulary is not cut, whatever the merges say
};

/// Two ids that become one: that of their tokens joined.
struct BpeMerge {
  std::int32_t left, right;
  bool operator==(const BpeMerge&) const = default;
};

/// The ids of "<0x00>" … "<0xFF>"; -1 where the vocabulary has none.
std::array<std::int32_t, 256> byte_fallback_ids(const Vocabulary& vocabulary);

class Bpe {
 public:
  Bpe() = default;
  /// Merges in the order of training. Throws InputError where a merge gives a token that is not in the vocabulary.
  Bpe(Vocabulary vocabulary, std::vector<BpeMerge> merges, BpeOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<BpeMerge>& merges() const { return merges_; }
  const BpeOptions& options() const { return options_; }

  void encode(std::string_view word, std::vector<Piece>& pieces) const;
  /// The same where each byte of the word stands for its letter of the byte alphabet (byte_level.h).
  void encode_bytes(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  /// A piece while merging: bytes of the word, and whether it is still there.
  struct Symbol {
    std::int32_t id;
    std::uint32_t size;
  };
  /// What a pair becomes, and how early; rank kNone: it does not.
  struct Merged {
    std::int32_t id;
    std::uint32_t rank;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Slot {
    std::int32_t left = -1, right = -1;
    Merged merged{0, kNone};
  };

  Merged merged(std::int32_t left, std::int32_t right) const;
  void merge(std::vector<Symbol>& symbols) const;
  void merge_few(std::vector<Symbol>& symbols) const;
  void merge_many(std::vector<Symbol>& symbols) const;
  void finish(std::vector<Symbol>& symbols, std::vector<Piece>& pieces) const;

  Vocabulary vocabulary_;
  std::vector<BpeMerge> merges_;
  BpeOptions options_;
  std::vector<Slot> slots_;                                // merges by pair: open addressing, at most half full
  std::array<std::int32_t, 256> byte_ids_{};               // of the bytes' letters; -1: not in the vocabulary
  std::optional<std::array<std::int32_t, 256>> fallback_;  // of "<0x61>"; -1: not in the vocabulary
  bool bytes_are_symbols_ = false;                         // every byte is one symbol, whatever stands beside it
};

}  // namespace attend
