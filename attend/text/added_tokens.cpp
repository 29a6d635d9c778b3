#include "attend/text/added_tokens.h"

#include <algorithm>

#include "attend/text/tokenizer_parts.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// Where the code point that ends at text[end - 1] begins.
std::size_t step_back(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (text[end] & 0xC0) == 0x80);
  return end;
}

bool is_word_at(std::string_view text, std::size_t at) {
  return properties(decode_utf8(text, at).value) & property::kWord;
}

}  // namespace

void AddedTokenFinder::add(std::string content, const AddedToken& token) {
  if (content.empty()) return;
  if (first_bytes_.find(content[0]) == std::string::npos) first_bytes_ += content[0];
  std::uint32_t node = kRoot;
  for (const char c : content) {
    const auto [next, is_new] = steps_.emplace(step(node, c), static_cast<std::uint32_t>(token_of_.size()));
    if (is_new) token_of_.push_back(kNone);
    node = next->second;
  }
  if (token_of_[node] != kNone) return;
  token_of_[node] = static_cast<std::uint32_t>(tokens_.size());
  tokens_.push_back({content.size(), token.id, token.single_word, token.lstrip, token.rstrip});
}

const AddedTokenFinder::Entry* AddedTokenFinder::at(std::string_view text, std::size_t at) const {
  const Entry* longest = nullptr;
  for (std::uint32_t node = kRoot; at < text.size(); ++at) {
    const auto next = steps_.find(step(node, text[at]));
    if (next == steps_.end()) break;
    node = next->second;
    if (token_of_[node] != kNone) longest = &tokens_[token_of_[node]];
  }
  return longest;
}

void AddedTokenFinder::cut(std::string_view text, std::vector<Word>& words) const {
  words.clear();
  std::size_t done = 0;  // the end of the text that was already split
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t found = first_bytes_.empty() ? std::string_view::npos : text.find_first_of(first_bytes_, from);
    if (found == std::string_view::npos) break;
    const Entry* token = at(text, found);
    if (!token) {
      from = found + 1;
      continue;
    }
    std::size_t begin = found, end = from = found + token->size;
    const bool touches_word =
        (begin > 0 && is_word_at(text, step_back(text, begin))) || (end < text.size() && is_word_at(text, end));
    if (token->single_word && touches_word) continue;
    if (token->lstrip)
      for (std::size_t before; begin > done; begin = before)
        if (before = step_back(text, begin); !is_space(decode_utf8(text, before).value)) break;
    if (token->rstrip)
      for (CodePoint c; end < text.size() && is_space((c = decode_utf8(text, end)).value);)
        end += static_cast<std::size_t>(c.size);
    begin = std::max(begin, done);
    if (begin > done) words.push_back({done, begin});
    words.push_back({begin, end, token->id});
    done = end;
  }
  if (done < text.size()) words.push_back({done, text.size()});
}

}  // namespace attend
