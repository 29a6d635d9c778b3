#include "attend/text/normalizer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "attend/text/aligned_text.h"
#include "attend/text/byte_level.h"

namespace attend {
namespace {

using AsciiMap = std::array<char, 128>;
constexpr char kStop = TextEdit::kStop;

AsciiMap ascii_map(auto by) {
  AsciiMap map;
  for (int c = 0; c < 128; ++c) map[static_cast<std::size_t>(c)] = static_cast<char>(by(static_cast<char32_t>(c)));
  return map;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

/// Rewrites a text: ASCII by a map, all other characters by special(edit, next code point).
void rewrite(AlignedText& text, const AsciiMap& map, auto special) {
  TextEdit edit(text);
  while (!edit.done()) {
    edit.map(map);
    if (!edit.done()) special(edit, edit.peek());
  }
  edit.commit();
}

const AsciiMap& ascii_as_is() {
  static const AsciiMap map = ascii_map([](char32_t c) { return c; });
  return map;
}

void lower(TextEdit& edit, char32_t c) {
  const LowerCase lower = lower_case(c);
  edit.replace(lower.first);
  if (lower.second) edit.insert(lower.second);
}

void clean(TextEdit& edit, char32_t c) {
  const std::uint16_t bits = properties(c);
  if (bits & property::kControl)
    edit.drop();
  else
    edit.replace(bits & property::kWhiteSpace ? U' ' : c);
}

char clean_ascii(char32_t c) {
  const std::uint16_t bits = properties(c);
  return bits & property::kControl ? kStop : static_cast<char>(bits & property::kWhiteSpace ? U' ' : c);
}

void drop_all(AlignedText& text, property::Property kind) {
  rewrite(text, ascii_as_is(),
          [kind](TextEdit& edit, char32_t c) { properties(c) & kind ? edit.drop() : edit.keep(); });
}

/// Replaces the text by the code points of a normal form.
void rewrite(AlignedText& text, const std::vector<NormalCodePoint>& code_points) {
  TextEdit edit(text);
  for (const NormalCodePoint& c : code_points) {
    if (c.change > 0) {
      edit.insert(c.value);
      continue;
    }
    edit.replace(c.value);
    for (int removed = 0; removed < -c.change; ++removed) edit.drop();
  }
  edit.commit();
}

void to_form(AlignedText& text, NormalForm form) {
  if (may_change_in_form(text.text(), form)) rewrite(text, normal_form(text.text(), form));
}

struct Normalize {
  AlignedText& text;

  void operator()(const normalizer::Bert& bert) const {
    static const AsciiMap clean_map = ascii_map(clean_ascii);
    static const AsciiMap clean_and_lower_map = ascii_map([](char32_t c) {
      const char cleaned = clean_ascii(c);
      return cleaned >= 'A' && cleaned <= 'Z' ? static_cast<char>(cleaned + 32) : cleaned;
    });
    if (bert.clean_text && bert.lowercase && is_ascii(text.text()))  // ASCII has no accents and no ideographs
      return rewrite(text, clean_and_lower_map, clean);
    if (bert.clean_text) rewrite(text, clean_map, clean);
    if (bert.handle_chinese_chars)
      rewrite(text, ascii_as_is(), [](TextEdit& edit, char32_t c) {
        if (!(properties(c) & property::kChinese)) return edit.keep();
        edit.replace(U' ');
        edit.insert(c);
        edit.insert(U' ');
      });
    if (bert.strip_accents.value_or(bert.lowercase)) {
      to_form(text, NormalForm::nfd);
      drop_all(text, property::kNonspacingMark);
    }
    if (bert.lowercase) (*this)(normalizer::Lowercase{});
  }

  void operator()(const normalizer::Unicode& unicode) const { to_form(text, unicode.form); }

  void operator()(const normalizer::Lowercase&) const {
    static const AsciiMap map = ascii_map([](char32_t c) { return lower_case(c).first; });
    rewrite(text, map, lower);
  }

  void operator()(const normalizer::StripAccents&) const { drop_all(text, property::kMark); }

  void operator()(const normalizer::Strip& strip) const {
    const std::string_view old = text.text();
    std::size_t begin = 0, end = old.size();
    if (strip.left)
      for (CodePoint c; begin < end && is_space((c = decode_utf8(old, begin)).value);)
        begin += static_cast<std::size_t>(c.size);
    while (strip.right && end > begin) {
      std::size_t last = end - 1;
      while ((old[last] & 0xC0) == 0x80) --last;
      if (!is_space(decode_utf8(old, last).value)) break;
      end = last;
    }
    if (begin == 0 && end == old.size()) return;
    TextEdit edit(text);
    edit.drop(begin);
    edit.keep(end - begin);
    edit.commit();
  }

  void operator()(const normalizer::Replace& replace) const {
    const std::string_view old = text.text();
    PatternSearch search(replace.pattern, old);
    auto match = search.next();
    if (!match) return;
    TextEdit edit(text);
    for (; match; match = search.next()) {
      edit.keep(match->begin - edit.at());
      edit.drop(match->end - match->begin);
      edit.insert(replace.content);
    }
    edit.keep(old.size() - edit.at());
    edit.commit();
  }

  void operator()(const normalizer::Prepend& step) const {
    if (text.text().empty()) return;
    TextEdit edit(text);
    edit.prepend(step.prepend);
    edit.keep(text.text().size() - edit.at());
    edit.commit();
  }

  void operator()(const normalizer::Precompiled& precompiled) const;

  void operator()(const normalizer::Nmt&) const {
    const auto clean_up = [](TextEdit& edit, char32_t c) {
      const bool control =
          (c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
      const bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                         c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
      if (control)
        edit.drop();
      else
        edit.replace(space ? U' ' : c);
    };
    static const AsciiMap map = ascii_map([](char32_t c) { return c < 0x20 || c == 0x7F ? char32_t{0xFF} : c; });
    rewrite(text, map, clean_up);
  }

  void operator()(const normalizer::ByteLevel&) const {
    TextEdit edit(text);
    while (!edit.done()) edit.to_byte_letters();
    edit.commit();
  }
};

/// SentencePiece's map: a double-array trie (in the layout of darts-clone) from UTF-8 to offsets in a block of strings.
class CharsMap {
 public:
  explicit CharsMap(std::string_view bytes) {
    std::uint32_t size = 0;
    if (bytes.size() < 4) return;
    std::memcpy(&size, bytes.data(), 4);
    if (size > bytes.size() - 4) return;
    trie_ = bytes.substr(4, size);
    strings_ = bytes.substr(4 + size);
  }

  /// The replacement of the shortest prefix of `text` that is in the map, or none.
  std::optional<std::string_view> find(std::string_view text) const {
    std::size_t node = offset(unit(0));
    for (const char byte : text) {
      const auto label = static_cast<unsigned char>(byte);
      if (label == 0) return std::nullopt;
      node ^= label;
      const std::uint32_t found = unit(node);
      if ((found & 0x800000FFu) != label) return std::nullopt;
      node ^= offset(found);
      if (!(found >> 8 & 1)) continue;
      const std::size_t begin = unit(node) & 0x7FFFFFFFu;
      if (begin >= strings_.size()) return std::nullopt;
      return strings_.substr(begin, strings_.find('\0', begin) - begin);
    }
    return std::nullopt;
  }

 private:
  std::uint32_t unit(std::size_t index) const {
    std::uint32_t value = 0;
    if (4 * index + 4 <= trie_.size()) std::memcpy(&value, trie_.data() + 4 * index, 4);
    return value;
  }
  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 1u << 9) >> 6); }

