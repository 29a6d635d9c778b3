// Counts n-grams: of words for BLEU, of characters and words for chrF.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace attend {

/// Counts the n-grams of a sequence, for all n up to `longest`. It sorts all positions by the elements that follow
/// them, so that equal n-grams are adjacent for every n. So one sort is sufficient for all n.
template <typename T>
class Ngrams {
 public:
  Ngrams(std::vector<T> sequence, std::size_t longest) : sequence_(std::move(sequence)), places_(sequence_.size()) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::ranges::sort(places_, std::ranges::lexicographical_compare, [&](std::size_t at) { return from(at, longest); });
  }

  /// The number of n-grams, n >= 1.
  std::int64_t total(std::size_t n) const {
    return sequence_.size() < n ? 0 : static_cast<std::int64_t>(sequence_.size() - n + 1);
  }

  /// The number of occurrences of an n-gram.
  std::int64_t count(std::span<const T> ngram) const {
    const auto prefix = [&](std::size_t at) { return from(at, ngram.size()); };
    constexpr auto kLess = std::ranges::lexicographical_compare;
    return std::ranges::upper_bound(places_, ngram, kLess, prefix) -
           std::ranges::lower_bound(places_, ngram, kLess, prefix);
  }

  /// Calls body(ngram, count) for each distinct n-gram.
  template <typename Body>
  void each(std::size_t n, Body&& body) const {
    for (std::size_t i = 0; i < places_.size();) {
      const std::span<const T> ngram = from(places_[i], n);
      const std::size_t begin = i++;
      while (i < places_.size() && std::ranges::equal(ngram, from(places_[i], n))) ++i;
      if (ngram.size() == n) body(ngram, static_cast<std::int64_t>(i - begin));  // shorter at the end of the sequence
    }
  }

 private:
  std::span<const T> from(std::size_t at, std::size_t n) const {
    return std::span(sequence_).subspan(at, std::min(n, sequence_.size() - at));
  }

  std::vector<T> sequence_;
  std::vector<std::size_t> places_;
};

}  // namespace attend
