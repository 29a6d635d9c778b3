// Captured attention as one interactive HTML file: heat maps, lines between tokens, all heads at once, words or tokens,
// alignments, statistics, roll-out. It needs no network and no other file. web/src/page has its script.
#pragma once
#include <cstdint>
#include <string>

#include "attend/attention/map.h"
#include "attend/explain/attention_matrix.h"

namespace attend {

class AttentionPage {
 public:
  /// `first` is what the page shows when it opens. All views, layers and heads can be chosen in the page.
  explicit AttentionPage(std::string title, AttentionChoice first = {});

  /// Adds a text in compact form: the weights become bytes. Of a long text, only the greatest weights of each row are
  /// kept: `top_k` of the choice, or as many as keep the text at a few megabytes. The map is not needed afterwards.
  void add(const AttentionMap& map);
  std::int64_t size() const { return count_; }
  std::string html() const;

 private:
  std::string title_;
  AttentionChoice first_;
  std::int64_t count_ = 0;
  std::string maps_, weights_;  // JSON without its brackets, and one <script> for each layer
};

}  // namespace attend
