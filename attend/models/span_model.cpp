#include "attend/models/span_model.h"

#include <algorithm>

namespace attend {

std::vector<std::int32_t> word_bytes(std::string_view text, std::span<const Span> spans, std::int64_t width) {
  std::vector<std::int32_t> all(spans.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::int64_t size = std::min(spans[i].end - spans[i].begin, width);
    for (std::int64_t j = 0; j < size; ++j)
      all[i * static_cast<std::size_t>(width) + static_cast<std::size_t>(j)] =
          static_cast<unsigned char>(text[static_cast<std::size_t>(spans[i].begin + j)]) + 1;
  }
  return all;
}

}  // namespace attend
