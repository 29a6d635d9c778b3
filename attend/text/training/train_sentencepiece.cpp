#include "attend/text/training/train_sentencepiece.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr const char* kSpace = "▁";

/// The interface by which the library reads lines.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const LineSource& lines) : lines_(lines) { Next(); }
  bool done() const override { return done_; }
  void Next() override {
    done_ = !lines_(line_);
    if (!done_ && count_invalid_utf8(line_) > 0) line_ = replace_invalid_utf8(line_);
  }
  const std::string& value() const override { return line_; }
  /// An OK status. Its type has another name in newer versions of the library.
  decltype(std::declval<const sentencepiece::SentenceIterator&>().status()) status() const override { return {}; }

 private:
  const LineSource& lines_;
  std::string line_;
  bool done_ = false;
};

/// A random sample of `most` lines (Vitter 1985, algorithm R), or all lines in order if there are no more. The
/// library's own sampling is not used, since it changes the model file even if all lines are taken.
LineSource sampled(const LineSource& lines, std::int64_t most) {
  return [&lines, most, kept = std::vector<std::string>(), next = std::size_t{0},
          read = false](std::string& line) mutable {
    for (std::uint64_t seen = 0; !read; ++seen) {
      if (!lines(line)) {
        read = true;
      } else if (seen < static_cast<std::uint64_t>(most)) {
        kept.push_back(line);
      } else {
        const auto bits = philox({0, 0}, seen);
        const std::uint64_t place = (static_cast<std::uint64_t>(bits[0]) << 32 | bits[1]) % (seen + 1);
        if (place < kept.size()) kept[static_cast<std::size_t>(place)] = line;
      }
    }
    if (next == kept.size()) return false;
    line = std::move(kept[next++]);
    return true;
  };
}

std::string joined(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : ",") + text;
  return result;
}

/// All ways to form a token from two others, in the order of tokens. As merges, they give the same segmentation.
std::vector<BpeMerge> merges_of(const SentencePieceFile& file, const Vocabulary& vocabulary) {
  std::vector<BpeMerge> merges;
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    if (piece.kind != SentencePieceFile::Kind::normal) continue;
    const std::string_view text = piece.text;
    const std::size_t before = merges.size();
    for (std::size_t at = 0; at < text.size();) {
      at += static_cast<std::size_t>(decode_utf8(text, at).size);
      const auto left = vocabulary.id(text.substr(0, at)), right = vocabulary.id(text.substr(at));
      if (at < text.size() && left && right) merges.push_back({*left, *right});
    }
    std::sort(
        merges.begin() + static_cast<std::ptrdiff_t>(before), merges.end(),
        [](const BpeMerge& a, const BpeMerge& b) { return std::pair(a.left, a.right) < std::pair(b.left, b.right); });
  }
  return merges;
}

}  // namespace

std::string train_sentencepiece_file(const LineSource& lines, const SentencePieceTrainingOptions& options) {
  const SpecialTexts& special = options.special;
  std::unordered_map<std::string, std::string> settings{
      {"model_type", options.unigram ? "unigram" : "bpe"},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"hard_vocab_limit", "false"},  // a small text gives a small vocabulary
      {"character_coverage", std::to_string(options.character_coverage)},
      {"byte_fallback", options.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", options.lowercase ? "nmt_nfkc_cf" : "nmt_nfkc"},
      {"max_sentence_length", "1000000000"},  // by default the library silently drops long lines
      {"num_threads", "16"},                  // the result depends on this number
      {"minloglevel", "2"},
      {"train_extremely_large_corpus", "true"},
  };
  int next_id = 0;
  auto add = [&](const std::string& name, const std::string& text) {
    settings[name + "_id"] = std::to_string(text.empty() ? -1 : next_id++);
    if (!text.empty()) settings[name + "_piece"] = text;
  };
  add("pad", special.padding);
  add("unk", special.unknown.empty() ? "<unk>" : special.unknown);
  add("bos", special.bos);
  add("eos", special.eos);
  std::vector<std::string> control = special.more;
  for (const std::string* text : {&special.classify, &special.separator, &special.mask})
    if (!text->empty()) control.push_back(*text);
  if (!control.empty()) settings["control_symbols"] = joined(control);

  bool any = false;
  const LineSource source = options.max_lines > 0 ? sampled(lines, options.max_lines) : lines;
  const LineSource watched = [&](std::string& line) {
    const bool more = source(line);
    any = any || (more && !line.empty());
    return more;
  };
  Sentences sentences(watched);
  std::string file;
  std::string refused;
  try {
    const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &sentences, &file);
    if (!status.ok()) refused = status.ToString();
  } catch (const std::exception& error) {
    refused = error.what();
  }
  if (!any) fail<InputError>("train_sentencepiece", "the text has no words");
  if (!refused.empty()) fail<InputError>("train_sentencepiece", "SentencePiece failed: ", refused);
  return file;
}

