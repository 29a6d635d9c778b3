#include "attend/text/template/python_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

constexpr char32_t kSharpS = 0xDF, kSigma = 0x3A3, kFinalSigma = 0x3C2, kSmallSigma = 0x3C3;

bool is_cased(char32_t c) {
  const std::string_view kind = category(c);
  return kind == "Lu" || kind == "Ll" || kind == "Lt";
}

void append_upper(char32_t c, std::string& out) {
  if (c == kSharpS) {
    out += "SS";
    return;
  }
  append_utf8(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))), out);
}
void append_title(char32_t c, std::string& out) {
  if (c == kSharpS) {
    out += "Ss";
    return;
  }
  append_utf8(static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))), out);
}

/// The lower case of the code point at text[at]. A sigma at the end of a word has a form of its own.
void append_lower(std::string_view text, std::size_t at, CodePoint c, std::string& out) {
  if (c.value == kSigma) {
    const std::size_t end = at + static_cast<std::size_t>(c.size);
    std::size_t before = at;
    while (before > 0 && (static_cast<unsigned char>(text[--before]) & 0xC0) == 0x80) {
    }
    const bool inside = at > 0 && is_cased(decode_utf8(text, before).value);
    const bool goes_on = end < text.size() && is_cased(decode_utf8(text, end).value);
    append_utf8(inside && !goes_on ? kFinalSigma : kSmallSigma, out);
    return;
  }
  const LowerCase lower = lower_case(c.value);
  append_utf8(lower.first, out);
  if (lower.second != 0) append_utf8(lower.second, out);
}

template <typename Append>
std::string mapped(std::string_view text, const Append& append) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    append(at, c, out);
    at += static_cast<std::size_t>(c.size);
  }
  return out;
}

bool is_line_end(char32_t c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

bool is_python_space(char32_t c) { return is_space(c) || (c >= 0x1C && c <= 0x1F); }

std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = decode_utf8(text, at);
    if (!is_python_space(c.value)) break;
    at += static_cast<std::size_t>(c.size);
  }
  return at;
}

std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!is_python_space(decode_utf8(text, begin).value)) break;
    end = begin;
  }
  return text.size() - end;
}

std::string_view strip(std::string_view text, bool left, bool right, const std::optional<std::string>& chars) {
  if (!chars) {
    if (left) text.remove_prefix(leading_space(text));
    if (right) text.remove_suffix(trailing_space(text));
    return text;
  }
  const auto is_one = [&](std::string_view letter) { return chars->find(letter) != std::string::npos; };
  while (left && !text.empty()) {
    const auto size = static_cast<std::size_t>(decode_utf8(text, 0).size);
    if (!is_one(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!is_one(text.substr(begin))) break;
    text = text.substr(0, begin);
  }
  return text;
}

Letters::Letters(std::string_view text)
    : text_(text), ascii_(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
  if (ascii_) return;
  for (std::size_t at = 0; at < text.size(); at += static_cast<std::size_t>(decode_utf8(text, at).size))
    begins_.push_back(at);
  begins_.push_back(text.size());
}

std::size_t Letters::index(std::size_t byte) const {
  if (ascii_) return byte;
  return static_cast<std::size_t>(std::ranges::lower_bound(begins_, byte) - begins_.begin());
}

std::string upper(std::string_view text) {
  return mapped(text, [](std::size_t, CodePoint c, std::string& out) { append_upper(c.value, out); });
}

std::string lower(std::string_view text) {
  return mapped(text, [&](std::size_t at, CodePoint c, std::string& out) { append_lower(text, at, c, out); });
}

std::string capitalize(std::string_view text) {
  return mapped(text, [&](std::size_t at, CodePoint c, std::string& out) {
    at == 0 ? append_title(c.value, out) : append_lower(text, at, c, out);
  });
}

std::string title(std::string_view text) {
  bool inside = false;
  return mapped(text, [&](std::size_t at, CodePoint c, std::string& out) {
    inside ? append_lower(text, at, c, out) : append_title(c.value, out);
    inside = is_cased(c.value);
  });
}

std::string swap_case(std::string_view text) {
  return mapped(text, [&](std::size_t at, CodePoint c, std::string& out) {
    std::string_view(category(c.value)) == "Lu" ? append_lower(text, at, c, out) : append_upper(c.value, out);
  });
}

std::string replace(std::string_view text, std::string_view old, std::string_view fresh, std::int64_t count) {
  std::string out;
  std::size_t at = 0;
  if (old.empty()) {
    for (; at < text.size() && count != 0; --count) {
      const auto size = static_cast<std::size_t>(decode_utf8(text, at).size);
      (out += fresh) += text.substr(at, size);
      at += size;
    }
    if (at == text.size() && count != 0) out += fresh;
    return out += text.substr(at);
  }
  for (std::size_t found; count != 0 && (found = text.find(old, at)) != text.npos; --count) {
    (out += text.substr(at, found - at)) += fresh;
    at = found + old.size();
  }
  return out += text.substr(at);
}

std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, std::int64_t most,
                               bool from_right) {
  std::vector<std::string> parts;
  const auto left = [&] { return most < 0 || std::ssize(parts) < most; };
  if (!separator) {
    text = strip(text, !from_right, from_right);
    while (!text.empty()) {
      if (!left()) {
        parts.emplace_back(text);
        break;
      }
      std::size_t end = from_right ? text.size() : 0;
      if (from_right) {
        while (end > 0 && trailing_space(text.substr(0, end)) == 0) {
          --end;
          while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        }
        parts.emplace_back(text.substr(end));
        text = strip(text.substr(0, end), false, true);
      } else {
        while (end < text.size()) {
          const CodePoint c = decode_utf8(text, end);
          if (is_python_space(c.value)) break;
          end += static_cast<std::size_t>(c.size);
        }
        parts.emplace_back(text.substr(0, end));
        text = strip(text.substr(end), true, false);
      }
    }
  } else if (from_right) {
    for (std::size_t found; left() && (found = text.rfind(*separator)) != text.npos;) {
      parts.emplace_back(text.substr(found + separator->size()));
      text = text.substr(0, found);
    }
    parts.emplace_back(text);
  } else {
    for (std::size_t found; left() && (found = text.find(*separator)) != text.npos;) {
      parts.emplace_back(text.substr(0, found));
      text = text.substr(found + separator->size());
    }
    parts.emplace_back(text);
  }
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    std::size_t end = at + static_cast<std::size_t>(c.size);
    if (is_line_end(c.value)) {
      if (c.value == '\r' && end < text.size() && text[end] == '\n') ++end;
      lines.emplace_back(text.substr(begin, (keep_ends ? end : at) - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace attend::jinja
