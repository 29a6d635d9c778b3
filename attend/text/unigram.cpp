#include "attend/text/unigram.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "attend/core/error.h"
#include "attend/text/bpe.h"
#include "attend/text/unicode.h"

namespace attend {

Unigram::Unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options)
    : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(options) {
  if (static_cast<std::int64_t>(scores_.size()) != vocabulary_.size())
    fail<InputError>("tokenizer", "got ", scores_.size(), " scores, expected one for each of the ", vocabulary_.size(),
                     " tokens");
  if (options_.unk_id && !vocabulary_.contains(*options_.unk_id))
    fail<InputError>("tokenizer", "the unknown token has the id ", *options_.unk_id, ", expected less than ",
                     vocabulary_.size());
  constexpr double kPenalty = 10;
  unknown_score_ = scores_.empty() ? 0 : *std::ranges::min_element(scores_) - kPenalty;
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id)
    if (const std::string_view token = vocabulary_.token(id); !token.empty() && vocabulary_.id(token) == id)
      sorted_.push_back(id);
  std::ranges::sort(sorted_, {}, [this](std::int32_t id) { return vocabulary_.token(id); });
  for (const std::int32_t id : sorted_) ++first_[static_cast<unsigned char>(vocabulary_.token(id)[0]) + 1u];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  if (options_.byte_fallback) fallback_ = byte_fallback_ids(vocabulary_);
}

void Unigram::encode(std::string_view word, std::vector<Piece>& pieces) const {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  /// The best segmentation of the word up to here: its last token and its score.
  struct Best {
    double score = 0;
    std::uint32_t begin = kNone;
    std::int32_t id = 0;
  };
  static thread_local std::vector<Best> best;
  best.assign(word.size() + 1, {});
  const auto offer = [&](std::size_t begin, std::size_t end, std::int32_t id, double score) {
    score += best[begin].score;
    if (best[end].begin == kNone || score > best[end].score) best[end] = {score, static_cast<std::uint32_t>(begin), id};
  };
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t next = begin + static_cast<std::size_t>(decode_utf8(word, begin).size);
    const auto lead = static_cast<unsigned char>(word[begin]);
    std::span<const std::int32_t> range(sorted_.data() + first_[lead], first_[lead + 1u] - first_[lead]);
    bool single = false;
    // All tokens of the range begin with word[begin, end). A token that equals it comes first.
    for (std::size_t end = begin + 1; !range.empty(); ++end) {
      if (vocabulary_.token(range.front()).size() == end - begin) {
        offer(begin, end, range.front(), scores_[static_cast<std::size_t>(range.front())]);
        single = single || end == next;
        range = range.subspan(1);
      }
      if (end == word.size()) break;
      const auto byte = [&](std::int32_t id) { return static_cast<unsigned char>(vocabulary_.token(id)[end - begin]); };
      const auto wanted = static_cast<unsigned char>(word[end]);  // clang 14 cannot compile ranges::equal_range
      range = {std::ranges::lower_bound(range, wanted, {}, byte), std::ranges::upper_bound(range, wanted, {}, byte)};
    }
    if (!single) {
      if (!options_.unk_id)
        fail<InputError>("tokenizer", "no token covers \"", word.substr(begin, next - begin),
                         "\", and there is no unknown token");
      offer(begin, next, *options_.unk_id, unknown_score_);
    }
    begin = next;
  }
  const std::size_t first = pieces.size();
  for (auto end = static_cast<std::uint32_t>(word.size()); end > 0;) {
    const Best& last = best[end];
    const bool fuses = options_.unk_id && last.id == *options_.unk_id && pieces.size() > first &&
                       pieces.back().id == last.id && pieces.back().begin == end;
    if (fuses)
      pieces.back().begin = last.begin;
    else
      pieces.push_back({last.id, last.begin, end});
    end = last.begin;
  }
  std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end());
  if (!fallback_) return;
  // An unknown run becomes its bytes; the span of each byte token is the whole run.
  std::vector<Piece> known(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end());
  pieces.resize(first);
  for (const Piece& piece : known) {
    const std::string_view bytes = word.substr(piece.begin, piece.end - piece.begin);
    const auto id_of = [&](char byte) { return (*fallback_)[static_cast<unsigned char>(byte)]; };
    if (vocabulary_.id(bytes) || !std::ranges::all_of(bytes, [&](char byte) { return id_of(byte) >= 0; }))
      pieces.push_back(piece);
    else
      for (const char byte : bytes) pieces.push_back({id_of(byte), piece.begin, piece.end});
  }
}

}  // namespace attend
