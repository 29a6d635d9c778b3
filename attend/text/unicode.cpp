#include "attend/text/unicode.h"

#include <cstring>

namespace attend {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// For a first byte: the number of bytes that follow, and the valid range of the next one (Unicode, table 3-7).
struct Lead {
  int followers = 0;
  unsigned low = 0x80, high = 0xBF;
};
Lead lead_of(unsigned byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {2, 0x80, 0x9F};  // no surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};  // no overlong forms
  if (byte == 0xF4) return {3, 0x80, 0x8F};  // at most U+10FFFF
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  return {};
}

/// The first byte at or after `at` that is not ASCII, or the end.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if (word & kHighBits) break;
  }
  while (at < text.size() && byte_at(text, at) < 0x80) ++at;
  return at;
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.followers == 0) return {kReplacement, 1, false};
  char32_t value = first & (0x3FU >> lead.followers);
  for (int i = 1; i <= lead.followers; ++i) {
    const std::size_t next = at + static_cast<std::size_t>(i);
    const unsigned low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
    if (next >= text.size() || byte_at(text, next) < low || byte_at(text, next) > high) return {kReplacement, i, false};
    value = value << 6 | (byte_at(text, next) & 0x3F);
  }
  return {value, lead.followers + 1, true};
}

void append_utf8(char32_t code_point, std::string& text) {
  auto follower = [&](int shift) { text += static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0 | code_point >> 6);
    follower(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0 | code_point >> 12);
    follower(6), follower(0);
  } else {
    text += static_cast<char>(0xF0 | code_point >> 18);
    follower(12), follower(6), follower(0);
  }
}

std::size_t unfinished_utf8(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::size_t at = text.size() - back;
    if ((byte_at(text, at) & 0xC0) == 0x80) continue;  // a continuation byte
    const CodePoint end = decode_utf8(text, at);
    const bool cut = !end.valid && static_cast<std::size_t>(end.size) == back &&
                     static_cast<std::size_t>(lead_of(byte_at(text, at)).followers) >= back;
    return cut ? back : 0;
  }
  return 0;
}

std::int64_t count_invalid_utf8(std::string_view text) {
  std::int64_t invalid = 0;
  for (std::size_t at = skip_ascii(text, 0); at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    invalid += !c.valid;
    at += static_cast<std::size_t>(c.size);
    if (at < text.size() && byte_at(text, at) < 0x80) at = skip_ascii(text, at);
  }
  return invalid;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const auto size = static_cast<std::size_t>(c.size);
    if (c.valid)
      result += text.substr(at, size);
    else
      append_utf8(kReplacement, result);
    at += size;
  }
  return result;
}

std::int64_t count_code_points(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace attend
