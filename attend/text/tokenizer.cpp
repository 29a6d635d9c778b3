#include "attend/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/stop.h"
#include "attend/core/threads.h"
#include "attend/text/added_tokens.h"
#include "attend/text/aligned_text.h"
#include "attend/text/byte_level.h"
#include "attend/text/tokenizer_parts.h"
#include "attend/text/unicode.h"
#include "attend/text/word_cache.h"

namespace attend {
namespace {

/// A text with invalid UTF-8 replaced, which maps positions back to the original.
class ValidText {
 public:
  explicit ValidText(std::string_view original) : view_(original), invalid_(count_invalid_utf8(original)) {
    if (invalid_ == 0) return;
    for (std::size_t at = 0; at < original.size();) {
      const CodePoint c = decode_utf8(original, at);
      append_utf8(c.value, valid_);
      at += static_cast<std::size_t>(c.size);
      if (!c.valid) shifts_.push_back({valid_.size(), at});
    }
    view_ = valid_;
  }
  ValidText(const ValidText&) = delete;
  ValidText& operator=(const ValidText&) = delete;

  std::string_view text() const { return view_; }
  std::int64_t invalid() const { return invalid_; }
  Span origin(Span span) const {
    if (invalid_ == 0) return span;
    return {place(span.begin), place(span.end)};
  }

 private:
  /// The replacement that ends at `valid` corresponds to the end `original` in the original text.
  struct Shift {
    std::size_t valid, original;
  };
  std::int64_t place(std::int64_t at) const {
    const auto here = static_cast<std::size_t>(at);
    const auto next = std::ranges::upper_bound(shifts_, here, {}, &Shift::valid);
    const Shift last = next == shifts_.begin() ? Shift{0, 0} : *std::prev(next);
    return static_cast<std::int64_t>(last.original + (here - last.valid));
  }

