#include "attend/text/letter_case.h"

#include <map>
#include <utility>

#include "attend/text/unicode.h"

namespace attend {
namespace {

/// Calls use(piece, lower) for each word of a text, with the word in lower case, and for what is between them, with "".
template <typename Use>
void for_each_cased_word(std::string_view text, const Use& use) {
  std::size_t begin = 0;
  std::string lower;
  const auto finish = [&](std::size_t end) {
    if (end > begin) use(text.substr(begin, end - begin), lower);
    begin = end, lower.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const bool in_word = (properties(c.value) & (property::kLetter | property::kNumber | property::kMark)) != 0;
    if (in_word == lower.empty()) finish(at);
    if (in_word) {
      const LowerCase small = lower_case(c.value);
      append_utf8(small.first, lower);
      if (small.second != 0) append_utf8(small.second, lower);
    }
    at += static_cast<std::size_t>(c.size);
  }
  finish(text.size());
}

}  // namespace

LetterCase letter_case(std::string_view text) {
  bool first = true, capitalized = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    at += static_cast<std::size_t>(c.size);
    if ((properties(c.value) & property::kLetter) == 0) continue;
    if (lower_case(c.value).first != c.value) {
      if (!first) return LetterCase::upper;
      capitalized = true;
    }
    first = false;
  }
  return capitalized ? LetterCase::capitalized : LetterCase::lower;
}

std::vector<std::int32_t> ids_with_case(const Encoding& encoding, std::string_view text, std::int64_t step) {
  std::vector<std::int32_t> ids = encoding.ids;
  for (std::size_t i = 0; step > 0 && i < ids.size(); ++i) {
    const Span& span = encoding.spans[i];
    const std::string_view token =
        text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
    ids[i] += static_cast<std::int32_t>(step * static_cast<std::int64_t>(letter_case(token)));
  }
  return ids;
}

std::string restore_case(std::string_view words, std::string_view text) {
  std::map<std::string, std::vector<std::pair<std::string_view, std::int64_t>>> forms;  // with their counts
  for_each_cased_word(words, [&](std::string_view, const std::string& lower) {
    if (!lower.empty()) forms[lower];
  });
  for_each_cased_word(text, [&](std::string_view word, const std::string& lower) {
    const auto found = forms.find(lower);
    if (found == forms.end()) return;
    for (auto& [form, count] : found->second)
      if (form == word) return void(++count);
    found->second.emplace_back(word, 1);
  });
  std::string restored;
  for_each_cased_word(words, [&](std::string_view word, const std::string& lower) {
    std::int64_t most = 0;
    if (!lower.empty())
      for (const auto& [form, count] : forms[lower])
        if (count > most) word = form, most = count;
    restored += word;
  });
  return restored;
}

}  // namespace attend
