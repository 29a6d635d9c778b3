// Captured attention as one HTML file to look around in: heat maps, lines between tokens, all heads at once, words or
// tokens, alignments, statistics, roll-out. Needs no network and nothing beside it.
#pragma once
#include <cstdint>
#include <string>

#include "attend/attention/map.h"
#include "attend/explain/attention_matrix.h"

namespace attend {

class AttentionPage {
 public:
  /// `first` is what is seen when the page opens: of its views, layers and heads, all can be chosen in it.
  explicit AttentionPage(std::string title, AttentionChoice first = {});

  /// One more text, in compact form: weights as bytes, of long texts the greatest of each row only (`top_k` of the
  /// choice, or as many as keep a text at some megabytes). The map is not needed any more.
  void add(const AttentionMap& map);
  std::int64_t size() const { return count_; }
  std::string html() const;

 private:
  std::string title_;
  AttentionChoice first_;
  std::int64_t count_ = 0;
  std::string maps_, weights_;  // JSON without its brackets, and one <script> a layer
};

}  // namespace attend