  std::string valid_;
  std::string_view view_;
  std::vector<Shift> shifts_;
  std::int64_t invalid_;
};

/// Tokens of one text, without special tokens.
struct Tokens {
  std::vector<std::int32_t> ids, words;
  std::vector<Span> spans;
  std::int64_t invalid = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Tokens [begin, end) of a text.
struct Range {
  const Tokens* tokens = nullptr;
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// Where the code point that ends at text[end - 1] begins.
std::size_t previous(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && (text[end] & 0xC0) == 0x80);
  return end;
}

Range all(const Tokens& tokens) { return {&tokens, 0, tokens.size()}; }

Encoding assemble(const std::vector<LayoutSlot>& slots, Range first, Range second) {
  Encoding result;
  const std::size_t size = slots.size() + static_cast<std::size_t>(first.size() + second.size());
  result.ids.reserve(size), result.types.reserve(size), result.spans.reserve(size), result.words.reserve(size);
  result.special.reserve(size);
  for (const LayoutSlot& slot : slots) {
    if (slot.text < 0) {
      result.ids.push_back(slot.id);
      result.spans.push_back({});
      result.words.push_back(-1);
    } else {
      const auto [tokens, begin, end] = slot.text == 0 ? first : second;
      const auto append = [begin = begin, end = end](auto& to, const auto& from) {
        to.insert(to.end(), from.begin() + begin, from.begin() + end);
      };
      append(result.ids, tokens->ids);
      append(result.spans, tokens->spans);
      append(result.words, tokens->words);
    }
    result.types.resize(result.ids.size(), slot.type);
    result.special.resize(result.ids.size(), slot.text < 0);
  }
  result.invalid = first.tokens->invalid + (second.tokens ? second.tokens->invalid : 0);
  result.dropped = first.tokens->size() - first.size() + (second.tokens ? second.tokens->size() - second.size() : 0);
  return result;
}

/// The number of tokens that remain for the texts after the special tokens.
std::int64_t room(const std::vector<LayoutSlot>& slots, std::int64_t max_tokens) {
  const auto special = std::ranges::count_if(slots, [](const LayoutSlot& slot) { return slot.text < 0; });
  if (max_tokens < special)
    fail<InputError>("tokenize", "max_tokens is ", max_tokens, ", expected at least the ", special, " special tokens");
  return max_tokens - special;
}

[[noreturn]] void too_long(std::int64_t size, const std::vector<LayoutSlot>& slots, std::int64_t max_tokens) {
  const std::int64_t special = max_tokens - room(slots, max_tokens);
  fail<InputError>("tokenize", "the text is too long: got ", size + special, " tokens, expected at most ", max_tokens,
                   "; --long truncate keeps the beginning, --long split makes several texts of it");
}

/// The number of tokens up to the end of the word that contains token `limit`. Hugging Face encodes only this part of a
/// text before it compares lengths.
std::int64_t seen(const Range& range, std::int64_t limit) {
  if (range.size() <= limit || limit == 0) return std::min(range.size(), limit);
  const std::vector<std::int32_t>& words = range.tokens->words;
  const auto first = words.begin() + range.begin + limit;
  return limit + std::distance(first, std::find_if(first, words.begin() + range.end,
                                                   [last = first[-1]](std::int32_t word) { return word != last; }));
}

/// Truncates the longer of two texts until both fit. If both are truncated, an odd token goes to the longer text, or to
/// the second text if they have the same length.
void shorten(Range& first, Range& second, std::int64_t room, std::int64_t max_tokens) {
  first.end = first.begin + seen(first, max_tokens);
  second.end = second.begin + seen(second, max_tokens);
  Range& shorter = first.size() <= second.size() ? first : second;
  Range& longer = first.size() <= second.size() ? second : first;
  const std::int64_t small = std::min(shorter.size(), room / 2);
  shorter.end = shorter.begin + small;
  longer.end = longer.begin + std::min(longer.size(), room - small);
}

/// Windows over n tokens, of at most `room` tokens each, which overlap by `overlap` tokens.
std::vector<std::pair<std::int64_t, std::int64_t>> windows(std::int64_t n, std::int64_t room, std::int64_t overlap) {
  if (overlap < 0 || overlap >= room)
    fail<InputError>("tokenize", "windows of ", room, " tokens cannot share ", overlap, ": expected 0 to ", room - 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::int64_t begin = 0;; begin += room - overlap) {
    result.emplace_back(begin, std::min(begin + room, n));
    if (begin + room >= n) return result;
  }
}

}  // namespace

struct Tokenizer::State {
  explicit State(Parts given) : parts(std::move(given)) {
    const Vocabulary& vocabulary = attend::vocabulary(parts.model);
    size = vocabulary.size();
    for (const AddedToken& token : parts.added_tokens) {
      if (token.id < 0) fail<InputError>("tokenizer", "the added token \"", token.content, "\" has the id ", token.id);
      std::string content = token.normalized ? normalized(parts.normalizer, token.content) : token.content;
      added_tokens.add(token.content, token.id);
      added_ids.add(content, token.id);
      (token.normalized ? in_normalized : in_original).add(std::move(content), token);
      size = std::max<std::int64_t>(size, token.id + 1);
    }
    is_special.resize(static_cast<std::size_t>(size));
    for (const AddedToken& token : parts.added_tokens) is_special[static_cast<std::size_t>(token.id)] = token.special;
    trim = trimming(parts.post_processor);
    for (int pair = 0; pair < 2; ++pair)
      for (int special = 0; special < 2; ++special)
        layouts[pair][special] = layout(parts.post_processor, pair, special);
    const auto is_byte_level = [](const auto& step) { return std::holds_alternative<pre_tokenizer::ByteLevel>(step); };
    keep_bytes = std::holds_alternative<Bpe>(parts.model) && !parts.pre_tokenizer.empty() &&
                 is_byte_level(parts.pre_tokenizer.back());
    for (const pre_tokenizer::Step& step : parts.pre_tokenizer)
      if (const auto* metaspace = std::get_if<pre_tokenizer::Metaspace>(&step))
        needs_origins = needs_origins || metaspace->prepend_scheme == pre_tokenizer::Metaspace::Prepend::first;
  }

  /// Tokenizes a text. Calls give(aligned text, offset of its original, word, tokens) for each word.
  template <typename Give>
  void cut(std::string_view text, bool keep_origins, Give give) const {
    WordCache& cache = word_cache(number);
    const auto cut_word = [this](std::string_view word, std::vector<Piece>& pieces) {
      if (keep_bytes) return std::get<Bpe>(parts.model).encode_bytes(word, pieces);
      std::visit([&](const auto& model) { model.encode(word, pieces); }, parts.model);
    };
    static thread_local std::vector<Word> text_parts, words;  // reuse their memory
    static thread_local std::vector<Piece> long_word;
    in_original.cut(text, text_parts);
    for (const Word& part : text_parts) {
      AlignedText aligned(text.substr(part.begin, part.end - part.begin), keep_origins || needs_origins);
      if (part.added >= 0) {
        words.assign(1, {0, part.end - part.begin, part.added});
      } else {
        normalize(parts.normalizer, aligned);
        in_normalized.cut(aligned.text(), words);
        pre_tokenize(parts.pre_tokenizer, aligned, words, static_cast<std::int64_t>(part.begin), keep_bytes);
      }
      for (std::size_t w = 0; w < words.size(); ++w) {
        const Word& word = words[w];
        if (w % 4096 == 0) check_stop();
        const std::string_view own = aligned.text().substr(word.begin, word.end - word.begin);
        if (word.added >= 0) {
          const Piece whole{word.added, 0, static_cast<std::uint32_t>(own.size())};
          give(aligned, part.begin, word, std::span(&whole, 1));
        } else if (own.size() <= WordCache::kLongestWord) {
          give(aligned, part.begin, word, cache.find_or(own, cut_word));
        } else {
          long_word.clear();
          cut_word(own, long_word);
          give(aligned, part.begin, word, std::span<const Piece>(long_word));
        }
      }
    }
  }

