#include "attend/tasks/masked_lm/mask_filler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/kernels/best.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

constexpr std::array<std::string_view, 2> kMasks = {"[MASK]", "<mask>"};

std::shared_ptr<const BertReader> with_mask(BertReader reader) {
  if (!reader.tokenizer.special().mask) fail<InputError>("fill-mask", "the tokenizer has no mask token");
  return std::make_shared<BertReader>(std::move(reader));
}

/// Replaces "[MASK]" and "<mask>" by the tokenizer's own mask token.
std::string with_own_masks(std::string text, const std::string& own) {
  for (const std::string_view mask : kMasks)
    for (std::size_t at = 0; mask != own && (at = text.find(mask, at)) != text.npos; at += own.size())
      text.replace(at, mask.size(), own);
  return text;
}

std::int64_t count(const std::string& text, const std::string& part) {
  std::int64_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

MaskCandidate candidate_of(const Tokenizer& tokenizer, std::int32_t id, float probability) {
  if (id >= tokenizer.size()) return {id, "", probability};
  const std::array twice{id, id};
  const std::string token = tokenizer.decode(std::span(&id, 1), /*skip_special=*/false),
                    two = tokenizer.decode(twice, /*skip_special=*/false);
  return {id, token, probability, two.size() <= token.size() || two[token.size()] != ' '};
}

}  // namespace

std::string FilledText::with(const FilledMask& mask, const MaskCandidate& candidate) const {
  auto begin = static_cast<std::size_t>(mask.span.begin);
  if (!candidate.joins) begin = std::min(text.find_first_not_of(" \t", begin), text.size());
  std::string before = text.substr(0, begin);
  std::string word = candidate.token;
  if (word.starts_with("##")) {  // a WordPiece token that continues the word before
    word.erase(0, 2);
    before.erase(before.find_last_not_of(' ') + 1);
  } else if (word.starts_with(' ') && (before.empty() || before.ends_with(' '))) {
    word.erase(0, 1);
  }
  return before + word + text.substr(static_cast<std::size_t>(mask.span.end));
}

MaskFiller::MaskFiller(const ModelFolder& folder) : reader_(with_mask(BertReader(folder, BertHead::masked_lm))) {}

std::vector<FilledText> MaskFiller::operator()(std::span<const std::string> texts, const FillOptions& options,
                                               const Progress& progress) const {
  const NoGrad no_grad;
  const Tokenizer& tokenizer = reader_->tokenizer;
  const std::int32_t mask = *tokenizer.special().mask;
  std::vector<std::string> own;
  for (const std::string& text : texts) own.push_back(with_own_masks(text, tokenizer.token(mask)));
  const std::int64_t limit = options.max_tokens > 0 ? options.max_tokens : reader_->max_tokens;
  const std::vector<BertWindow> windows = reader_->windows(
      own, {.max_tokens = options.max_tokens,
            .long_text = options.long_text,
            .overlap = options.long_text == LongText::split ? std::max<std::int64_t>(limit / 2 - 2, 0) : 0});
  std::vector<FilledText> results(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) results[i].text = own[i];

  // The masks of each text by their byte position. A mask that is in two windows is filled in the one where it is
  // further from the ends.
  struct Seen {
    std::size_t window;
    std::int64_t token, margin;
  };
  std::vector<std::map<std::int64_t, Seen>> seen(texts.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto& [text, encoding, whole] = windows[w];
    results[text].truncated = encoding.dropped;
    for (std::int64_t t = 0; t < encoding.size(); ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (encoding.ids[i] != mask) continue;
      const Seen here{w, t, std::min(t, encoding.size() - 1 - t)};
      const auto [known, fresh] = seen[text].try_emplace(encoding.spans[i].begin, here);
      if (!fresh && here.margin > known->second.margin) known->second = here;
    }
  }
  std::vector<std::vector<FilledMask*>> masks_of(windows.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (results[i].truncated > 0) results[i].lost_masks = count(own[i], tokenizer.token(mask)) - std::ssize(seen[i]);
    results[i].masks.reserve(seen[i].size());  // keeps the pointers below valid
    for (const auto& [begin, at] : seen[i]) {
      const Span span = windows[at.window].encoding.spans[static_cast<std::size_t>(at.token)];
      masks_of[at.window].push_back(&results[i].masks.emplace_back(FilledMask{at.token, span, {}}));
    }
  }

  reader_->read(
      windows, options.batch_tokens,
      [&](const BertBatch& batch) {
        std::vector<std::int32_t> rows;
        std::vector<FilledMask*> masks;
        for (std::size_t b = 0; b < batch.windows.size(); ++b)
          for (FilledMask* each : masks_of[batch.windows[b]]) {
            rows.push_back(static_cast<std::int32_t>(batch.begins[b] + each->position));
            masks.push_back(each);
          }
        if (rows.empty()) return;
        const auto count = static_cast<std::int64_t>(rows.size());
        const Tensor logits = reader_->model.predict_tokens(batch.states, Tensor::ids(rows, {count}));
        const std::int64_t k = std::min({options.top, tokenizer.size(), logits.dim(1)});
        std::vector<float> log_sums(rows.size()), values(rows.size() * static_cast<std::size_t>(k));
        std::vector<std::int32_t> places(values.size());
        kernels::best_of_rows(count, logits.dim(1), logits.data(), k, log_sums.data(), values.data(), places.data());
        check_finite("fill-mask", log_sums);
        for (std::size_t m = 0; m < rows.size(); ++m)
          for (std::size_t i = m * static_cast<std::size_t>(k); i < (m + 1) * static_cast<std::size_t>(k); ++i)
            if (const std::int32_t id = places[i]; id >= 0)
              masks[m]->candidates.push_back(candidate_of(tokenizer, id, std::exp(values[i] - log_sums[m])));
      },
      progress);
  return results;
}

}  // namespace attend
