// A conversation in the format of DialoGPT: each turn ends with the end-of-text token.
#pragma once
#include <cstdint>
#include <vector>

namespace attend {

class Conversation {
 public:
  explicit Conversation(std::int32_t end) : end_(end) {}

  /// Adds a turn. Appends the end-of-text token if the turn does not end with it.
  void add(std::vector<std::int32_t> turn) {
    if (turn.empty() || turn.back() != end_) turn.push_back(end_);
    turns_.push_back(std::move(turn));
  }
  /// Removes the oldest turns until the others have at most `most` tokens. Always keeps the last turn. Returns the
  /// number of removed turns.
  std::size_t shorten(std::size_t most) {
    std::size_t gone = 0;
    while (gone + 1 < turns_.size() && size(gone) > most) ++gone;
    turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(gone));
    return gone;
  }
  std::vector<std::int32_t> ids() const {
    std::vector<std::int32_t> all;
    for (const auto& turn : turns_) all.insert(all.end(), turn.begin(), turn.end());
    return all;
  }

 private:
  std::size_t size(std::size_t first) const {
    std::size_t tokens = 0;
    for (std::size_t i = first; i < turns_.size(); ++i) tokens += turns_[i].size();
    return tokens;
  }

  std::int32_t end_;
  std::vector<std::vector<std::int32_t>> turns_;
};

}  // namespace attend
