#include <algorithm>

#include "attend/text/tokenizer_parts.h"

namespace attend {

StreamDecoder::StreamDecoder(Tokenizer tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

std::string StreamDecoder::decode_first(std::size_t count) const {
  return tokenizer_.decode(std::span(pending_).first(count), skip_special_);
}

std::string StreamDecoder::push(std::int32_t id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  pending_.push_back(id);
  std::vector<std::string> tokens;
  for (const std::int32_t pending : pending_) tokens.push_back(tokenizer_.token(pending));
  const std::size_t unfinished = unfinished_tokens(tokenizer_.parts().decoder, tokens);
  const std::string text = decode_first(pending_.size() - unfinished);
  std::string fresh = text.size() > given_ ? text.substr(given_) : "";
  given_ = std::max(given_, text.size());
  if (unfinished > 0) return fresh;
  // All text was returned. The last tokens are kept, since they decide whether a space precedes the next one.
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(settled_));
  settled_ = pending_.size();
  given_ = decode_first(settled_).size();
  return fresh;
}

std::string StreamDecoder::finish() {
  const std::string text = decode_first(pending_.size());
  std::string rest = given_ < text.size() ? text.substr(given_) : "";
  pending_.clear();
  settled_ = given_ = 0;
  return rest;
}

}  // namespace attend
