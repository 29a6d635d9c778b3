#include "attend/tasks/tagging/tagger.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/ops/softmax.h"
#include "attend/ops/tape.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {

const std::vector<std::pair<std::string, TagStrategy>> kTagStrategyNames = {{"none", TagStrategy::none},
                                                                            {"simple", TagStrategy::simple},
                                                                            {"first", TagStrategy::first},
                                                                            {"average", TagStrategy::average},
                                                                            {"max", TagStrategy::max}};

namespace {

/// A token or a word, and the probabilities of its labels.
struct Part {
  Span span;
  std::vector<float> probabilities;
  bool continues_word = false;  // it belongs to the same word as the token before

  std::size_t label() const {
    return static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
  }
  float max_probability() const { return *std::ranges::max_element(probabilities); }
};

/// Whether a token belongs to the same word as the token before. With WordPiece the tokenizer knows it; with other
/// tokenizers a word begins after a space.
bool continues_word(const Tokenizer& tokenizer, const Encoding& encoding, std::size_t token, std::string_view text) {
  if (encoding.ids[token] == tokenizer.special().unknown) return false;
  if (std::holds_alternative<WordPiece>(tokenizer.parts().model))
    return token > 0 && encoding.words[token - 1] == encoding.words[token];
  const auto begin = static_cast<std::size_t>(encoding.spans[token].begin);
  return begin > 0 && text[begin - 1] != ' ' && (begin >= text.size() || text[begin] != ' ');
}

std::vector<Part> tokens_of(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
                            const float* probabilities, std::size_t labels) {
  std::vector<Part> parts;
  for (std::size_t t = 0; t < encoding.ids.size(); ++t, probabilities += labels)
    if (!encoding.special[t])
      parts.push_back(
          {encoding.spans[t], {probabilities, probabilities + labels}, continues_word(tokenizer, encoding, t, text)});
  return parts;
}

Part word_of(std::span<const Part> tokens, TagStrategy strategy) {
  Part word = tokens.front();
  if (strategy == TagStrategy::max) {
    for (const Part& token : tokens)
      if (token.max_probability() > word.max_probability()) word.probabilities = token.probabilities;
  } else if (strategy == TagStrategy::average) {
    for (std::size_t i = 0; i < word.probabilities.size(); ++i) {
      float sum = 0;
      for (const Part& token : tokens) sum += token.probabilities[i];
      word.probabilities[i] = sum / static_cast<float>(tokens.size());
    }
  }
  word.span.end = tokens.back().span.end;
  return word;
}

std::vector<Part> words_of(const std::vector<Part>& tokens, TagStrategy strategy) {
  std::vector<Part> words;
  for (std::size_t begin = 0, end = 0; begin < tokens.size(); begin = end) {
    do ++end;
    while (end < tokens.size() && tokens[end].continues_word);
    words.push_back(word_of(std::span(tokens).subspan(begin, end - begin), strategy));
  }
  return words;
}

/// A label without its prefix "B-" or "I-", and whether the prefix is "B-".
struct Named {
  std::string_view name;
  bool begins;
};
Named named(std::string_view label) {
  if (label.starts_with("B-") || label.starts_with("I-")) return {label.substr(2), label.front() == 'B'};
  return {label, false};
}

/// Merges neighbouring parts with the same label; "B-" begins a new group.
std::vector<Tag> groups_of(const std::vector<Part>& parts, const std::vector<std::string>& labels) {
  std::vector<Tag> groups;
  std::string_view last;
  float sum = 0;
  int count = 0;
  for (const Part& part : parts) {
    const Named label = named(labels[part.label()]);
    if (groups.empty() || label.begins || label.name != last) {
      // As in Hugging Face's pipeline, the name of a group is what follows the first hyphen.
      const std::string& full = labels[part.label()];
      const std::size_t hyphen = full.find('-');
      groups.push_back({hyphen == full.npos ? full : full.substr(hyphen + 1), part.span});
      sum = 0, count = 0;
    }
    last = label.name;
    sum += part.max_probability(), ++count;
    groups.back().span.end = part.span.end;
    groups.back().probability = sum / static_cast<float>(count);
  }
  return groups;
}

/// Keeps one of the tags that overlap, since they come from different windows: the longer, then the more probable.
std::vector<Tag> without_overlaps(std::vector<Tag> tags) {
  std::ranges::stable_sort(tags, {}, [](const Tag& tag) { return tag.span.begin; });
  std::vector<Tag> kept;
  const auto size = [](const Tag& tag) { return tag.span.end - tag.span.begin; };
  for (Tag& tag : tags) {
    if (kept.empty() || tag.span.begin >= kept.back().span.end)
      kept.push_back(std::move(tag));
    else if (size(tag) > size(kept.back()) ||
             (size(tag) == size(kept.back()) && tag.probability > kept.back().probability))
      kept.back() = std::move(tag);
  }
  return kept;
}

}  // namespace

Tagger::Tagger(const ModelFolder& folder)
    : reader_(std::make_shared<BertReader>(folder, BertHead::token_classification)) {}

std::vector<TaggedText> Tagger::operator()(std::span<const std::string> texts, const TagOptions& options,
                                           const Progress& progress) const {
  const NoGrad no_grad;
  const std::int64_t limit =
      options.max_tokens > 0 ? std::min(options.max_tokens, reader_->max_tokens) : reader_->max_tokens;
  const std::vector<BertWindow> windows = reader_->windows(
      texts, {.max_tokens = limit, .long_text = options.long_text, .overlap = std::min(options.overlap, limit / 2)});
  std::vector<std::vector<Tag>> found(windows.size());
  reader_->read(
      windows, options.batch_tokens,
      [&](const BertBatch& batch) {
        const Tensor logits = reader_->model.label_tokens(batch.states);
        check_finite("tag", logits.span());
        const Tensor probabilities = softmax(logits);
        for (std::size_t b = 0; b < batch.windows.size(); ++b) {
          const BertWindow& window = windows[batch.windows[b]];
          std::vector<Part> parts =
              tokens_of(reader_->tokenizer, window.encoding, texts[window.text],
                        probabilities.data() + batch.begins[b] * probabilities.dim(1), labels().size());
          if (options.strategy > TagStrategy::simple) parts = words_of(parts, options.strategy);
          std::vector<Tag>& tags = found[batch.windows[b]];
          if (options.group && options.strategy != TagStrategy::none)
            tags = groups_of(parts, labels());
          else
            for (const Part& part : parts) tags.push_back({labels()[part.label()], part.span, part.max_probability()});
          std::erase_if(tags, [&](const Tag& tag) {
            const bool blank = tag.span.begin == tag.span.end;  // white space
            return blank || std::ranges::count(options.ignored, tag.label) > 0;
          });
        }
      },
      progress);
  std::vector<TaggedText> results(texts.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    TaggedText& result = results[windows[w].text];
    result.truncated += windows[w].encoding.dropped;
    std::ranges::move(found[w], std::back_inserter(result.tags));
    const bool last = w + 1 == windows.size() || windows[w + 1].text != windows[w].text;
    if (last && !windows[w].whole) result.tags = without_overlaps(std::move(result.tags));
  }
  return results;
}

}  // namespace attend
