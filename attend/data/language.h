// Language codes, and the scripts in which languages are written.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// Whether the language `given` in a file matches the language `asked`. "en" matches en, en-US and EN_gb; "en-US"
/// matches only itself. Case is ignored, and '-' equals '_'.
bool language_matches(std::string_view asked, std::string_view given);

/// Scripts. Symbols, digits and all other scripts are `none`.
enum class Script : std::uint8_t {
  none,
  latin,
  greek,
  cyrillic,
  armenian,
  hebrew,
  arabic,
  devanagari,
  bengali,
  gurmukhi,
  gujarati,
  oriya,
  tamil,
  telugu,
  kannada,
  malayalam,
  sinhala,
  thai,
  lao,
  tibetan,
  myanmar,
  georgian,
  ethiopic,
  khmer,
  mongolian,
  kana,
  hangul,
  han,
};
Script script_of(char32_t code_point);
/// The scripts of a language, by its code; a script in the code counts ("sr-Latn"). Empty for an unknown language.
std::vector<Script> scripts_of_language(std::string_view code);

/// The fraction of a text's letters that belong to one of the scripts; 1 for a text without letters.
double share_in_scripts(std::string_view text, const std::vector<Script>& scripts);

}  // namespace attend
