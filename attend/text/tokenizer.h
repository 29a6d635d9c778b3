// Tokenizers convert text to token ids and back. A Tokenizer is loaded from a folder (load_tokenizer) or trained
// (attend/text/training/). One class serves all families: it has a normalizer, a pre-tokenizer, a subword model,
// special tokens and a decoder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/language_tokens.h"

namespace attend {

/// Bytes [begin, end) of a text.
struct Span {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
};

/// What to do with a text that has more tokens than max_tokens.
enum class LongText {
  error,     ///< throw InputError with both lengths
  truncate,  ///< keep the beginning; Encoding::dropped counts the rest
  split,     ///< make several windows of at most max_tokens, which overlap by `overlap` tokens
};

struct EncodeOptions {
  bool special_tokens = true;   ///< add the special tokens of the family, such as [CLS] and </s>
  std::int64_t max_tokens = 0;  ///< including special tokens; 0: no limit
  LongText long_text = LongText::error;
  std::int64_t overlap = 0;  ///< tokens that neighbouring windows share
};

/// An encoded text or pair. All vectors have one element for each token.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;    ///< 0: first text, 1: second text, including their special tokens
  std::vector<Span> spans;            ///< position of the token in its text; empty for added tokens
  std::vector<std::int32_t> words;    ///< index of the word that the token is part of; -1 for added tokens
  std::vector<std::uint8_t> special;  ///< 1: a special token that was added
  std::int64_t dropped = 0;           ///< number of tokens that were truncated
  std::int64_t invalid = 0;           ///< number of invalid UTF-8 sequences, which became U+FFFD

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

/// The ids of the special tokens that the tokenizer has.
struct SpecialTokens {
  std::optional<std::int32_t> bos, eos, unknown, separator, padding, classify, mask;
};

/// Immutable, cheap to copy, and safe to use from many threads.
class Tokenizer {
 public:
  /// text -> tokens. With LongText::error, throws InputError if the text is too long; with LongText::split, returns the
  /// first window. Invalid UTF-8 is replaced and counted; it is not an error.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// Two texts in one sequence. Truncation removes tokens from the longer text, one by one.
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;
  /// All windows of a text. There is one window unless the text is too long and long_text is LongText::split. In a
  /// pair, the second text is split, and each window has the whole first text.
  std::vector<Encoding> encode_windows(std::string_view text, const EncodeOptions& options = {}) const;
  std::vector<Encoding> encode_pair_windows(std::string_view first, std::string_view second,
                                            const EncodeOptions& options = {}) const;
  /// Only the ids, without spans and without a limit. This is the fast path.
  std::vector<std::int32_t> ids(std::string_view text, bool special_tokens = false) const;
  /// Encodes many texts on all threads. The results are in the order of the texts.
  std::vector<Encoding> encode_all(std::span<const std::string> texts, const EncodeOptions& options = {}) const;

  /// ids -> text. Throws InputError for an id that does not exist.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;

  std::int64_t size() const;  ///< ids are 0 … size() - 1; some may be unused
  std::optional<std::int32_t> id(std::string_view token) const;
  std::string token(std::int32_t id) const;  ///< as in the vocabulary: "Ġhello", "##ing"
  bool is_special(std::int32_t id) const;
  const SpecialTokens& special() const;
  /// The maximum length of the model according to the tokenizer's folder; 0: not known.
  std::int64_t max_tokens() const;
  /// The languages of a multilingual translation model. encode() adds the token of the source language.
  const LanguageTokens& languages() const;

  /// The parts of a tokenizer (tokenizer_parts.h). The constructor throws InputError if they do not fit together.
  struct Parts;
  explicit Tokenizer(Parts parts);
  const Parts& parts() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Decodes token by token. It returns text as soon as later tokens cannot change it, and holds back incomplete
/// characters.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, bool skip_special = true);
  std::string push(std::int32_t id);
  std::string finish();  ///< returns the rest and resets the decoder

 private:
  std::string decode_first(std::size_t count) const;

  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<std::int32_t> pending_;  // the last returned tokens, and those held back
  std::size_t settled_ = 0;            // number of returned tokens in pending_
  std::size_t given_ = 0;              // returned bytes of the text of pending_
};

/// The language of a translation model. Its folder may have one tokenizer for each.
enum class Side { source, target };

/// Loads a tokenizer from a folder with tokenizer.json, vocab.txt, vocab.json + merges.txt, a SentencePiece model
/// (with vocab.json for M2M-100), or source.spm + target.spm + vocab.json, and from the configuration files in it.
/// Throws InputError that names what is missing, invalid or not supported.
Tokenizer load_tokenizer(const std::filesystem::path& folder, Side side = Side::source);
/// A copy of a multilingual tokenizer with other default languages, which are codes of its `languages()`: encode() adds
/// the token of the source language, and a saved folder names both.
Tokenizer with_languages(const Tokenizer& tokenizer, const std::string& source, const std::string& target);
/// Writes the files of the family. `transformers` can load the folder.
void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace attend
