// The languages of multilingual translation models (M2M-100, mBART, NLLB), each of which has a token in the vocabulary.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// The languages of a tokenizer. `all` is empty if it has no tokens for languages.
struct LanguageTokens {
  struct Language {
    std::string code;  ///< as in transformers: "en" (M2M-100), "en_XX" (mBART), "eng_Latn" (NLLB)
    std::int32_t id = 0;
  };
  std::vector<Language> all;    ///< by id
  std::string source, target;   ///< the defaults of the folder ("src_lang" and "tgt_lang"); empty: none
  bool starts_decoder = false;  ///< the decoder starts with the target language (mBART); otherwise the language is the
                                ///< first token after the start token

  bool empty() const { return all.empty(); }
  /// Finds a language by its code, or by the beginning of its code ("en" is "en_XX", "eng" is "eng_Latn") if no other
  /// code begins so. Case is ignored, and '-' equals '_'. Null if there is none.
  const Language* match(std::string_view code) const;
  /// The same. Throws InputError, listing all codes, if there is none; `what` names the language in the message:
  /// "source".
  const Language& find(std::string_view code, std::string_view what) const;
  /// All codes, sorted: "de, en, fr".
  std::string codes() const;
};

/// How a class of tokenizers marks languages.
struct LanguageScheme {
  std::string_view family;         ///< the class in transformers, without "Tokenizer"
  std::string_view usual;          ///< the source language if none is given
  std::vector<std::string> codes;  ///< the languages of the class, by id; the tokenizer's files may list others
  bool after = false;              ///< a source is "X </s> [language]" instead of "[language] X </s>"
  bool starts_decoder = false;     ///< see LanguageTokens

  std::string token(std::string_view code) const;  ///< "__en__" (M2M-100) or the code itself
  /// The code of a token, if it may be the token of a language.
  std::optional<std::string> code(std::string_view token) const;
};

/// The scheme of a class, or null. `codes` names one of the lists of M2M-100: "m2m100" or "wmt21".
const LanguageScheme* language_scheme(std::string_view family, std::string_view codes = "m2m100");

}  // namespace attend
