#include "attend/tasks/question_answering/span_reader.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/ops/concat.h"
#include "attend/ops/gather.h"
#include "attend/tasks/encoder/bert_reader.h"
#include "attend/tasks/encoder/pack.h"

namespace attend {
namespace {

constexpr std::int64_t kBertWindow = 384;      // as in Hugging Face's pipeline
constexpr std::int64_t kNetworkWindow = 1024;  // more than almost all paragraphs have

/// The logits of a padded batch from a model that takes packed sequences. Its heads also give logits to the question;
/// they are replaced by kNoSpan.
SpanLogits find_spans_of(const Bert& model, const SpanInput& input, Probe* probe) {
  const std::int64_t B = input.ids.dim(0), T = input.ids.dim(1);
  // Token types of BERT: 1 from the first token of the text on, including the special token at the end.
  Tensor types = Tensor::zeros({B, T}, DType::i32);
  std::vector<std::int32_t> rows;  // of each place in the packed logits
  std::int32_t packed = 0;
  std::vector<std::int32_t> lengths(input.lengths.span<std::int32_t>().begin(),
                                    input.lengths.span<std::int32_t>().end());
  std::int32_t nothing = 0;  // the row behind all others
  for (const std::int32_t length : lengths) nothing += length;
  for (std::int64_t b = 0; b < B; ++b) {
    std::int32_t type = 0;
    for (std::int64_t t = 0; t < T; ++t) {
      const bool there = t < lengths[static_cast<std::size_t>(b)];
      const bool text = there && input.types.data<std::int32_t>()[b * T + t] == 1;
      if (text) type = 1;
      if (there) types.data<std::int32_t>()[b * T + t] = type;
      rows.push_back(text || t == 0 ? packed : nothing);
      if (there) ++packed;
    }
  }
  const BertInput sequences = pack({input.ids, input.lengths, packed}, model.options.types > 1 ? types : Tensor());
  const Tensor logits = concat({model.find_answer(model.encode(sequences, probe)), Tensor::full({1, 2}, kNoSpan)}, 0);
  const std::vector<Tensor> columns = split(index_select(logits, Tensor::ids(rows, {B * T}), 0), 2, 1);
  return {columns[0].reshape({B, T}), columns[1].reshape({B, T})};
}

/// The tokens of the second text of a pair. A tokenizer without special tokens has types; RoBERTa's pairs have no
/// types, but special tokens between the texts.
void find_text(const Encoding& pair, SpanWindow& window) {
  const bool special = std::ranges::count(pair.special, 1) > 0;
  window.begin =
      special ? second_text(pair) : static_cast<std::size_t>(std::ranges::find(pair.types, 1) - pair.types.begin());
  window.end = window.begin;
  while (window.end < pair.ids.size() && !pair.special[window.end]) ++window.end;
}

}  // namespace

Span SpanWindow::words_between(std::size_t first, std::size_t last) const {
  while (first > begin && words[first - 1] == words[first]) --first;
  while (last + 1 < end && words[last + 1] == words[last]) ++last;
  return {spans[first].begin, spans[last].end};
}

SpanReader::SpanReader(const ModelFolder& folder)
    : SpanReader([&] {
        // A model of BERT's family may have the weights of the head, even if its folder does not name it.
        if (!folder.can(Ability::embed)) folder.require("answer", Ability::answer);
        if (const auto model = std::dynamic_pointer_cast<const SpanModel>(folder.model()))
          return SpanReader(model, folder.tokenizer());
        const BertReader reader(folder, BertHead::question_answering);
        return SpanReader(std::make_shared<const Bert>(reader.model), reader.tokenizer);
      }()) {}

SpanReader::SpanReader(const std::shared_ptr<const SpanModel>& model, const Tokenizer& tokens)
    : tokenizer(tokens),
      kind(model->type()),
      window(kNetworkWindow),
      word_bytes(model->word_bytes()),
      padding(tokens.special().padding.value_or(0)),
      find_spans([model](const SpanInput& input, Probe* probe) { return model->find_spans(input, probe); }) {}

SpanReader::SpanReader(const std::shared_ptr<const Bert>& model, const Tokenizer& tokens)
    : tokenizer(tokens),
      kind(model->type()),
      max_tokens(BertReader(*model, tokens).max_tokens),
      padding(model->options.padding),
      find_spans([model](const SpanInput& input, Probe* probe) { return find_spans_of(*model, input, probe); }) {
  window = std::min(kBertWindow, max_tokens);
}

std::int64_t SpanReader::limit(const SpanWindowOptions& options) const {
  const std::int64_t wanted = options.max_tokens > 0 ? options.max_tokens : window;
  return max_tokens > 0 ? std::min(wanted, max_tokens) : wanted;
}

bool SpanReader::has_room(std::string_view question, const SpanWindowOptions& options) const {
  return tokenizer.encode_pair(question, "").size() < limit(options);
}

std::vector<SpanWindow> SpanReader::windows(std::string_view question, std::string_view text,
                                            const SpanWindowOptions& options) const {
  const std::int64_t limit = this->limit(options);
  // A pair with an empty text has the question and all special tokens.
  const Encoding alone = tokenizer.encode_pair(question, "");
  const std::int64_t room = limit - alone.size();
  if (room < 1)
    fail<InputError>("answer", "the question leaves no room for the text: it has ", alone.size(), " of ", limit,
                     " tokens");
  std::vector<SpanWindow> all;
  if (alone.ids.empty()) return all;
  for (Encoding& pair : tokenizer.encode_pair_windows(question, text,
                                                      {.max_tokens = limit,
                                                      .long_text = LongText::split,
                                                      .overlap = std::min({options.overlap, limit / 2, room - 1})})) {
    SpanWindow window{question, text, std::move(pair.ids), std::move(pair.spans), std::move(pair.words)};
    pair.ids = window.ids;
    find_text(pair, window);
    if (window.begin < window.end) all.push_back(std::move(window));
  }
  return all;
}

SpanInput SpanReader::input(std::span<const SpanWindow* const> chosen) const {
  std::vector<std::span<const std::int32_t>> ids;
  for (const SpanWindow* one : chosen) ids.emplace_back(one->ids);
  const TokenBatch batch = pad(ids, padding);
  const std::int64_t B = batch.ids.dim(0), T = batch.ids.dim(1), W = word_bytes;
  SpanInput input{batch.ids, batch.lengths, Tensor::zeros({B, T}, DType::i32),
                  W > 0 ? Tensor::zeros({B, T, W}, DType::i32) : Tensor()};
  for (std::int64_t b = 0; b < B; ++b) {
    const SpanWindow& one = *chosen[static_cast<std::size_t>(b)];
    std::int32_t* types = input.types.data<std::int32_t>() + b * T;
    std::fill(types + one.begin, types + one.end, 1);
    if (W == 0) continue;
    const std::span<const Span> spans(one.spans);
    const auto spell = [&](std::string_view text, std::size_t begin, std::size_t end) {
      std::ranges::copy(attend::word_bytes(text, spans.subspan(begin, end - begin), W),
                        input.bytes.data<std::int32_t>() + (b * T + static_cast<std::int64_t>(begin)) * W);
    };
    spell(one.question, 0, one.begin);
    spell(one.text, one.begin, one.end);
  }
  return input;
}

}  // namespace attend
