#include "attend/tasks/encoder/bert_reader.h"

#include <algorithm>
#include <numeric>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/core/stop.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_capture.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/encoder/text_pair.h"

namespace attend {
namespace {

/// The purpose of a head in messages.
const char* purpose(BertHead head) {
  switch (head) {
    case BertHead::none:
      return "embeddings";
    case BertHead::pre_training:
    case BertHead::masked_lm:
      return "masked tokens";
    case BertHead::next_sentence:
      return "next-sentence prediction";
    case BertHead::sequence_classification:
      return "sequence classification";
    case BertHead::token_classification:
      return "token classification";
    case BertHead::question_answering:
      return "question answering";
  }
  return "";
}

/// Throws the error for a folder with another head.
[[noreturn]] void refuse(const std::filesystem::path& folder, BertHead own, BertHead wanted, const std::string& why) {
  fail<InputError>("bert", folder.string(), ": is a model for ", purpose(own), ", expected one for ", purpose(wanted),
                   why);
}

Bert load(const ModelFolder& folder, BertHead head) {
  const auto own = folder.model<Bert>("bert", Ability::embed);
  // A folder without "architectures" may still have the weights of the head. A folder with another head does not.
  const BertHead own_head = own->options.head;
  if (head == BertHead::none || own_head == head || (own_head == BertHead::pre_training && head == BertHead::masked_lm))
    return *own;
  if (own_head != BertHead::none) refuse(folder.path(), own_head, head, "");
  try {
    return load_bert(folder.config(), folder.weights(), *own->options.variant, {.head = head, .mapped = true});
  } catch (const InputError& error) {
    refuse(folder.path(), own_head, head, std::string("; ") + error.what());
  }
}

/// The smaller of two limits; 0 means no limit.
std::int64_t tighter(std::int64_t a, std::int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

BertInput input_of(const Bert& model, const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& types,
                   const std::vector<std::int64_t>& lengths) {
  const Shape shape{static_cast<std::int64_t>(ids.size())};
  // A model with one token type gets no types.
  return {Tensor::ids(ids, shape), model.options.types > 1 ? Tensor::ids(types, shape) : Tensor(), lengths};
}

}  // namespace

BertReader::BertReader(const ModelFolder& folder, BertHead head)
    : BertReader([&] {
        Bert bert = load(folder, head);  // before the tokenizer, so that another model type is the first error
        return BertReader(std::move(bert), folder.tokenizer());
      }()) {}

BertReader::BertReader(Bert bert, const Tokenizer& tokens)
    : model(std::move(bert)),
      tokenizer(tokens),
      max_tokens(tighter(model.options.max_tokens(), tokenizer.max_tokens())) {}

std::size_t second_text(const Encoding& pair) {
  std::size_t i = 1;
  while (i < pair.special.size() && !pair.special[i]) ++i;
  while (i < pair.special.size() && pair.special[i]) ++i;
  return std::min(i, pair.special.size());
}

std::vector<BertWindow> BertReader::windows(std::span<const std::string> texts,
                                            const BertWindowOptions& options) const {
  const std::int64_t limit = tighter(options.max_tokens, max_tokens);
  const std::int64_t special = tokenizer.encode("").size();
  const EncodeOptions cut{
      .max_tokens = limit,
      .long_text = options.long_text,
      .overlap = std::clamp<std::int64_t>(options.overlap, 0, std::max<std::int64_t>(limit - special - 1, 0))};
  std::vector<Encoding> encodings;
  if (!options.pairs) encodings = tokenizer.encode_all(texts);
  std::vector<BertWindow> all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const TextPair pair = options.pairs ? pair_of(texts, i) : TextPair{texts[i], {}};
    std::vector<Encoding> parts;
    parts.push_back(options.pairs ? tokenizer.encode_pair(pair.first, pair.second) : std::move(encodings[i]));
    if (const std::int64_t size = parts.front().size(); limit > 0 && size > limit) {
      if (options.long_text == LongText::error)
        throw TextError(i, "the text is too long: got " + std::to_string(size) + " tokens, expected at most " +
                               std::to_string(limit));
      if (limit <= special)
        fail<InputError>("bert", "max_tokens is ", limit, ", but there are ", special,
                         " special tokens: expected at least ", special + 1);
      parts = options.pairs ? tokenizer.encode_pair_windows(pair.first, pair.second, cut)
                            : tokenizer.encode_windows(pair.first, cut);
    }
    for (Encoding& part : parts) {
      if (part.ids.empty())  // a blank text, if the tokenizer adds no special tokens
        part = {{tokenizer.special().unknown.value_or(0)}, {0}, {{}}, {-1}, {1}, 0, part.invalid};
      for (std::size_t t = second_text(part); options.pairs && t < part.ids.size(); ++t)
        if (!part.special[t]) part.spans[t].begin += pair.place, part.spans[t].end += pair.place;
      all.push_back({i, std::move(part), parts.size() == 1});
    }
  }
  return all;
}

void BertReader::read(std::span<const BertWindow> windows, std::int64_t batch_tokens,
                      FunctionRef<void(const BertBatch&)> take, const Progress& progress) const {
  const NoGrad no_grad;
  std::vector<std::size_t> order(windows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The longest windows come first, so that later batches reuse the memory of the first.
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return windows[i].encoding.size(); });
  std::int64_t total = 0, done = 0;
  for (const BertWindow& window : windows) total += window.encoding.size();
  for (std::size_t next = 0; next < order.size();) {
    check_stop();
    BertBatch batch;
    std::vector<std::int32_t> ids, types;
    for (; next < order.size(); ++next) {
      const Encoding& encoding = windows[order[next]].encoding;
      const auto size = static_cast<std::int64_t>(ids.size());
      if (size > 0 && size + encoding.size() > batch_tokens) break;
      batch.windows.push_back(order[next]);
      batch.begins.push_back(size), batch.lengths.push_back(encoding.size());
      ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
      types.insert(types.end(), encoding.types.begin(), encoding.types.end());
    }
    batch.states = model.encode(input_of(model, ids, types, batch.lengths));
    check_finite("bert", batch.states.span());
    take(batch);
    done += static_cast<std::int64_t>(ids.size());
    if (progress) progress(done, total);
  }
}

Tensor BertReader::read(const Encoding& encoding, Probe* probe) const {
  const NoGrad no_grad;
  Tensor states = model.encode(input_of(model, encoding.ids, encoding.types, {encoding.size()}), probe);
  check_finite("bert", states.span());
  return states;
}

AttentionMap BertReader::attention_map(const std::string& text, const BertWindowOptions& options,
                                       const AttentionSelection& selection) const {
  const std::vector<BertWindow> read_as = windows(std::span(&text, 1), options);
  const Encoding& encoding = read_as.front().encoding;
  if (std::ranges::all_of(encoding.special, [](std::uint8_t added) { return added != 0; }))
    fail<InputError>("attention", "the text is blank: it has no tokens");
  AttentionMap map;
  map.kind = model.options.variant->type, map.text = text, map.truncated = encoding.dropped;
  AttentionView view{AttentionKind::self};
  view.queries = view.keys = attention_tokens(tokenizer, encoding.ids, text, encoding.spans);
  if (!prepare(view, model.options.layers, model.options.heads, selection, true))
    fail<InputError>("attention", "models of BERT's family have self-attention only");
  map.views.push_back(std::move(view));
  capture(map, [&](Probe& probe) { read(encoding, &probe); });
  return map;
}

}  // namespace attend
