// Turns of a conversation as models like DialoGPT know them: kept apart by the end of text.
#pragma once
#include <cstdint>
#include <vector>

namespace attend {

class Conversation {
 public:
  explicit Conversation(std::int32_t end) : end_(end) {}

  /// A turn; its end is added where it lacks one.
  void add(std::vector<std::int32_t> turn) {
    if (turn.empty() || turn.back() != end_) turn.push_back(end_);
    turns_.push_back(std::move(turn));
  }
  /// Forgets the oldest turns until the others have at most so many tokens, but never the last. How many were
  /// forgotten.
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
