// Codes of languages, and the scripts that languages are written in.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// Whether a language that a file names is one that was asked for: "en" takes en, en-US and EN_gb; "en-US" takes only
/// itself. Case counts for nothing, '-' is '_'.
bool language_matches(std::string_view asked, std::string_view given);

/// The scripts that tell languages apart. Others (signs, digits, scripts that are not listed) are `none`.
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
/// What a language is written in, by its code ("sr-Latn" counts); empty where this file does not know.
std::vector<Script> scripts_of_language(std::string_view code);

/// The share of a text's letters that belong to one of the scripts; 1 for a text without letters.
double share_in_scripts(std::string_view text, const std::vector<Script>& scripts);

}  // namespace attend