  std::string_view trie_, strings_;
};

/// Replaces `old` code points by those of `by`, one by one. Surplus new code points are marked as inserted. Surplus old
/// ones are counted with the last code point before them; at the beginning of a text there is none, so they are not
/// counted. (This is what Hugging Face does.)
void substitute(std::vector<NormalCodePoint>& code_points, std::int64_t old, std::string_view by) {
  for (std::size_t at = 0; at < by.size();) {
    const CodePoint c = decode_utf8(by, at);
    at += static_cast<std::size_t>(c.size);
    code_points.push_back({c.value, old-- > 0 ? 0 : 1});
  }
  if (old > 0 && !code_points.empty()) code_points.back().change -= static_cast<int>(old);
}

void Normalize::operator()(const normalizer::Precompiled& precompiled) const {
  constexpr std::size_t kLongestGrapheme = 5;  // in bytes; longer ones are looked up by code point
  const CharsMap map(precompiled.charsmap);
  const std::string_view old = text.text();
  std::vector<NormalCodePoint> code_points;
  code_points.reserve(old.size());
  bool changed = false;
  for (std::size_t begin = 0, end = 0; begin < old.size(); begin = end) {
    int state = 0;
    for (char32_t left = 0; end < old.size();) {
      const CodePoint c = decode_utf8(old, end);
      if (end > begin && is_grapheme_break(left, c.value, state)) break;
      left = c.value;
      end += static_cast<std::size_t>(c.size);
    }
    const std::string_view grapheme = old.substr(begin, end - begin);
    const auto by = grapheme.size() <= kLongestGrapheme ? map.find(grapheme) : std::nullopt;
    if (by) substitute(code_points, count_code_points(grapheme), *by);
    changed = changed || by;
    for (std::size_t at = 0; !by && at < grapheme.size();) {
      const CodePoint c = decode_utf8(grapheme, at);
      const auto one = map.find(grapheme.substr(at, static_cast<std::size_t>(c.size)));
      if (one)
        substitute(code_points, 1, *one);
      else
        code_points.push_back({c.value, 0});
      changed = changed || one;
      at += static_cast<std::size_t>(c.size);
    }
  }
  if (changed) rewrite(text, code_points);
}

}  // namespace

void normalize(const Normalizer& normalizer, AlignedText& text) {
  for (const normalizer::Step& step : normalizer) std::visit(Normalize{text}, step);
}

std::string normalized(const Normalizer& normalizer, std::string_view text) {
  AlignedText aligned(text, false);
  normalize(normalizer, aligned);
  return std::string(aligned.text());
}

}  // namespace attend
