#include "attend/text/sentencepiece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// The fields of a message in protobuf's wire format. Groups, which are obsolete, are errors.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  enum Type { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    std::uint64_t number;
    Type type;
    std::uint64_t value;     // of a number
    std::string_view bytes;  // of a string or a message
  };
  /// Reads the next field. False at the end, and if the bytes are invalid; then good() is false too.
  bool next(Field& field) {
    if (rest_.empty() || !good_) return false;
    const std::uint64_t key = read_varint();
    field = {key >> 3, static_cast<Type>(key & 7), 0, {}};
    switch (field.type) {
      case varint:
        field.value = read_varint();
        break;
      case fixed64:
        field.value = read_fixed(8);
        break;
      case fixed32:
        field.value = read_fixed(4);
        break;
      case bytes: {
        const std::uint64_t size = read_varint();
        if (size > rest_.size()) return good_ = false;
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
      }
      default:
        good_ = false;
    }
    return good_;
  }
  bool good() const { return good_; }

 private:
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    good_ = false;
    return 0;
  }
  std::uint64_t read_fixed(std::size_t size) {
    if (size > rest_.size()) return good_ = false;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

/// SentencePiece's normalizer does not check bounds in its double-array trie. So the trie is checked here: no text may
/// lead out of the array or the replacements, or match more rules at once than the library has room for.
class CharsmapChecker {
 public:
  explicit CharsmapChecker(std::string_view charsmap) {
    std::uint32_t size = 0;
    if (charsmap.size() <= sizeof size) return;
    std::memcpy(&size, charsmap.data(), sizeof size);
    charsmap.remove_prefix(sizeof size);
    if (size < sizeof(std::uint32_t) || size >= charsmap.size()) return;
    units_.resize(size / sizeof(std::uint32_t));
    std::memcpy(units_.data(), charsmap.data(), units_.size() * sizeof(std::uint32_t));
    replacements_ = charsmap.substr(size);
    matches_.resize(units_.size(), kUnknown);
  }
  bool good() {
    return !units_.empty() && !replacements_.empty() && replacements_.back() == '\0' && walk(0, 0) != kWrong;
  }

 private:
  /// The largest number of rules that match on a path from a node, or kWrong.
  int walk(std::size_t node, int depth) {
    constexpr int kDeepest = 256, kMostMatches = 31;
    if (matches_[node] != kUnknown) return matches_[node];
    if (depth > kDeepest) return kWrong;  // a cycle, or a rule that is too long
    const std::uint32_t unit = units_[node];
    const std::size_t children = node ^ ((unit >> 10) << ((unit & (1u << 9)) >> 6));
    if ((children | 255) >= units_.size()) return kWrong;
    int most = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if ((units_[children ^ byte] & (1u << 31 | 255)) != byte) continue;
      const int matches = walk(children ^ byte, depth + 1);
      if (matches == kWrong) return kWrong;
      most = std::max(most, matches);
    }
    if (unit >> 8 & 1) {
      if ((units_[children] & ~(1u << 31)) >= replacements_.size()) return kWrong;
      ++most;
    }
    if (most > kMostMatches) return kWrong;
    return matches_[node] = most;
  }

  static constexpr int kUnknown = -1, kWrong = -2;
  std::vector<std::uint32_t> units_;
  std::string_view replacements_;
  std::vector<int> matches_;
};

[[noreturn]] void garbled(const std::string& file, const auto&... what) {
  fail<InputError>("tokenizer", file, ": not a SentencePiece model: ", what...);
}

SentencePieceFile::Piece read_piece(std::string_view bytes, const std::string& file, std::size_t id) {
  SentencePieceFile::Piece piece;
  Message message(bytes);
  for (Message::Field field; message.next(field);) {
    if (field.number == 1 && field.type == Message::bytes) piece.text = field.bytes;
    if (field.number == 2 && field.type == Message::fixed32)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    if (field.number == 3 && field.type == Message::varint && field.value >= 1 && field.value <= 6)
      piece.kind = static_cast<SentencePieceFile::Kind>(field.value);
  }
  if (!message.good()) garbled(file, "piece ", id, " is garbled");
  if (piece.text.empty() || piece.text.find('\0') != std::string::npos || count_invalid_utf8(piece.text) > 0)
    garbled(file, "piece ", id, " is no text");
  return piece;
}

std::string read_charsmap(std::string_view bytes, const std::string& file) {
  std::string charsmap;
  Message message(bytes);
  for (Message::Field field; message.next(field);) {
    if (field.number != 2 || field.type != Message::bytes) continue;
    charsmap = field.bytes;
    if (!charsmap.empty() && !CharsmapChecker(charsmap).good()) garbled(file, "its map of characters is garbled");
  }
  if (!message.good()) garbled(file, "its normaliser is garbled");
  return charsmap;
}

}  // namespace

SentencePieceFile read_sentencepiece(std::string_view bytes, const std::string& file) {
  SentencePieceFile model;
  Message message(bytes);
  for (Message::Field field; message.next(field);) {
    if (field.type != Message::bytes) continue;
    if (field.number == 1) model.pieces.push_back(read_piece(field.bytes, file, model.pieces.size()));
    if (field.number == 2) {
      Message trainer(field.bytes);
      for (Message::Field setting; trainer.next(setting);) {
        if (setting.type != Message::varint) continue;
        if (setting.number == 3 && setting.value >= 1 && setting.value <= 4)
          model.model = static_cast<SentencePieceFile::Model>(setting.value);
        if (setting.number == 35) model.byte_fallback = setting.value != 0;
      }
      if (!trainer.good()) garbled(file, "its settings are garbled");
    }
    if (field.number == 3) {
      model.charsmap = read_charsmap(field.bytes, file);
      Message normalizer(field.bytes);
      for (Message::Field setting; normalizer.next(setting);)
        if (setting.number == 3 && setting.type == Message::varint) model.dummy_prefix = setting.value != 0;
    }
    if (field.number == 5) read_charsmap(field.bytes, file);  // for decoding, which only the library uses
  }
  if (!message.good()) garbled(file, "it ends early or is something else");
  if (model.pieces.empty()) garbled(file, "it has no pieces");
  return model;
}

