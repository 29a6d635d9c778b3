#include "attend/text/sentences.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "attend/text/unicode.h"

namespace attend {
namespace {

using Words = std::set<std::string_view>;

bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != std::u32string_view::npos; }

bool is_line_end(char32_t c) { return is_one_of(c, U"\n\r\v\f\x85\u2028\u2029"); }
/// Marks that end a sentence if white space follows: ! ? and similar marks of Arabic, Devanagari, Armenian, Ethiopic …
bool is_mark(char32_t c) { return is_one_of(c, U"!?…‼⁇⁈⁉‽؟۔।॥։።"); }
/// Marks that end a sentence in scripts without spaces.
bool is_wide_mark(char32_t c) { return is_one_of(c, U"。！？｡．"); }
bool is_closing(char32_t c) { return is_one_of(c, U"\"')]}’”“»«›‹」』）】》〉］｝＂"); }
bool is_letter(char32_t c) { return (properties(c) & property::kLetter) != 0; }
bool is_small(char32_t c) { return category(c) == std::string_view("Ll"); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Abbreviations that never end a sentence, in lower case and without their last full stop.
bool is_followed(std::string_view word) {
  static const Words kAbbreviations = {
      // titles
      "mr", "mrs", "ms", "dr", "prof", "sig", "sigg", "dott", "ing", "avv", "arch", "geom", "rag", "on", "st", "sen",
      "rep", "rev", "gen", "col", "lt", "capt", "cpt", "sgt", "hon", "mme", "mlle", "mgr", "hr", "fr", "herr", "dipl",
      "sra", "srta", "dra", "don", "gov", "pres", "messrs", "maj", "cmdr", "spett", "egr", "gent",
      // references and numbers
      "nr", "art", "artt", "fig", "figs", "vol", "vols", "pag", "pagg", "pp", "cap", "sez", "cfr", "cf", "vgl", "abs",
      "kap", "tab", "abb", "bd", "hrsg", "eds", "tel", "ca", "vs", "approx", "bzw", "evtl", "ggf", "inkl", "exkl",
      "sog", "sogen", "allg", "ad", "núm", "pág", "ej", "viz", "resp", "incl", "excl", "eg", "ie", "min", "max"};
  return kAbbreviations.contains(word);
}

/// Abbreviations that may end a sentence.
bool may_be_last(std::string_view word) {
  static const Words kAbbreviations = {"etc", "ecc", "usw", "inc",  "ltd",  "co",  "corp", "bros", "jr",  "sr",  "jan",
                                       "feb", "mar", "apr", "jun",  "jul",  "aug", "sep",  "sept", "oct", "nov", "dec",
                                       "okt", "dez", "mär", "dept", "univ", "ed",  "ph",   "esq",  "mio", "mrd", "str"};
  return kAbbreviations.contains(word);
}

/// Words that often begin a sentence, and are in lower case elsewhere. After "U.S.", such a capitalised word begins a
/// sentence.
bool begins_sentences(std::string_view word) {
  static const Words kWords = {
      "The",  "A",    "An",   "In",   "It", "He",  "She", "They", "We",     "This",   "That", "There", "But",
      "And",  "You",  "When", "If",   "At", "On",  "His", "Her",  "Il",     "La",     "Lo",   "I",     "Gli",
      "Le",   "Un",   "Una",  "Non",  "Ma", "E",   "È",   "Si",   "Questo", "Questa", "Der",  "Die",   "Das",
      "Ein",  "Eine", "Er",   "Sie",  "Es", "Wir", "Ich", "Und",  "Aber",   "Dies",   "Im",   "Les",   "Une",
      "Elle", "Nous", "Ils",  "Mais", "El", "Los", "Las", "No",   "Pero",   "Es",     "Este", "Esta"};
  return kWords.contains(word);
}

/// Words after an ordinal number: 3. Oktober, 19. Jahrhundert.
bool takes_ordinal(std::string_view word) {
  static const Words kWords = {
      "Januar",    "Jänner",  "Februar",  "März",     "April",       "Mai",          "Juni",   "Juli",  "August",
      "September", "Oktober", "November", "Dezember", "Jahrhundert", "Jahrhunderts", "Klasse", "Stock", "Geburtstag",
      "Mal",       "Platz",   "Tag",      "Woche",    "Weltkrieg",   "Auflage",      "Runde"};
  return kWords.contains(word);
}

std::string in_small_letters(std::string_view word) {
  std::string small;
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint c = decode_utf8(word, at);
    const LowerCase lower = lower_case(c.value);
    append_utf8(lower.first, small);
    if (lower.second) append_utf8(lower.second, small);
    at += static_cast<std::size_t>(c.size);
  }
  return small;
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<Span> cut() {
    for (std::size_t at = 0; at < text_.size();) {
      const CodePoint c = decode_utf8(text_, at);
      const std::size_t next = at + static_cast<std::size_t>(c.size);
      if (is_line_end(c.value)) {
        end_at(last_);
      } else if (!is_space(c.value)) {
        if (!inside_) begin_ = word_ = at, inside_ = true;
        if (after_space_) word_ = at;
        last_ = next;
        if (const bool wide = is_wide_mark(c.value); wide || c.value == U'.' || is_mark(c.value)) {
          at = at_mark(at, wide);
          after_space_ = false;
          continue;
        }
      }
      after_space_ = is_space(c.value);
      at = next;
    }
    end_at(last_);
    return std::move(spans_);
  }

 private:
  char32_t at(std::size_t position) const {
    return position < text_.size() ? decode_utf8(text_, position).value : U'\0';
  }
  std::size_t skip(std::size_t position, bool (*what)(char32_t)) const {
    while (position < text_.size()) {
      const CodePoint c = decode_utf8(text_, position);
      if (!what(c.value)) break;
      position += static_cast<std::size_t>(c.size);
    }
    return position;
  }
  bool ends_or_space(std::size_t position) const { return position >= text_.size() || is_space(at(position)); }

  void end_at(std::size_t end) {
    if (!inside_) return;
    spans_.push_back({static_cast<std::int64_t>(begin_), static_cast<std::int64_t>(end)});
    inside_ = false, after_space_ = true;
  }

  /// Decides whether the mark at `start` ends a sentence. Returns the position to continue from.
  std::size_t at_mark(std::size_t start, bool wide) {
    const auto any_mark = [](char32_t c) { return c == U'.' || is_mark(c) || is_wide_mark(c); };
    const std::size_t marks_end = skip(start, any_mark);
    std::size_t end = skip(marks_end, is_closing);
    last_ = end;
    if (wide) {
      // A quotation may be followed by the rest of its sentence: 「はい。」と言った。
      if (end == marks_end || ends_or_space(end)) end_at(end);
      return end;
    }
    if (!ends_or_space(end)) return end;
    const std::size_t quote = skip(end, is_space);
    // French has a space before a closing quote; an opening quote has none after it.
    if (!crosses_line(end, quote) && at(quote) == U'»' && ends_or_space(quote + 2)) last_ = end = quote + 2;
    const std::size_t next = skip(end, is_space);
    const std::size_t begin_of_next = skip(next, [](char32_t c) { return is_one_of(c, U"\"'([{¿¡«»“‘„‚-–—*"); });
    if (next < text_.size() && is_small(at(begin_of_next)) && !crosses_line(end, next)) return end;
    const bool one_stop = text_[start] == '.' && marks_end == start + 1;
    if (one_stop && next < text_.size() && !crosses_line(end, next) && belongs_to_word(start, begin_of_next))
      return end;
    end_at(end);
    return end;
  }

  bool crosses_line(std::size_t from, std::size_t to) const {
    for (std::size_t position = from; position < to;) {
      const CodePoint c = decode_utf8(text_, position);
      if (is_line_end(c.value)) return true;
      position += static_cast<std::size_t>(c.size);
    }
    return false;
  }

  /// Whether the full stop belongs to the word before it. The following text begins at `next`.
  bool belongs_to_word(std::size_t stop, std::size_t next) const {
    std::string_view word = text_.substr(word_, stop - word_);
    while (!word.empty() && is_one_of(static_cast<unsigned char>(word.front()), U"\"'([{")) word.remove_prefix(1);
    if (word.empty()) return false;
    const std::size_t next_end = skip(next, is_letter);
    const std::string_view next_word = text_.substr(next, next_end - next);
    if (std::ranges::all_of(word, is_digit)) {
      const bool numbers_a_list = word_ == begin_ && word.size() <= 3;
      return numbers_a_list || (word.size() <= 2 && takes_ordinal(next_word));
    }
    // A single letter is an initial, or part of "z. B.".
    const CodePoint first = decode_utf8(word, 0);
    if (static_cast<std::size_t>(first.size) == word.size()) return is_letter(first.value);
    if (word.find('.') != std::string_view::npos) return !begins_sentences(next_word);
    const std::string small = in_small_letters(word);
    if (small == "no" || small == "n" || small == "p") return next < text_.size() && is_digit(text_[next]);
    if (is_followed(small)) return true;
    return may_be_last(small) && !begins_sentences(next_word);
  }

  std::string_view text_;
  std::vector<Span> spans_;
  std::size_t begin_ = 0, last_ = 0;  // start of the sentence, and end of its last character so far
  std::size_t word_ = 0;              // start of the current word
  bool inside_ = false, after_space_ = true;
};

struct Letters {
  char32_t first, last;
};
bool is_in(char32_t c, std::span<const Letters> ranges) {
  return std::ranges::any_of(ranges, [c](const Letters& range) { return range.first <= c && c <= range.last; });
}

/// Chinese and Japanese characters and punctuation.
constexpr Letters kWide[] = {{0x2E80, 0x2FFF}, {0x3000, 0x312F},   {0x31A0, 0x31FF},   {0x3300, 0x4DBF},
                             {0x4E00, 0x9FFF}, {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},   {0xFF00, 0xFF9F},
                             {0xFFE0, 0xFFEF}, {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x20000, 0x3FFFF}};
/// Scripts with spaces between sentences but not between words: Thai, Lao, Tibetan, Burmese with its extensions, Khmer,
/// Javanese.
constexpr Letters kWithoutSpaces[] = {{0x0E00, 0x0EFF}, {0x0F00, 0x0FFF}, {0x1000, 0x109F}, {0x1780, 0x17FF},
                                      {0x19E0, 0x19FF}, {0xA980, 0xA9FF}, {0xAA60, 0xAA7F}};
bool is_wide(char32_t c) { return is_in(c, kWide); }
bool is_without_spaces(char32_t c) { return is_wide(c) || is_in(c, kWithoutSpaces); }

constexpr std::size_t kNear = 256;  // bytes

/// The last character that is not a quote or bracket used by several scripts; 0 if there is none.
char32_t last_of(std::string_view text) {
  // More quotes and spaces than this are no text; a long row of them must not be read again for each sentence.
  if (text.size() > kNear) text.remove_prefix(text.size() - kNear);
  char32_t last = 0;
  for (std::size_t at = text.size(); at > 0;) {
    do --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    last = decode_utf8(text, at).value;
    if (!is_one_of(last, U"\"')]}’”»›") && !is_space(last)) return last;
  }
  return last;
}
char32_t first_of(std::string_view text) {
  text = text.substr(0, kNear);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (!is_one_of(c.value, U"\"'([{‘“«‹") && !is_space(c.value)) return c.value;
    at += static_cast<std::size_t>(c.size);
  }
  return 0;
}

}  // namespace

bool sentences_touch(std::string_view left, std::string_view right) {
  const char32_t last = last_of(left);
  // Full-width punctuation contains its own space.
  return is_wide(last) && (!is_letter(last) || is_wide(first_of(right)));
}

bool words_touch(std::string_view left, std::string_view right) {
  return sentences_touch(left, right) || (is_without_spaces(last_of(left)) && is_without_spaces(first_of(right)));
}

std::vector<Span> sentences(std::string_view text) { return Cutter(text).cut(); }

std::vector<std::string> split_sentences(std::string_view text) {
  std::vector<std::string> all;
  for (const Span& span : sentences(text))
    all.emplace_back(
        text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
  return all;
}

}  // namespace attend
