#include "attend/tasks/attention/attention_tokens.h"

#include "attend/text/shown_token.h"
#include "attend/text/words.h"

namespace attend {

AttentionTokens attention_tokens(const Tokenizer& tokenizer, std::span<const std::int32_t> ids, std::string_view text,
                                 std::span<const Span> spans) {
  AttentionTokens tokens;
  for (const std::int32_t id : ids) {
    tokens.shown.push_back(shown_token(tokenizer, id));
    tokens.written.push_back(tokenizer.token(id));
  }
  tokens.words = words_of_tokens(text, spans);
  return tokens;
}

std::vector<Span> spans_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<Span> spans;
  StreamDecoder decoder(tokenizer);
  std::int64_t begin = 0;
  for (const std::int32_t id : ids) {
    const std::int64_t end = begin + static_cast<std::int64_t>(decoder.push(id).size());
    spans.push_back({begin, end});
    begin = end;
  }
  return spans;
}

}  // namespace attend
