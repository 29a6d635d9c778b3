#include "attend/tasks/classification/encode_parts.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/text/sentences.h"

namespace attend {
namespace {

/// Appends a part. `offset`: its position in the text.
void append(Encoding& all, const Encoding& part, std::int32_t number, std::int64_t offset) {
  all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
  all.types.insert(all.types.end(), part.ids.size(), number);
  for (const Span& span : part.spans)
    all.spans.push_back(span.begin == span.end ? Span{} : Span{span.begin + offset, span.end + offset});
  all.words.insert(all.words.end(), part.words.begin(), part.words.end());
  all.special.insert(all.special.end(), part.special.begin(), part.special.end());
  all.dropped += part.dropped, all.invalid += part.invalid;
}

/// A blank text: one unknown token.
Encoding or_unknown(Encoding part, const Tokenizer& tokenizer) {
  if (!part.ids.empty()) return part;
  part.ids = {tokenizer.special().unknown.value_or(0)};
  part.types = {0}, part.spans = {Span{}}, part.words = {-1}, part.special = {1};
  return part;
}

/// Cuts the encoding to its first tokens.
void cut(Encoding& all, std::size_t size) {
  all.dropped += std::ssize(all.ids) - static_cast<std::int64_t>(size);
  all.ids.resize(size), all.types.resize(size), all.spans.resize(size), all.words.resize(size);
  all.special.resize(size);
}

Encoding encode_sentences(const Tokenizer& tokenizer, std::string_view text, std::int64_t most,
                          const EncodeOptions& options) {
  Encoding all;
  std::int32_t parts = 0;
  for (const Span& sentence : sentences(text)) {
    const Encoding encoding = tokenizer.encode(
        text.substr(static_cast<std::size_t>(sentence.begin), static_cast<std::size_t>(sentence.end - sentence.begin)));
    const std::size_t begin = all.types.size();
    append(all, encoding, parts, sentence.begin);
    // A sentence that is too long becomes several parts of about the same length.
    const std::int64_t pieces = most > 0 ? (encoding.size() + most - 1) / most : 1;
    for (std::size_t i = begin; i < all.types.size() && pieces > 1; ++i)
      all.types[i] += static_cast<std::int32_t>(static_cast<std::int64_t>(i - begin) * pieces / encoding.size());
    if (!all.types.empty()) parts = all.types.back() + 1;
  }
  all = or_unknown(std::move(all), tokenizer);
  if (options.max_tokens > 0 && all.size() > options.max_tokens) {
    if (options.long_text == LongText::error)
      fail<InputError>("classifier", "the text has ", all.size(), " tokens, expected at most ", options.max_tokens);
    cut(all, static_cast<std::size_t>(options.max_tokens));
  }
  return all;
}

}  // namespace

Encoding encode_parts(const Tokenizer& tokenizer, const TextClassifier& network, std::string_view text,
                      std::optional<std::string_view> second, const EncodeOptions& options) {
  const bool pairs = network.parts() == TextParts::pair;
  if (second && !pairs) fail<InputError>("classifier", "the model takes single texts, not pairs");
  if (!second && pairs) fail<InputError>("classifier", "the model takes pairs of texts, with a tab between them");
  if (network.parts() == TextParts::sentences)
    return encode_sentences(tokenizer, text, network.max_part_tokens(), options);
  EncodeOptions limits = options;
  limits.max_tokens = limits.max_tokens > 0 ? std::min(limits.max_tokens, network.max_tokens()) : network.max_tokens();
  if (pairs) limits.max_tokens = std::max<std::int64_t>(limits.max_tokens / 2, 1);
  Encoding all;
  append(all, or_unknown(tokenizer.encode(text, limits), tokenizer), 0, 0);
  if (second)
    append(all, or_unknown(tokenizer.encode(*second, limits), tokenizer), 1,
           static_cast<std::int64_t>(text.size()) + 1);
  return all;
}

}  // namespace attend
