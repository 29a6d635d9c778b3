#include "attend/text/pre_tokenizer.h"

#include <algorithm>
#include <array>

#include "attend/text/aligned_text.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using pre_tokenizer::Behavior;

constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::uint16_t kKinds = property::kLetter | property::kNumber | property::kWhiteSpace;

/// The kind of the code point at text[at] in GPT-2's expression, and its size.
struct Seen {
  std::uint16_t kind;  // kLetter, kNumber, kWhiteSpace, or 0 for all others
  std::size_t size;
};
Seen see(std::string_view text, std::size_t at) {
  static const std::array<std::uint8_t, 128> ascii = [] {
    std::array<std::uint8_t, 128> kinds;
    for (char32_t c = 0; c < 128; ++c) kinds[c] = static_cast<std::uint8_t>(properties(c) & kKinds);
    return kinds;
  }();
  if (const auto byte = static_cast<unsigned char>(text[at]); byte < 0x80) return {ascii[byte], 1};
  const CodePoint c = decode_utf8(text, at);
  return {static_cast<std::uint16_t>(properties(c.value) & kKinds), static_cast<std::size_t>(c.size)};
}

/// Splits words into smaller ones. A splitter calls piece(begin, end, is_match) for consecutive parts of a word.
template <typename Cutter>
void cut_words(std::vector<Word>& words, Behavior behavior, Cutter cutter) {
  static thread_local std::vector<Word> cut;  // reuses its memory
  cut.clear();
  for (const Word& word : words) {
    if (word.added >= 0) {
      cut.push_back(word);
      continue;
    }
    const std::size_t first = cut.size();
    bool previous = false;
    const auto grow_last = [&](std::size_t end) { cut.back().end = end; };
    cutter(word, [&](std::size_t begin, std::size_t end, bool is_match) {
      const bool has_last = cut.size() > first;
      switch (behavior) {
        case Behavior::removed:
          if (!is_match) cut.push_back({begin, end});
          break;
        case Behavior::isolated:
          cut.push_back({begin, end});
          break;
        case Behavior::contiguous:
          if (has_last && is_match == previous)
            grow_last(end);
          else
            cut.push_back({begin, end});
          break;
        case Behavior::merged_with_previous:
          if (has_last && is_match && !previous)
            grow_last(end);
          else
            cut.push_back({begin, end});
          break;
        case Behavior::merged_with_next:
          if (has_last && previous && !is_match)
            grow_last(end);
          else
            cut.push_back({begin, end});
          break;
      }
      previous = is_match;
    });
  }
  words.swap(cut);
}

/// A splitter in which each code point of a kind is a match.
auto at_each(std::string_view text, std::uint16_t kind) {
  return [text, kind](const Word& word, auto piece) {
    std::size_t begin = word.begin;
    for (std::size_t at = word.begin; at < word.end;) {
      const CodePoint c = decode_utf8(text, at);
      const std::size_t end = at + static_cast<std::size_t>(c.size);
      if (properties(c.value) & kind) {
        if (begin < at) piece(begin, at, false);
        piece(at, end, true);
        begin = end;
      }
      at = end;
    }
    if (begin < word.end) piece(begin, word.end, false);
  };
}

/// A splitter by a pattern. With `invert`, the matches are the text between the pattern's matches.
auto at_pattern(std::string_view text, const Pattern& pattern, bool invert) {
  return [text, &pattern, invert](const Word& word, auto piece) {
    const std::string_view whole = text.substr(word.begin, word.end - word.begin);
    PatternSearch search(pattern, whole);
    std::size_t begin = 0;
    while (const auto match = search.next()) {
      if (begin < match->begin) piece(word.begin + begin, word.begin + match->begin, invert);
      piece(word.begin + match->begin, word.begin + match->end, !invert);
      begin = match->end;
    }
    if (begin < whole.size()) piece(word.begin + begin, word.end, invert);
  };
}

/// A splitter by GPT-2's expression; all parts are matches.
auto at_gpt2_words(std::string_view text) {
  return [text](const Word& word, auto piece) {
    const std::string_view until = text.substr(0, word.end);
    for (std::size_t at = word.begin, end; at < word.end; at = end) piece(at, end = gpt2_word_end(until, at), true);
  };
}

/// Rewrites each word by write(edit, word), which reads up to word.end, and updates the positions of the words.
void rewrite_words(AlignedText& text, std::vector<Word>& words, auto write) {
  TextEdit edit(text);
  for (Word& word : words) {
    edit.drop(word.begin - edit.at());
    const std::size_t begin = edit.written();
    if (word.added >= 0)
      edit.keep(word.end - word.begin);
    else
      write(edit, word);
    word.begin = begin;
    word.end = edit.written();
  }
  edit.commit();
}

struct PreTokenize {
  AlignedText& text;
  std::vector<Word>& words;
  std::int64_t offset;
  bool keep_bytes;

  void operator()(const pre_tokenizer::Bert&) const {
    const std::string_view all = text.text();
    cut_words(words, Behavior::isolated, [all](const Word& word, auto piece) {
      std::size_t begin = word.begin;
      for (std::size_t at = word.begin; at < word.end;) {
        const CodePoint c = decode_utf8(all, at);
        const std::uint16_t bits = properties(c.value);
        const std::size_t end = at + static_cast<std::size_t>(c.size);
        if (bits & (property::kWhiteSpace | property::kPunctuation)) {
          if (begin < at) piece(begin, at, false);
          if (bits & property::kPunctuation) piece(at, end, true);
          begin = end;
        }
        at = end;
      }
      if (begin < word.end) piece(begin, word.end, false);
    });
  }

