#include "attend/metrics/metric_text.h"

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {

void check_references(std::string_view metric, std::span<const std::string> hypotheses, const References& references) {
  if (references.empty()) fail<InputError>(metric, "there are no references");
  for (const std::vector<std::string>& set : references)
    if (set.size() != hypotheses.size())
      fail<InputError>(metric, "the numbers of hypotheses and references differ: got ", hypotheses.size(),
                       " hypotheses and ", set.size(), " references");
}

std::vector<std::string_view> references_of(const References& references, std::size_t i) {
  std::vector<std::string_view> all;
  for (const std::vector<std::string>& set : references) all.emplace_back(set[i]);
  return all;
}

bool is_white_space(char32_t c) { return is_space(c) || (c >= 0x1C && c <= 0x1F); }

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const std::size_t next = at + static_cast<std::size_t>(c.size);
    if (is_white_space(c.value)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = next;
    }
    at = next;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

}  // namespace attend
