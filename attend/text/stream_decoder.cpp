#include "attend/text/tokenizer.h"

namespace attend {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";  // U+FFFD: half a character, so far
constexpr std::size_t kLongestCharacter = 4;            // bytes, of which a token may be one

}  // namespace

StreamDecoder::StreamDecoder(Tokenizer tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

std::string StreamDecoder::push(std::int32_t id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  pending_.push_back(id);
  const std::string text = tokenizer_.decode(pending_, skip_special_);
  std::string_view sure = text;
  const bool may_wait = pending_.size() - settled_ < kLongestCharacter;
  while (may_wait && sure.size() > given_ && sure.ends_with(kReplaced)) sure.remove_suffix(kReplaced.size());
  std::string fresh;
  if (sure.size() > given_) fresh = sure.substr(given_);
  given_ += fresh.size();
  if (sure.size() < text.size()) return fresh;
  // All is given out. The last tokens stay, since they decide whether a space comes before the next.
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(settled_));
  settled_ = pending_.size();
  given_ = tokenizer_.decode(pending_, skip_special_).size();
  return fresh;
}

std::string StreamDecoder::finish() {
  const std::string text = tokenizer_.decode(pending_, skip_special_);
  std::string rest = given_ < text.size() ? text.substr(given_) : "";
  pending_.clear();
  settled_ = given_ = 0;
  return rest;
}

}  // namespace attend
