// Byte-pair encoding. A word starts as a list of characters (or bytes). Adjacent pairs are merged in the order in which
// training learned the merges, until no merge applies. Without merges, it is a character model.
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
  std::optional<std::string> unk_token{};   ///< for characters that are not in the vocabulary; none: they are dropped
  std::string continuing_subword_prefix{};  ///< prefix of every token that does not begin a word
  std::string end_of_word_suffix{};         ///< suffix of every token that ends a word
  bool fuse_unk = false;                    ///< adjacent unknown characters become one token
  bool byte_fallback = false;               ///< an unknown character becomes its bytes: <0x61>
  bool ignore_merges = false;               ///< a word that is in the vocabulary is one token, whatever the merges are
};

/// Two tokens that are merged into one.
struct BpeMerge {
  std::int32_t left, right;
  bool operator==(const BpeMerge&) const = default;
};

/// The ids of "<0x00>" … "<0xFF>"; -1 if a token is not in the vocabulary.
std::array<std::int32_t, 256> byte_fallback_ids(const Vocabulary& vocabulary);

class Bpe {
 public:
  Bpe() = default;
  /// `merges` are in the order of training. Throws InputError if a merged token is not in the vocabulary.
  Bpe(Vocabulary vocabulary, std::vector<BpeMerge> merges, BpeOptions options = {});

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<BpeMerge>& merges() const { return merges_; }
  const BpeOptions& options() const { return options_; }

  void encode(std::string_view word, std::vector<Piece>& pieces) const;
  /// The same for a word of raw bytes, each of which stands for its letter of the byte alphabet (byte_level.h).
  void encode_bytes(std::string_view word, std::vector<Piece>& pieces) const;

 private:
  /// A token during merging, and its size in bytes.
  struct Symbol {
    std::int32_t id;
    std::uint32_t size;
  };
  /// The token of a merged pair, and the rank of the merge; kNone: the pair is not merged.
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
  std::vector<Slot> slots_;                   // hash table of the merges: open addressing, at most half full
  std::array<std::int32_t, 256> byte_ids_{};  // ids of the byte letters; -1: not in the vocabulary
  std::optional<std::array<std::int32_t, 256>> fallback_;  // ids of "<0x61>"; -1: not in the vocabulary
  bool bytes_are_symbols_ = false;                         // every byte is a symbol, whatever its neighbours are
};

}  // namespace attend
