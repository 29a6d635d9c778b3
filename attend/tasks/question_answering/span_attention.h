// The attention between a question and a text, for pictures.
#pragma once
#include <cstdint>
#include <string>

#include "attend/attention/map.h"
#include "attend/tasks/question_answering/span_reader.h"

namespace attend {

struct SpanAttentionOptions {
  std::int64_t max_tokens = 0;           ///< of question and text together; 0: only the model's limit
  LongText long_text = LongText::error;  ///< error or truncate
};

/// Two views: each word of the text over the words of the question, and the question over the words of the text. Throws
/// InputError if question or text is blank or too long, or if the model does not have these attentions: BiDAF has.
AttentionMap span_attention(const SpanReader& reader, const std::string& question, const std::string& text,
                            const AttentionSelection& selection = {}, const SpanAttentionOptions& options = {});

}  // namespace attend