  void encode(std::string_view original, Tokens& result) const {
    const ValidText text(original);
    result.ids.clear(), result.words.clear(), result.spans.clear();
    result.invalid = text.invalid();
    std::int32_t index = 0;
    cut(text.text(), true,
        [&](const AlignedText& aligned, std::size_t offset, const Word& word, std::span<const Piece> pieces) {
          for (const Piece& piece : pieces) {
            Span span = aligned.origin(word.begin + piece.begin, word.begin + piece.end);
            span.begin += static_cast<std::int64_t>(offset), span.end += static_cast<std::int64_t>(offset);
            if (trim.trims) {
              const std::string_view added = aligned.text().substr(word.begin, word.end - word.begin);
              span = trimmed(span, word.added >= 0 ? added : attend::vocabulary(parts.model).token(piece.id),
                             result.ids.empty(), text.text());
            }
            result.ids.push_back(piece.id);
            result.spans.push_back(text.origin(span));
            result.words.push_back(index);
          }
          ++index;
        });
  }

  /// Removes from the span as many characters as the token has white space at its ends.
  Span trimmed(Span span, std::string_view token, bool first, std::string_view text) const {
    const auto is_blank = [](char32_t c) { return c == byte_letters()[' '] || is_space(c); };
    std::size_t leading = 0, trailing = 0;
    for (std::size_t at = 0; at < token.size(); ++leading) {
      const CodePoint c = decode_utf8(token, at);
      if (!is_blank(c.value)) break;
      at += static_cast<std::size_t>(c.size);
    }
    for (std::size_t at = token.size(); at > 0; ++trailing)
      if (at = previous(token, at); !is_blank(decode_utf8(token, at).value)) break;
    if ((first || span.begin == 0) && trim.keeps_first) leading = 0;
    auto begin = static_cast<std::size_t>(span.begin), end = static_cast<std::size_t>(span.end);
    for (; leading > 0 && begin < end; --leading) begin += static_cast<std::size_t>(decode_utf8(text, begin).size);
    for (; trailing > 0 && begin < end; --trailing) end = previous(text, end);
    return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
  }

  const std::vector<LayoutSlot>& slots(bool pair, const EncodeOptions& options) const {
    return layouts[pair][options.special_tokens];
  }

  std::string_view token(std::int32_t id) const {
    const std::string_view own = added_ids.token(id);
    return own.empty() ? attend::vocabulary(parts.model).token(id) : own;
  }

