// GPT-2's byte alphabet. Each byte has a printable letter: the byte itself if it is printable, otherwise a letter from
// U+0100 on. So a vocabulary of bytes can be written as text: " hello" is "Ġhello".
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace attend {

/// The letters of the 256 bytes.
const std::array<char32_t, 256>& byte_letters();
/// The byte of a letter, or none if the letter is not in the alphabet.
std::optional<unsigned char> byte_of_letter(char32_t letter);

/// Converts each byte to its letter, in UTF-8.
std::string to_byte_letters(std::string_view bytes);

}  // namespace attend