std::vector<BpeMerge> merges_by_score(const Vocabulary& vocabulary, std::span<const SentencePieceFile::Piece> pieces) {
  constexpr std::size_t kLongest = 256;
  std::vector<std::size_t> by_score;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].kind == SentencePieceFile::Kind::normal && pieces[i].text.size() <= kLongest) by_score.push_back(i);
  std::ranges::stable_sort(by_score, std::greater(), [&](std::size_t i) { return pieces[i].score; });
  std::vector<BpeMerge> merges;
  for (const std::size_t i : by_score) {
    const std::string_view token = pieces[i].text;
    for (std::size_t at = token.size(); at-- > 1;) {
      if ((token[at] & 0xC0) == 0x80) continue;  // inside a character
      const auto left = vocabulary.id(token.substr(0, at));
      const auto right = left ? vocabulary.id(token.substr(at)) : std::nullopt;
      if (left && right) merges.push_back({*left, *right});
    }
  }
  return merges;
}

struct SentencePiece::Library {
  sentencepiece::SentencePieceProcessor processor;
  std::string bytes;
  std::vector<std::int32_t> ids;  // ids in the vocabulary, by the id of the model; -1: none

  Library(std::string model, const Vocabulary& vocabulary, const std::string& file) : bytes(std::move(model)) {
    const SentencePieceFile checked = read_sentencepiece(bytes, file);
    try {
      const auto status = processor.LoadFromSerializedProto(bytes);
      if (!status.ok()) garbled(file, status.ToString());
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      garbled(file, error.what());
    }
    for (const SentencePieceFile::Piece& piece : checked.pieces) ids.push_back(vocabulary.id(piece.text).value_or(-1));
  }
};

SentencePiece::SentencePiece(Vocabulary vocabulary, std::string source, std::string target, const std::string& folder)
    : vocabulary_(std::make_shared<const Vocabulary>(std::move(vocabulary))) {
  find_unknown(folder);
  source_ = std::make_shared<const Library>(std::move(source), *vocabulary_, folder + "/source.spm");
  target_ = std::make_shared<const Library>(std::move(target), *vocabulary_, folder + "/target.spm");
  used_ = source_;
}

SentencePiece::SentencePiece(Vocabulary vocabulary, std::string model, const std::string& folder)
    : vocabulary_(std::make_shared<const Vocabulary>(std::move(vocabulary))) {
  find_unknown(folder);
  source_ = std::make_shared<const Library>(std::move(model), *vocabulary_, folder + "/sentencepiece.bpe.model");
  used_ = target_ = source_;
}

void SentencePiece::find_unknown(const std::string& folder) {
  const auto unknown = vocabulary_->id("<unk>");
  if (!unknown) fail<InputError>("tokenizer", folder, "/vocab.json: the token \"<unk>\" is missing");
  unknown_ = *unknown;
}

SentencePiece SentencePiece::for_target() const {
  SentencePiece other = *this;
  other.used_ = target_;
  return other;
}

const std::string& SentencePiece::source_file() const { return source_->bytes; }
const std::string& SentencePiece::target_file() const { return target_->bytes; }

void SentencePiece::encode(std::string_view text, std::vector<Piece>& pieces) const {
  std::uint32_t start = 0;
  if (const std::size_t end = text.find("<<"); has_two_models() && text.starts_with(">>") && end != text.npos) {
    start = static_cast<std::uint32_t>(end + 2);
    pieces.push_back({vocabulary_->id(text.substr(0, start)).value_or(unknown_), 0, start});
    text.remove_prefix(start);
  }
  const sentencepiece::ImmutableSentencePieceText result = used_->processor.EncodeAsImmutableProto(text);
  for (std::size_t i = 0; i < result.pieces_size(); ++i) {
    const auto piece = result.pieces(static_cast<int>(i));
    std::int32_t id = piece.id() < used_->ids.size() ? used_->ids[piece.id()] : -1;
    // The vocabulary also has the tokens of the other language, so an unknown token of this model may have an id.
    if (used_->processor.IsUnknown(static_cast<int>(piece.id()))) id = vocabulary_->id(piece.piece()).value_or(-1);
    pieces.push_back({id >= 0 ? id : unknown_, start + piece.begin(), start + piece.end()});
  }
}

std::string join_pieces(const std::vector<std::string>& tokens, const std::vector<std::string>& special_tokens,
                        bool spaced) {
  constexpr std::string_view kSpace = "▁";
  std::string text;
  bool first = true;  // the next token begins a text; also after a special token
  for (const std::string& token : tokens) {
    if (std::ranges::find(special_tokens, token) != special_tokens.end()) {
      text += spaced ? token + ' ' : token;
      first = true;
      continue;
    }
    std::string_view rest = token;
    if (first && rest.starts_with(kSpace)) rest.remove_prefix(kSpace.size());
    first = false;
    for (std::size_t at; (at = rest.find(kSpace)) != rest.npos; rest.remove_prefix(at + kSpace.size()))
      text.append(rest.substr(0, at)) += ' ';
    text += rest;
  }
  const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace attend