  void operator()(const pre_tokenizer::ByteLevel& step) const {
    const auto lacks_space = [&](const Word& word) { return word.added < 0 && text.text()[word.begin] != ' '; };
    if (step.add_prefix_space && std::ranges::any_of(words, lacks_space))
      rewrite_words(text, words, [&](TextEdit& edit, const Word& word) {
        if (lacks_space(word)) edit.prepend(" ");
        edit.keep(word.end - edit.at());
      });
    if (step.use_regex) cut_words(words, Behavior::isolated, at_gpt2_words(text.text()));
    if (!keep_bytes)
      rewrite_words(text, words, [](TextEdit& edit, const Word& word) {
        while (edit.at() < word.end) edit.to_byte_letters();
      });
  }

  void operator()(const pre_tokenizer::Whitespace&) const {
    const std::string_view all = text.text();
    constexpr std::uint16_t kinds = property::kWord | property::kWhiteSpace;
    cut_words(words, Behavior::removed, [all](const Word& word, auto piece) {
      for (std::size_t at = word.begin; at < word.end;) {
        const std::size_t begin = at;
        std::uint16_t kind = kinds;
        for (CodePoint c; at < word.end; at += static_cast<std::size_t>(c.size)) {
          c = decode_utf8(all, at);
          const std::uint16_t own = properties(c.value) & kinds;
          if (at == begin) kind = own;
          if (own != kind) break;
        }
        piece(begin, at, kind == property::kWhiteSpace);
      }
    });
  }

  void operator()(const pre_tokenizer::WhitespaceSplit&) const {
    cut_words(words, Behavior::removed, at_each(text.text(), property::kWhiteSpace));
  }

  void operator()(const pre_tokenizer::Punctuation& step) const {
    cut_words(words, step.behavior, at_each(text.text(), property::kPunctuation));
  }

  void operator()(const pre_tokenizer::Digits& step) const {
    cut_words(words, step.individual_digits ? Behavior::isolated : Behavior::contiguous,
              at_each(text.text(), property::kDigit));
  }

  void operator()(const pre_tokenizer::Metaspace& step) const {
    using Prepend = pre_tokenizer::Metaspace::Prepend;
    rewrite_words(text, words, [&](TextEdit& edit, const Word& word) {
      const std::string_view own = text.text().substr(word.begin, word.end - word.begin);
      const bool begins_with_it = own[0] == ' ' || own.starts_with(step.replacement);
      const bool first = step.prepend_scheme == Prepend::first && text.origin(word.begin, word.end).begin + offset == 0;
      if (!begins_with_it && (first || step.prepend_scheme == Prepend::always)) edit.prepend(step.replacement);
      while (edit.at() < word.end) {
        const std::size_t space = std::min(text.text().find(' ', edit.at()), word.end);
        edit.keep(space - edit.at());
        if (edit.at() == word.end) break;
        edit.drop();
        edit.insert(step.replacement);
      }
    });
    if (step.split) {
      const Pattern pattern = Pattern::string(step.replacement);
      cut_words(words, Behavior::merged_with_next, at_pattern(text.text(), pattern, false));
    }
  }

  void operator()(const pre_tokenizer::Split& step) const {
    if (step.pattern.is_regex() && step.pattern.text() == kGpt2 && !step.invert)
      cut_words(words, step.behavior, at_gpt2_words(text.text()));
    else
      cut_words(words, step.behavior, at_pattern(text.text(), step.pattern, step.invert));
  }

  void operator()(const pre_tokenizer::CharDelimiterSplit& step) const {
    const Pattern pattern = Pattern::string(step.delimiter);
    cut_words(words, Behavior::removed, at_pattern(text.text(), pattern, false));
  }
};

}  // namespace

std::size_t gpt2_word_end(std::string_view text, std::size_t at) {
  if (text[at] == '\'') {
    const std::string_view rest = text.substr(at + 1, 2);
    if (rest.starts_with('s') || rest.starts_with('t') || rest.starts_with('m') || rest.starts_with('d')) return at + 2;
    if (rest == "re" || rest == "ve" || rest == "ll") return at + 3;
  }
  const auto run_end = [text](std::size_t from, std::uint16_t kind) {
    for (Seen next; from < text.size() && (next = see(text, from)).kind == kind;) from += next.size;
    return from;
  };
  const Seen first = see(text, at);
  if (first.kind != property::kWhiteSpace) return run_end(at + first.size, first.kind);
  if (text[at] == ' ' && at + 1 < text.size())
    if (const Seen second = see(text, at + 1); second.kind != property::kWhiteSpace)
      return run_end(at + 1 + second.size, second.kind);
  // The last character of a run of white space belongs to the next word.
  std::size_t last = at, end = at;
  for (Seen next; end < text.size() && (next = see(text, end)).kind == property::kWhiteSpace; end += next.size)
    last = end;
  return end == text.size() || last == at ? end : last;
}

void pre_tokenize(const PreTokenizer& steps, AlignedText& text, std::vector<Word>& words, std::int64_t offset,
                  bool keep_bytes) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    std::visit(PreTokenize{text, words, offset, keep_bytes && i + 1 == steps.size()}, steps[i]);
}

}  // namespace attend