Tokenizer train_sentencepiece(const LineSource& lines, const SentencePieceTrainingOptions& options) {
  const SentencePieceFile file = read_sentencepiece(train_sentencepiece_file(lines, options), "the trained model");
  Tokenizer::Parts parts;
  if (!file.charsmap.empty()) parts.normalizer.emplace_back(normalizer::Precompiled{file.charsmap});
  parts.pre_tokenizer = {pre_tokenizer::WhitespaceSplit{}, pre_tokenizer::Metaspace{}};
  if (options.byte_fallback) {
    parts.decoder = {decoder::Replace{Pattern::string(kSpace), " "}, decoder::ByteFallback{}, decoder::Fuse{},
                     decoder::Strip{" ", 1, 0}};
  } else {
    parts.decoder.emplace_back(decoder::Metaspace{});
  }

  Vocabulary vocabulary;
  std::vector<double> scores;
  std::optional<std::int32_t> unknown;
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    if (piece.kind == SentencePieceFile::Kind::unknown) unknown = static_cast<std::int32_t>(scores.size());
    vocabulary.add(piece.text, static_cast<std::int32_t>(scores.size()));
    scores.push_back(piece.score);
  }
  if (options.unigram) {
    parts.model =
        Unigram(std::move(vocabulary), std::move(scores), {.unk_id = unknown, .byte_fallback = options.byte_fallback});
  } else {
    std::vector<BpeMerge> merges = merges_of(file, vocabulary);
    BpeOptions model{.unk_token = std::string(vocabulary.token(unknown.value())),
                     .continuing_subword_prefix = "",
                     .end_of_word_suffix = "",
                     .fuse_unk = true,
                     .byte_fallback = options.byte_fallback};
    parts.model = Bpe(std::move(vocabulary), std::move(merges), std::move(model));
  }
  set_special(parts, options.special, options.append_eos);
  return Tokenizer(std::move(parts));
}

Tokenizer train_sentencepiece_pair(const LineSource& source, const LineSource& target,
                                   const SentencePieceTrainingOptions& options) {
  const SpecialTexts marian{.padding = "<pad>", .unknown = "<unk>", .eos = "</s>"};
  SentencePieceTrainingOptions side = options;
  side.special = {.unknown = marian.unknown, .bos = "<s>", .eos = marian.eos};  // the library's defaults
  std::string source_file = train_sentencepiece_file(source, side),
              target_file = train_sentencepiece_file(target, side);

  std::vector<std::string> tokens{marian.eos, marian.unknown};
  for (const std::string* file : {&source_file, &target_file})
    for (const SentencePieceFile::Piece& piece : read_sentencepiece(*file, "the trained model").pieces)
      if (piece.kind != SentencePieceFile::Kind::unknown && piece.kind != SentencePieceFile::Kind::control)
        tokens.push_back(piece.text);
  tokens.push_back(marian.padding);

  Tokenizer::Parts parts;
  parts.model =
      SentencePiece(vocabulary_of({}, tokens), std::move(source_file), std::move(target_file), "the new folder");
  parts.decoder = {decoder::SentencePiece{marian.all()}};
  set_special(parts, marian, true);
  return Tokenizer(std::move(parts));
}

}  // namespace attend
