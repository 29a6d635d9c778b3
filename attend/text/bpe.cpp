#include "attend/text/bpe.h"

#include <algorithm>
#include <queue>

#include "attend/core/error.h"
#include "attend/text/byte_level.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

std::size_t hash(std::int32_t left, std::int32_t right) {
  const std::uint64_t pair = static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  return pair * 0x9E3779B97F4A7C15u >> 20;
}

}  // namespace

std::array<std::int32_t, 256> byte_fallback_ids(const Vocabulary& vocabulary) {
  std::array<std::int32_t, 256> ids;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const char token[] = {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
    ids[byte] = vocabulary.id(std::string_view(token, 6)).value_or(-1);
  }
  return ids;
}

Bpe::Bpe(Vocabulary vocabulary, std::vector<BpeMerge> merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), options_(std::move(options)) {
  std::size_t size = 16;
  while (size < 2 * merges_.size()) size *= 2;
  slots_.resize(size);
  std::string joined;
  for (std::uint32_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    if (!vocabulary_.contains(left) || !vocabulary_.contains(right))
      fail<InputError>("tokenizer", "merge ", rank + 1, " has an id that is not in the vocabulary: ", left, " and ",
                       right);
    const std::string_view tail = vocabulary_.token(right);
    joined = vocabulary_.token(left);
    joined += tail.substr(std::min(options_.continuing_subword_prefix.size(), tail.size()));
    const auto id = vocabulary_.id(joined);
    if (!id)
      fail<InputError>("tokenizer", "merge ", rank + 1, " gives \"", joined, "\", which is not in the vocabulary");
    std::size_t at = hash(left, right) & (size - 1);
    while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & (size - 1);
    slots_[at] = {left, right, {*id, rank}};  // for a repeated pair, the later merge wins
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(byte_letters()[byte], letter);
    byte_ids_[byte] = vocabulary_.id(letter).value_or(-1);
  }
  if (options_.byte_fallback) fallback_ = byte_fallback_ids(vocabulary_);
  bytes_are_symbols_ = options_.continuing_subword_prefix.empty() && options_.end_of_word_suffix.empty() &&
                       std::ranges::find(byte_ids_, -1) == byte_ids_.end();
}

Bpe::Merged Bpe::merged(std::int32_t left, std::int32_t right) const {
  for (std::size_t at = hash(left, right);; ++at) {
    const Slot& slot = slots_[at & (slots_.size() - 1)];
    if (slot.left < 0 || (slot.left == left && slot.right == right)) return slot.merged;
  }
}

void Bpe::merge(std::vector<Symbol>& symbols) const {
  constexpr std::size_t kFew = 48;
  symbols.size() <= kFew ? merge_few(symbols) : merge_many(symbols);
}

/// Scans all pairs for each merge, which is the fastest way for usual words.
void Bpe::merge_few(std::vector<Symbol>& symbols) const {
  Merged next[64];  // the merge of symbols i and i + 1
  std::size_t count = symbols.size();
  for (std::size_t i = 0; i + 1 < count; ++i) next[i] = merged(symbols[i].id, symbols[i + 1].id);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i)
      if (next[i].rank < next[best].rank) best = i;
    if (next[best].rank == kNone) break;
    symbols[best] = {next[best].id, symbols[best].size + symbols[best + 1].size};
    --count;
    for (std::size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (std::size_t i = best; i + 1 < count; ++i) next[i] = next[i + 1];
    if (best > 0) next[best - 1] = merged(symbols[best - 1].id, symbols[best].id);
    if (best + 1 < count) next[best] = merged(symbols[best].id, symbols[best + 1].id);
  }
  symbols.resize(count);
}

