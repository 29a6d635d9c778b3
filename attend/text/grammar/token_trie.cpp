#include "attend/text/grammar/token_trie.h"

#include <algorithm>
#include <variant>

#include "attend/core/error.h"
#include "attend/text/decoder.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {
namespace {

constexpr std::size_t kLongestToken = 1000;

template <typename Step>
bool decodes_with(const Decoder& decoder) {
  return std::ranges::any_of(decoder, [](const decoder::Step& step) { return std::holds_alternative<Step>(step); });
}

/// The texts of all tokens, as the first one of a text or a later one.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::span<const std::int32_t> without, bool first) {
  const Decoder& decoder = tokenizer.parts().decoder;
  const std::vector<std::string> before(first ? 0 : 1, "a");
  const std::string start = first ? "" : decode_tokens(decoder, before);
  const bool separate = decode_tokens(decoder, {"a", "a"}) != "aa" || decodes_with<decoder::Bpe>(decoder) ||
                        decodes_with<decoder::WordPiece>(decoder) || decodes_with<decoder::SentencePiece>(decoder);
  if (separate)
    fail<InputError>("grammar",
                     "the tokenizer joins tokens by rules of its own: expected byte-level BPE, or tokens of "
                     "SentencePiece's kind");
  const bool bytes = decodes_with<decoder::ByteLevel>(decoder), fallback = decodes_with<decoder::ByteFallback>(decoder);
  std::vector<std::string> texts(static_cast<std::size_t>(tokenizer.size()));
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string token = tokenizer.token(id);
    if (token.empty() || tokenizer.is_special(id)) continue;
    std::string& text = texts[static_cast<std::size_t>(id)];
    if (bytes) {
      text = bytes_of_token(token);
    } else if (const auto byte = fallback ? fallback_byte(token) : std::nullopt; byte && (*byte & 0x80)) {
      text = std::string(1, *byte);  // a part of a character, which cannot be decoded alone
    } else {
      std::vector<std::string> tokens = before;
      tokens.push_back(token);
      const std::string all = decode_tokens(decoder, std::move(tokens));
      if (all.starts_with(start)) text = all.substr(start.size());
    }
  }
  for (const std::int32_t id : without)
    if (id >= 0 && id < tokenizer.size()) texts[static_cast<std::size_t>(id)].clear();
  return texts;
}

}  // namespace

TokenTrie::TokenTrie(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (texts_[i].size() > kLongestToken) texts_[i].clear();
    if (!texts_[i].empty()) ids.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::sort(ids,
                    [this](std::int32_t a, std::int32_t b) { return std::pair(text(a), a) < std::pair(text(b), b); });
  std::vector<std::uint32_t> path;  // the nodes of the last token
  std::fill(std::begin(roots_), std::end(roots_), 0U);
  const auto leave = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back()) nodes_[path.back()].skip = static_cast<std::uint32_t>(nodes_.size());
  };
  std::string_view last;
  for (const std::int32_t id : ids) {
    const std::string_view text = this->text(id);
    const auto same = static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), last.begin(), last.end()).first -
                                               text.begin());
    leave(same);
    for (std::size_t i = same; i < text.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({.tokens = static_cast<std::uint32_t>(tokens_.size()),
                        .depth = static_cast<std::uint32_t>(i + 1),
                        .byte = static_cast<unsigned char>(text[i])});
    }
    tokens_.push_back(id);
    depth_ = std::max(depth_, static_cast<std::uint32_t>(text.size()));
    last = text;
  }
  leave(0);
  std::size_t node = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    roots_[byte] = static_cast<std::uint32_t>(node);
    if (node < nodes_.size() && nodes_[node].byte == byte) node = nodes_[node].skip;
  }
  roots_[256] = static_cast<std::uint32_t>(node);
}

TokenTexts::TokenTexts(const Tokenizer& tokenizer, std::span<const std::int32_t> without)
    : later(token_texts(tokenizer, without, false)), first(token_texts(tokenizer, without, true)) {}

}  // namespace attend
