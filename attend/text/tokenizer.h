// Text to ids and back, as the model was trained on it. A Tokenizer comes from a folder (load_tokenizer) or from
// training (attend/text/train_*.h), and is one value for all families: normaliser, pre-tokeniser, subword model,
// special tokens, decoder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// Bytes [begin, end) of a text.
struct Span {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
};

/// What becomes of a text with more tokens than max_tokens.
enum class LongText {
  error,     ///< throw, naming both lengths
  truncate,  ///< keep the beginning; Encoding::dropped counts the rest
  split,     ///< several windows, each at most max_tokens, neighbours sharing `overlap` tokens
};

struct EncodeOptions {
  bool special_tokens = true;   ///< add [CLS], </s> and the like, as the family does
  std::int64_t max_tokens = 0;  ///< special tokens included; 0: no limit
  LongText long_text = LongText::error;
  std::int64_t overlap = 0;  ///< tokens that neighbouring windows share
};

/// A text, or a pair, as the model sees it. All vectors have one element a token.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;    ///< 0: first text, 1: second text, with the special tokens that belong to them
  std::vector<Span> spans;            ///< where in its text the token stands; empty for what was added
  std::vector<std::int32_t> words;    ///< which word of its text the token is part of; -1 for what was added
  std::vector<std::uint8_t> special;  ///< 1: was added, stands for no text
  std::int64_t dropped = 0;           ///< tokens that did not fit
  std::int64_t invalid = 0;           ///< sequences of the text that were no UTF-8 and became U+FFFD

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

/// The tokens with a meaning of their own, as far as the tokenizer has them.
struct SpecialTokens {
  std::optional<std::int32_t> bos, eos, unknown, separator, padding, classify, mask;
};

/// Immutable, cheap to copy, and safe to use from many threads.
class Tokenizer {
 public:
  /// text -> tokens. Throws InputError where the text is too long and LongText::error was asked for; with
  /// LongText::split this is the first window. Invalid UTF-8 is replaced and counted, never an error.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// Two texts in one sequence. Truncation takes from the longer one, token by token.
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;
  /// All windows of a text: one, unless it is too long and LongText::split was asked for. Of a pair, the second text is
  /// cut and the first stands in each window.
  std::vector<Encoding> encode_windows(std::string_view text, const EncodeOptions& options = {}) const;
  std::vector<Encoding> encode_pair_windows(std::string_view first, std::string_view second,
                                            const EncodeOptions& options = {}) const;
  /// Ids alone, the fast path: no spans, no limit.
  std::vector<std::int32_t> ids(std::string_view text, bool special_tokens = false) const;
  /// Many texts, on all threads, in their order.
  std::vector<Encoding> encode_all(std::span<const std::string> texts, const EncodeOptions& options = {}) const;

  /// ids -> text, cleaned as the family cleans. Throws InputError on an id that does not exist.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;

  std::int64_t size() const;  ///< ids are 0 … size() - 1; some may be unused
  std::optional<std::int32_t> id(std::string_view token) const;
  std::string token(std::int32_t id) const;  ///< as the vocabulary writes it: "Ġhello", "##ing"
  bool is_special(std::int32_t id) const;
  const SpecialTokens& special() const;
  /// What the tokenizer's folder says the model can take; 0: it does not say.
  std::int64_t max_tokens() const;

  /// What it is made of: tokenizer_parts.h. Throws InputError where the parts do not fit together.
  struct Parts;
  explicit Tokenizer(Parts parts);
  const Parts& parts() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Decodes token by token: gives out text as soon as it can no longer change, and keeps back half a character.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, bool skip_special = true);
  std::string push(std::int32_t id);
  std::string finish();  ///< what was kept back; then it starts anew

 private:
  std::string decode_first(std::size_t count) const;

  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<std::int32_t> pending_;  // the last that were given out, and what is kept back
  std::size_t settled_ = 0;            // how many were given out
  std::size_t given_ = 0;              // bytes of the text of all
};

/// A translation model's folder may have one tokenizer for each side.
enum class Side { source, target };

/// From a folder with tokenizer.json, vocab.txt, vocab.json + merges.txt, or source.spm + target.spm + vocab.json, and
/// the configuration files beside them. Throws InputError, naming what is missing, garbled or not supported.
Tokenizer load_tokenizer(const std::filesystem::path& folder, Side side = Side::source);
/// Writes the files of its family, so that `transformers` loads the folder and agrees.
void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace attend