  Parts parts;
  AddedTokenFinder in_original, in_normalized;
  Vocabulary added_tokens;  // their ids
  Vocabulary added_ids;     // their content in normalized text
  std::vector<bool> is_special;
  std::int64_t size = 0;
  std::vector<LayoutSlot> layouts[2][2];  // [is a pair][with special tokens]
  Trimming trim;
  bool keep_bytes = false;     // the model encodes raw bytes instead of letters of the byte alphabet
  bool needs_origins = false;  // a step needs the original position of a word
  std::uint64_t number = new_model_number();
};

Tokenizer::Tokenizer(Parts parts) : state_(std::make_shared<const State>(std::move(parts))) {}

const Tokenizer::Parts& Tokenizer::parts() const { return state_->parts; }

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (options.max_tokens > 0) return std::move(encode_windows(text, options).front());
  static thread_local Tokens tokens;  // reuses its memory
  state_->encode(text, tokens);
  return assemble(state_->slots(false, options), all(tokens), {});
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const {
  return std::move(encode_pair_windows(first, second, options).front());
}

std::vector<Encoding> Tokenizer::encode_windows(std::string_view text, const EncodeOptions& options) const {
  Tokens tokens;
  state_->encode(text, tokens);
  const std::vector<LayoutSlot>& slots = state_->slots(false, options);
  std::vector<Encoding> result;
  const std::int64_t space = options.max_tokens > 0 ? room(slots, options.max_tokens) : tokens.size();
  if (tokens.size() <= space) {
    result.push_back(assemble(slots, all(tokens), {}));
  } else if (options.long_text == LongText::error) {
    too_long(tokens.size(), slots, options.max_tokens);
  } else if (options.long_text == LongText::truncate) {
    result.push_back(assemble(slots, {&tokens, 0, space}, {}));
  } else {
    for (const auto& [begin, end] : windows(tokens.size(), space, options.overlap)) {
      result.push_back(assemble(slots, {&tokens, begin, end}, {}));
      result.back().dropped = 0;
    }
  }
  return result;
}

std::vector<Encoding> Tokenizer::encode_pair_windows(std::string_view first, std::string_view second,
                                                     const EncodeOptions& options) const {
  Tokens a, b;
  state_->encode(first, a);
  state_->encode(second, b);
  const std::vector<LayoutSlot>& slots = state_->slots(true, options);
  std::vector<Encoding> result;
  const std::int64_t space = options.max_tokens > 0 ? room(slots, options.max_tokens) : a.size() + b.size();
  if (a.size() + b.size() <= space) {
    result.push_back(assemble(slots, all(a), all(b)));
  } else if (options.long_text == LongText::error) {
    too_long(a.size() + b.size(), slots, options.max_tokens);
  } else if (options.long_text == LongText::truncate) {
    Range left = all(a), right = all(b);
    shorten(left, right, space, options.max_tokens);
    result.push_back(assemble(slots, left, right));
  } else {
    if (a.size() >= space)
      fail<InputError>("tokenize", "the first text of a pair leaves no room for the second: got ", a.size(),
                       " tokens, expected less than ", space);
    for (const auto& [begin, end] : windows(b.size(), space - a.size(), options.overlap)) {
      result.push_back(assemble(slots, all(a), {&b, begin, end}));
      result.back().dropped = 0;
    }
  }
  return result;
}

std::vector<std::int32_t> Tokenizer::ids(std::string_view text, bool special_tokens) const {
  const ValidText valid(text);
  std::vector<std::int32_t> ids;
  ids.reserve(text.size() / 3 + 4);
  for (const LayoutSlot& slot : state_->layouts[false][special_tokens])
    if (slot.text < 0)
      ids.push_back(slot.id);
    else
      state_->cut(valid.text(), false,
                  [&](const AlignedText&, std::size_t, const Word&, std::span<const Piece> pieces) {
                    for (const Piece& piece : pieces) ids.push_back(piece.id);
                  });
  return ids;
}

std::vector<Encoding> Tokenizer::encode_all(std::span<const std::string> texts, const EncodeOptions& options) const {
  // Tasks of about equal size, even if the lengths of the texts differ.
  constexpr std::size_t kPieceBytes = 1 << 15;
  std::vector<std::size_t> cuts = {0};
  for (std::size_t i = 0, bytes = 0; i < texts.size(); ++i)
    if (bytes += texts[i].size() + 16; bytes >= kPieceBytes || i + 1 == texts.size()) {
      cuts.push_back(i + 1);
      bytes = 0;
    }
  std::vector<Encoding> result(texts.size());
  parallel_tasks(static_cast<std::int64_t>(cuts.size()) - 1, [&](std::int64_t piece) {
    const auto p = static_cast<std::size_t>(piece);
    for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) result[i] = encode(texts[i], options);
  });
  return result;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= size()) fail<InputError>("decode", "got the id ", id, ", expected 0 to ", size() - 1);
    if (skip_special && is_special(id)) continue;
    if (const std::string_view token = state_->token(id); !token.empty()) tokens.emplace_back(token);
  }
  return decode_tokens(state_->parts.decoder, std::move(tokens));
}

std::int64_t Tokenizer::size() const { return state_->size; }

std::optional<std::int32_t> Tokenizer::id(std::string_view token) const {
  const auto added = state_->added_tokens.id(token);
  return added ? added : vocabulary(state_->parts.model).id(token);
}

std::string Tokenizer::token(std::int32_t id) const { return std::string(state_->token(id)); }

bool Tokenizer::is_special(std::int32_t id) const {
  return id >= 0 && id < size() && state_->is_special[static_cast<std::size_t>(id)];
}

const SpecialTokens& Tokenizer::special() const { return state_->parts.special; }

std::int64_t Tokenizer::max_tokens() const { return state_->parts.max_tokens; }

const LanguageTokens& Tokenizer::languages() const { return state_->parts.languages; }

}  // namespace attend