/// Keeps the pairs in a heap and the symbols in a linked list: O(n log n), for very long words.
void Bpe::merge_many(std::vector<Symbol>& symbols) const {
  struct Candidate {
    std::uint32_t rank, at;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  struct Links {
    std::uint32_t previous, next;
  };
  const auto end = static_cast<std::uint32_t>(symbols.size());
  std::vector<Links> links(symbols.size());
  std::vector<Candidate> first;
  const auto candidate = [&](std::uint32_t at) -> Candidate {
    return {merged(symbols[at].id, symbols[links[at].next].id).rank, at};
  };
  for (std::uint32_t i = 0; i < end; ++i) links[i] = {i - 1, i + 1};  // the first `previous` is never used
  for (std::uint32_t i = 0; i + 1 < end; ++i)
    if (const Candidate c = candidate(i); c.rank != kNone) first.push_back(c);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>{}, std::move(first));
  const auto push = [&](std::uint32_t at) {
    if (const Candidate c = candidate(at); c.rank != kNone) heap.push(c);
  };
  while (!heap.empty()) {
    const auto [rank, at] = heap.top();
    heap.pop();
    if (symbols[at].size == 0 || links[at].next == end) continue;
    const std::uint32_t right = links[at].next;
    const Merged result = merged(symbols[at].id, symbols[right].id);
    if (result.rank != rank) continue;  // outdated: one of the two was merged
    symbols[at] = {result.id, symbols[at].size + symbols[right].size};
    symbols[right].size = 0;
    links[at].next = links[right].next;
    if (links[at].next != end) {
      links[links[at].next].previous = at;
      push(at);
    }
    if (at > 0) push(links[at].previous);
  }
  std::erase_if(symbols, [](const Symbol& s) { return s.size == 0; });
}

void Bpe::finish(std::vector<Symbol>& symbols, std::vector<Piece>& pieces) const {
  merge(symbols);
  std::uint32_t begin = 0;
  for (const Symbol& symbol : symbols) {
    pieces.push_back({symbol.id, begin, begin + symbol.size});
    begin += symbol.size;
  }
}

void Bpe::encode(std::string_view word, std::vector<Piece>& pieces) const {
  if (options_.ignore_merges)
    if (const auto id = vocabulary_.id(word))
      return pieces.push_back({*id, 0, static_cast<std::uint32_t>(word.size())});
  static thread_local std::vector<Symbol> symbols;
  symbols.clear();
  Symbol unknown{0, 0};  // the current run of unknown characters; size 0: none
  const auto flush = [&] {
    if (unknown.size > 0) symbols.push_back(unknown);
    unknown.size = 0;
  };
  std::string token;
  for (std::size_t at = 0; at < word.size();) {
    const auto size = static_cast<std::size_t>(decode_utf8(word, at).size);
    const std::string_view character = word.substr(at, size);
    token.clear();
    if (at > 0) token += options_.continuing_subword_prefix;
    token += character;
    at += size;
    if (at == word.size()) token += options_.end_of_word_suffix;
    if (const auto id = vocabulary_.id(token)) {
      flush();
      symbols.push_back({*id, static_cast<std::uint32_t>(size)});
      continue;
    }
    const auto id_of = [&](char byte) { return (*fallback_)[static_cast<unsigned char>(byte)]; };
    if (fallback_ && std::ranges::all_of(token, [&](char byte) { return id_of(byte) >= 0; })) {
      for (const char byte : token) symbols.push_back({id_of(byte), 1});
      continue;
    }
    if (!options_.unk_token) continue;
    if (!options_.fuse_unk) flush();
    const auto id = vocabulary_.id(*options_.unk_token);
    if (!id) fail<InputError>("tokenizer", "the unknown token \"", *options_.unk_token, "\" is not in the vocabulary");
    unknown = {*id, unknown.size + static_cast<std::uint32_t>(size)};
  }
  flush();
  finish(symbols, pieces);
}

void Bpe::encode_bytes(std::string_view word, std::vector<Piece>& pieces) const {
  if (bytes_are_symbols_ && !options_.ignore_merges) {
    static thread_local std::vector<Symbol> symbols;
    symbols.clear();
    for (const char byte : word) symbols.push_back({byte_ids_[static_cast<unsigned char>(byte)], 1});
    return finish(symbols, pieces);
  }
  // Encode the letters, then convert positions back to bytes: a letter takes one or two bytes.
  const std::string letters = to_byte_letters(word);
  std::vector<std::uint32_t> bytes(letters.size() + 1, 0);  // number of letters that begin before
  for (std::size_t i = 0; i < letters.size(); ++i) bytes[i + 1] = bytes[i] + ((letters[i] & 0xC0) != 0x80);
  const std::size_t first = pieces.size();
  encode(letters, pieces);
  for (std::size_t i = first; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    piece.end = bytes[piece.end];
    piece.begin = std::min(bytes[piece.begin + 1] - 1, piece.end);
  }
}

}  // namespace attend
