#include "attend/text/printable.h"

#include "attend/text/unicode.h"

namespace attend {
namespace {

/// C0, DEL and C1 (Unicode category Cc), which terminals may interpret.
bool is_control(char32_t c) { return c < 0x20 ? c != '\t' && c != '\n' : c >= 0x7f && c < 0xa0; }

}  // namespace

std::string printable(std::string_view text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const std::string_view bytes = text.substr(at, static_cast<std::size_t>(c.size));
    if (c.valid && !is_control(c.value)) {
      out += bytes;
    } else {
      for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        out += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
      }
    }
    at += bytes.size();
  }
  return out;
}

}  // namespace attend
