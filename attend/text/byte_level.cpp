#include "attend/text/byte_level.h"

#include "attend/text/unicode.h"

namespace attend {

const std::array<char32_t, 256>& byte_letters() {
  static const std::array<char32_t, 256> letters = [] {
    std::array<char32_t, 256> table;
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      table[byte] = printable ? byte : next++;
    }
    return table;
  }();
  return letters;
}

std::optional<unsigned char> byte_of_letter(char32_t letter) {
  static const std::array<int, 0x144> bytes = [] {
    std::array<int, 0x144> table;
    table.fill(-1);
    for (int byte = 0; byte < 256; ++byte) table[byte_letters()[static_cast<std::size_t>(byte)]] = byte;
    return table;
  }();
  if (letter >= bytes.size() || bytes[letter] < 0) return std::nullopt;
  return static_cast<unsigned char>(bytes[letter]);
}

std::string to_byte_letters(std::string_view bytes) {
  std::string letters;
  letters.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) append_utf8(byte_letters()[static_cast<unsigned char>(byte)], letters);
  return letters;
}

}  // namespace attend
