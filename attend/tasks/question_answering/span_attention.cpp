#include "attend/tasks/question_answering/span_attention.h"

#include <limits>

#include "attend/core/error.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_capture.h"
#include "attend/tasks/attention/attention_tokens.h"

namespace attend {
namespace {

/// The tokens [begin, end) of a window. They are shown as they are in the text, since a word may be unknown.
AttentionTokens tokens_of(const Tokenizer& tokenizer, const SpanWindow& window, std::string_view text,
                          std::size_t begin, std::size_t end) {
  const auto ids = std::span(window.ids).subspan(begin, end - begin);
  const auto spans = std::span(window.spans).subspan(begin, end - begin);
  AttentionTokens tokens = attention_tokens(tokenizer, ids, text, spans);
  for (std::size_t i = 0; i < spans.size(); ++i)
    tokens.shown[i] =
        text.substr(static_cast<std::size_t>(spans[i].begin), static_cast<std::size_t>(spans[i].end - spans[i].begin));
  return tokens;
}

}  // namespace

AttentionMap span_attention(const SpanReader& reader, const std::string& question, const std::string& text,
                            const AttentionSelection& selection, const SpanAttentionOptions& options) {
  const NoGrad no_grad;
  const std::vector<SpanWindow> windows = reader.windows(
      question, text,
      {.max_tokens = options.max_tokens > 0 ? options.max_tokens : std::numeric_limits<std::int64_t>::max(),
       .overlap = 0});
  if (windows.empty()) fail<InputError>("attention", "the question or the text is blank: it has no tokens");
  const SpanWindow& window = windows.front();
  AttentionMap map;
  map.kind = reader.kind, map.text = question + '\t' + text;
  for (std::size_t w = 1; w < windows.size(); ++w)
    map.truncated += static_cast<std::int64_t>(windows[w].end - windows[w].begin);
  if (map.truncated > 0 && options.long_text == LongText::error)
    fail<InputError>("attention", "question and text have ", window.size() + map.truncated,
                     " tokens, expected at most ", options.max_tokens);

  const AttentionTokens asked = tokens_of(reader.tokenizer, window, question, 0, window.begin);
  const AttentionTokens words = tokens_of(reader.tokenizer, window, text, window.begin, window.end);
  for (AttentionView view : {AttentionView{.kind = AttentionKind::context_to_question, .queries = words, .keys = asked},
                             AttentionView{.kind = AttentionKind::question_to_context,
                             .queries = {.shown = {"(question)"}, .written = {"(question)"}, .words = {-1}},
                             .keys = words}})
    if (prepare(view, 1, 1, selection, view.kind == AttentionKind::context_to_question))
      map.views.push_back(std::move(view));
  const SpanWindow* const chosen[] = {&window};
  if (!map.views.empty()) capture(map, [&](Probe& probe) { reader.find_spans(reader.input(chosen), &probe); });
  if (map.views.empty() || !map.views.front().weights.front().defined())
    fail<InputError>("attention", "the model does not have this attention between a question and a text");
  return map;
}

}  // namespace attend
