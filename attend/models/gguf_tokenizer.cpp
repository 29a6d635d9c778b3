// The tokenizers of GGUF files. llama.cpp has two kinds: byte-level BPE, whose words depend on a name ("qwen2"), and
// SentencePiece's BPE, whose merges follow from the scores of the tokens.
#include <algorithm>

#include "attend/core/error.h"
#include "attend/formats/stored_tensor.h"
#include "attend/models/gguf_model.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/tokenizer_parts.h"

namespace attend {
namespace {

constexpr const char *kTokens = "tokenizer.ggml.tokens", *kKinds = "tokenizer.ggml.token_type",
                     *kScores = "tokenizer.ggml.scores", *kMerges = "tokenizer.ggml.merges",
                     *kWords = "tokenizer.ggml.pre";

// What a token is, by llama.cpp's numbers.
enum TokenKind : std::int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

/// How byte-level BPE divides a text into words.
enum class Words { gpt2, digits, llama3, qwen2 };
constexpr std::pair<std::string_view, Words> kWordsByName[] = {
    {"gpt-2", Words::gpt2},
    {"phi-2", Words::gpt2},
    {"olmo", Words::gpt2},
    {"mpt", Words::gpt2},
    {"jina-v2-en", Words::gpt2},
    {"smollm", Words::digits},
    {"starcoder", Words::digits},
    {"refact", Words::digits},
    {"command-r", Words::digits},
    {"llama3", Words::llama3},
    {"llama-v3", Words::llama3},
    {"llama-bpe", Words::llama3},
    {"smaug-bpe", Words::llama3},
    {"falcon3", Words::llama3},
    {"qwen2", Words::qwen2},
    {"stablelm2", Words::qwen2},
    {"deepseek-r1-qwen", Words::qwen2},
};

/// The words of Llama 3 and Qwen 2: they differ in the digits of a number, up to three or one.
Pattern words_with(const std::string& digits) {
  return Pattern::regex("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" + digits +
                        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");
}

PreTokenizer pre_tokenizer_of(Words words) {
  using namespace pre_tokenizer;
  const ByteLevel letters{.add_prefix_space = false, .trim_offsets = true, .use_regex = false};
  const ByteLevel gpt2{.add_prefix_space = false, .trim_offsets = true, .use_regex = true};
  switch (words) {
    case Words::gpt2:
      return {gpt2};
    case Words::digits:
      return {Digits{.individual_digits = true}, gpt2};
    case Words::llama3:
      return {Split{words_with("\\p{N}{1,3}"), Behavior::isolated, false}, letters};
    case Words::qwen2:
      return {Split{words_with("\\p{N}"), Behavior::isolated, false}, letters};
  }
  return {};
}

class GgufTokenizer {
 public:
  explicit GgufTokenizer(const GgufMetadata& metadata) : metadata_(metadata), tokens_(metadata.texts(kTokens)) {
    if (tokens_.empty()) wrong(kTokens, "is missing or empty");
    for (std::size_t id = 0; id < tokens_.size(); ++id) vocabulary_.add(tokens_[id], static_cast<std::int32_t>(id));
  }

  Tokenizer read() {
    const std::string model = metadata_.text("tokenizer.ggml.model");
    if (model != "gpt2" && model != "llama")
      fail<InputError>("load", metadata_.file(), ": the tokenizer ", in_quotes(model),
                       " is not supported, expected gpt2 or llama");
    add_tokens();
    model == "gpt2" ? read_byte_level() : read_sentencepiece();
    const bool is_llama3 = metadata_.text(kWords, "") == "llama-bpe";
    frame(metadata_.flag("tokenizer.ggml.add_bos_token", model == "llama" || is_llama3),
          metadata_.flag("tokenizer.ggml.add_eos_token", false));
    return Tokenizer(std::move(parts_));
  }

 private:
  template <typename... What>
  [[noreturn]] void wrong(const char* key, const What&... what) const {
    fail<InputError>("load", metadata_.file(), ": the key \"", key, "\" ", what...);
  }

  std::int32_t id_of(const char* key) const {
    const std::int64_t id = metadata_.integer(key);
    if (id < 0 || id >= std::ssize(tokens_)) wrong(key, "is ", id, ", and there are ", tokens_.size(), " tokens");
    return static_cast<std::int32_t>(id);
  }

  void add_tokens() {
    const std::vector<std::int64_t> kinds = metadata_.integers(kKinds);
    if (!kinds.empty() && kinds.size() != tokens_.size())
      wrong(kKinds, "has ", kinds.size(), " entries, expected ", tokens_.size());
    for (std::size_t id = 0; id < kinds.size(); ++id) {
      const std::int64_t kind = kinds[id];
      if (kind != kControl && kind != kUserDefined && kind != kUnknown) continue;
      if (tokens_[id].empty()) continue;
      parts_.added_tokens.push_back({.content = tokens_[id],
                                     .id = static_cast<std::int32_t>(id),
                                     .normalized = false,
                                     .special = kind != kUserDefined});
    }
    constexpr std::pair<const char*, std::optional<std::int32_t> SpecialTokens::*> kRoles[] = {
        {"tokenizer.ggml.bos_token_id", &SpecialTokens::bos},
        {"tokenizer.ggml.eos_token_id", &SpecialTokens::eos},
        {"tokenizer.ggml.unknown_token_id", &SpecialTokens::unknown},
        {"tokenizer.ggml.padding_token_id", &SpecialTokens::padding}};
    for (const auto& [key, role] : kRoles)
      if (metadata_.has(key)) parts_.special.*role = id_of(key);
  }

  void read_byte_level() {
    const std::string name = metadata_.text(kWords, "gpt-2");
    const auto words = std::ranges::find(kWordsByName, name, [](const auto& row) { return row.first; });
    if (words == std::end(kWordsByName)) {
      std::string all;
      for (const auto& [known, kind] : kWordsByName) all += (all.empty() ? "" : ", ") + std::string(known);
      wrong(kWords, "is ", in_quotes(name), ", expected one of ", all);
    }
    std::vector<BpeMerge> merges;
    for (const std::string& line : metadata_.texts(kMerges)) {
      const std::size_t space = line.find(' ', 1);
      const auto left = vocabulary_.id(line.substr(0, space));
      const auto right = space == std::string::npos ? std::nullopt : vocabulary_.id(line.substr(space + 1));
      if (!left || !right) wrong(kMerges, "has ", in_quotes(line), ", which is no pair of tokens");
      merges.push_back({*left, *right});
    }
    if (words->second == Words::qwen2) parts_.normalizer = {normalizer::Unicode{NormalForm::nfc}};
    parts_.pre_tokenizer = pre_tokenizer_of(words->second);
    parts_.model = Bpe(std::move(vocabulary_), std::move(merges), {.ignore_merges = words->second == Words::llama3});
    parts_.decoder = {decoder::ByteLevel{}};
  }

  std::vector<SentencePieceFile::Piece> pieces() const {
    const std::vector<double>& scores = metadata_.numbers(kScores);
    const std::vector<std::int64_t> kinds = metadata_.integers(kKinds);
    if (scores.size() != tokens_.size()) wrong(kScores, "has ", scores.size(), " entries, expected ", tokens_.size());
    std::vector<SentencePieceFile::Piece> all;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const bool normal = kinds.empty() || kinds[id] == kNormal;
      all.push_back({tokens_[id], static_cast<float>(scores[id]),
                     normal ? SentencePieceFile::Kind::normal : SentencePieceFile::Kind::control});
    }
    return all;
  }

  void read_sentencepiece() {
    constexpr const char* kSpace = "▁";
    const bool prefix = metadata_.flag("tokenizer.ggml.add_space_prefix", true);
    std::vector<BpeMerge> merges = merges_by_score(vocabulary_, pieces());
    std::optional<std::string> unknown;
    if (parts_.special.unknown) unknown = tokens_[static_cast<std::size_t>(*parts_.special.unknown)];
    parts_.model = Bpe(std::move(vocabulary_), std::move(merges),
                       {.unk_token = std::move(unknown), .fuse_unk = true, .byte_fallback = true});
    if (prefix) parts_.normalizer.emplace_back(normalizer::Prepend{kSpace});
    parts_.normalizer.emplace_back(normalizer::Replace{Pattern::string(" "), kSpace});
    parts_.decoder = {decoder::Replace{Pattern::string(kSpace), " "}, decoder::ByteFallback{}, decoder::Fuse{}};
    if (prefix) parts_.decoder.emplace_back(decoder::Strip{" ", 1, 0});
  }

  /// Adds <s> and </s> to each text.
  void frame(bool bos, bool eos) {
    if (bos && !parts_.special.bos) bos = false;
    if (eos && !parts_.special.eos) eos = false;
    if (!bos && !eos) return;
    using Template = post_processor::Template;
    Template made;
    const auto special = [&](std::int32_t id) {
      const std::string& token = tokens_[static_cast<std::size_t>(id)];
      made.special_tokens.push_back({token, {id}, {token}});
      return Template::Piece{Template::Piece::special, token, 0};
    };
    const auto add = [&](Template::Piece piece) { made.single.push_back(piece), made.pair.push_back(piece); };
    if (bos) add(special(*parts_.special.bos));
    add({Template::Piece::first, "", 0});
    made.pair.push_back({Template::Piece::second, "", 0});
    if (eos) add(special(*parts_.special.eos));
    parts_.post_processor = {std::move(made)};
  }

  const GgufMetadata& metadata_;
  const std::vector<std::string>& tokens_;
  Vocabulary vocabulary_;
  Tokenizer::Parts parts_;
};

}  // namespace

Tokenizer gguf_tokenizer(const GgufMetadata& metadata) { return GgufTokenizer(metadata).read(); }

}  // namespace attend
