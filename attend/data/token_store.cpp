#include "attend/data/token_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>

#include "attend/core/error.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "token stores are read as they lie in memory");

constexpr std::uint64_t kMark = 0x31736E656B6F7441;  // "Atokens1": the digit is the version of the format
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 31;
constexpr std::size_t kBufferBytes = 1 << 20;

struct Header {
  std::uint64_t mark = kMark;
  std::uint64_t width = 0;  // bytes of an id
  std::uint64_t vocabulary = 0;
  std::uint64_t sources = 0, tokenizer = 0;
  std::uint64_t left_out = 0;
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(Header) == 64);

struct Trailer {
  std::uint64_t tokens = 0, documents = 0;
  std::uint64_t mark = ~kMark;
};
static_assert(sizeof(Trailer) == 24);

template <typename T>
T read_as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

int width_of(std::int64_t vocabulary) { return vocabulary <= std::numeric_limits<std::uint16_t>::max() + 1 ? 2 : 4; }

/// Converts stored ids to int32. False if one is too large.
template <typename Stored>
bool widen(const std::byte* stored, std::span<std::int32_t> ids, std::int64_t vocabulary) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint32_t id = read_as<Stored>(stored + i * sizeof(Stored));
    largest = std::max(largest, id);
    ids[i] = static_cast<std::int32_t>(id);
  }
  return largest < vocabulary;
}

template <typename Stored>
void narrow(std::span<const std::int32_t> ids, std::vector<std::byte>& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + ids.size() * sizeof(Stored));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<Stored>(ids[i]);
    std::memcpy(bytes.data() + at + i * sizeof(Stored), &id, sizeof(Stored));
  }
}

}  // namespace

bool is_token_store(const std::filesystem::path& path) {
  std::uint64_t mark = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&mark), sizeof mark);
  return mark == kMark;
}

TokenStore::TokenStore(const std::filesystem::path& path) : name_(path.string()) {
  MappedFile file = map_file(path);
  bytes_ = file.bytes;
  owner_ = std::move(file.owner);
  open();
}

TokenStore::TokenStore(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : name_(std::move(name)), bytes_(bytes), owner_(std::move(owner)) {
  open();
}

void TokenStore::open() {
  constexpr std::uint64_t kFrame = sizeof(Header) + sizeof(Trailer);
  if (bytes_.size() < sizeof(std::uint64_t) || read_as<std::uint64_t>(bytes_.data()) != kMark)
    fail<InputError>("load", name_, ": is not a token store of this version");
  if (bytes_.size() < kFrame + sizeof(std::uint64_t))
    fail<InputError>("load", name_, ": ", bytes_.size(), " bytes are too few for a token store; was the file cut?");
  const auto header = read_as<Header>(bytes_.data());
  const auto trailer = read_as<Trailer>(bytes_.data() + bytes_.size() - sizeof(Trailer));
  if (trailer.mark != ~kMark)
    fail<InputError>("load", name_, ": the end of the token store is missing; was the file cut?");
  if (header.vocabulary < 1 || header.vocabulary > static_cast<std::uint64_t>(kMaxVocabulary) ||
      header.width != static_cast<std::uint64_t>(width_of(static_cast<std::int64_t>(header.vocabulary))))
    fail<InputError>("load", name_, ": invalid header: got a vocabulary of ", header.vocabulary, " with ids of ",
                     header.width, " bytes");

  const std::uint64_t inside = bytes_.size() - kFrame;
  // Both counts are compared with the size before the multiplication, so that it cannot overflow.
  if (trailer.tokens > inside || trailer.documents >= inside / sizeof(std::uint64_t) ||
      padded(trailer.tokens * header.width) + (trailer.documents + 1) * sizeof(std::uint64_t) != inside)
    fail<InputError>("load", name_, ": ", trailer.tokens, " tokens in ", trailer.documents,
                     " documents do not fit a file of ", bytes_.size(), " bytes");
  width_ = static_cast<int>(header.width);
  vocabulary_ = static_cast<std::int64_t>(header.vocabulary);
  tokens_ = static_cast<std::int64_t>(trailer.tokens);
  documents_ = static_cast<std::int64_t>(trailer.documents);
  key_ = {header.sources, header.tokenizer};
  left_out_ = static_cast<std::int64_t>(header.left_out);
  ids_ = bytes_.data() + sizeof(Header);
  begins_ = ids_ + padded(trailer.tokens * header.width);

  std::uint64_t before = 0;
  for (std::int64_t d = 0; d <= documents_; ++d) {
    const auto begin = read_as<std::uint64_t>(begins_ + static_cast<std::size_t>(d) * sizeof(std::uint64_t));
    if (begin < before || begin > trailer.tokens || (d == 0 && begin != 0) ||
        (d == documents_ && begin != trailer.tokens))
      fail<InputError>("load", name_, ": document ", d, " begins at token ", begin,
                       ", which cannot be: the one before at ", before, ", and there are ", trailer.tokens);
    before = begin;
  }
}

TokenRange TokenStore::document(std::int64_t d) const {
  if (d < 0 || d >= documents_)
    fail("token_store", name_, ": there is no document ", d, ": expected 0 to ", documents_ - 1);
  const std::byte* at = begins_ + static_cast<std::size_t>(d) * sizeof(std::uint64_t);
  return {static_cast<std::int64_t>(read_as<std::uint64_t>(at)),
          static_cast<std::int64_t>(read_as<std::uint64_t>(at + sizeof(std::uint64_t)))};
}

std::int64_t TokenStore::document_at(std::int64_t position) const {
  if (position < 0 || position >= tokens_)
    fail("token_store", name_, ": there is no token ", position, ": expected 0 to ", tokens_ - 1);
  std::int64_t low = 0, high = documents_;  // the document is in [low, high)
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (document(middle).begin <= position ? low : high) = middle;
  }
  return low;
}

void TokenStore::read(std::int64_t position, std::span<std::int32_t> ids) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (position < 0 || count > tokens_ || position > tokens_ - count)
    fail("token_store", name_, ": has no tokens ", position, " to ", position + count, ": it has ", tokens_);
  const std::byte* stored = ids_ + static_cast<std::size_t>(position) * static_cast<std::size_t>(width_);
  const bool good =
      width_ == 2 ? widen<std::uint16_t>(stored, ids, vocabulary_) : widen<std::uint32_t>(stored, ids, vocabulary_);
  if (!good)
    fail<InputError>("load", name_, ": an id among tokens ", position, " to ", position + count,
                     " is not in the vocabulary of ", vocabulary_, "; the file is damaged");
}

std::vector<std::int32_t> TokenStore::read(TokenRange range) const {
  if (range.begin > range.end || range.size() > tokens_)
    fail("token_store", name_, ": has no tokens ", range.begin, " to ", range.end, ": it has ", tokens_);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(range.size()));
  read(range.begin, ids);
  return ids;
}

TokenStoreWriter::TokenStoreWriter(std::filesystem::path path, std::int64_t vocabulary, const TokenStoreKey& key)
    : file_(std::move(path)), vocabulary_(vocabulary), width_(width_of(vocabulary)), key_(key) {
  if (vocabulary < 1 || vocabulary > kMaxVocabulary)
    fail("token_store", "the vocabulary must have 1 to ", kMaxVocabulary, " ids: got ", vocabulary);
  const Header none;  // a placeholder; commit() writes the header
  file_.write(std::as_bytes(std::span(&none, 1)));
}

void TokenStoreWriter::add(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids)
    if (id < 0 || id >= vocabulary_) fail("token_store", "id ", id, " is not in the vocabulary of ", vocabulary_);
  width_ == 2 ? narrow<std::uint16_t>(ids, buffer_) : narrow<std::uint32_t>(ids, buffer_);
  tokens_ += ids.size();
  if (buffer_.size() >= kBufferBytes) flush();
}

void TokenStoreWriter::end_document() { begins_.push_back(tokens_); }

void TokenStoreWriter::commit() {
  if (begins_.back() != tokens_) end_document();
  flush();
  const std::uint64_t bytes = tokens_ * static_cast<std::uint64_t>(width_);
  buffer_.resize(static_cast<std::size_t>(padded(bytes) - bytes));
  flush();
  file_.write(std::as_bytes(std::span(begins_)));
  const Trailer trailer{.tokens = tokens_, .documents = begins_.size() - 1};
  file_.write(std::as_bytes(std::span(&trailer, 1)));
  const Header header{.width = static_cast<std::uint64_t>(width_),
                      .vocabulary = static_cast<std::uint64_t>(vocabulary_),
                      .sources = key_.sources,
                      .tokenizer = key_.tokenizer,
                      .left_out = left_out_};
  file_.write_at(0, {reinterpret_cast<const char*>(&header), sizeof header});
  file_.commit();
}

void TokenStoreWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

CachedTokenStore cached_token_store(const std::filesystem::path& path, std::int64_t vocabulary,
                                    const TokenStoreKey& key, const std::function<void(TokenStoreWriter&)>& fill) {
  std::string because = "there is none yet";
  if (std::filesystem::exists(path)) {
    try {
      TokenStore store(path);
      if (store.key().sources != key.sources)
        because = "the texts have changed";
      else if (store.key().tokenizer != key.tokenizer || store.vocabulary() != vocabulary)
        because = "the tokenizer has changed";
      else
        return {std::move(store), ""};
    } catch (const InputError& error) {
      because = error.what();
    }
  }
  TokenStoreWriter writer(path, vocabulary, key);
  fill(writer);
  writer.commit();
  return {TokenStore(path), because};
}

TokenWindows::TokenWindows(TokenStore store, std::int64_t T, bool across_documents)
    : store_(std::move(store)), length_(T), across_(across_documents), counts_{0} {
  if (T < 1) fail("token_store", "a window needs at least one token to see: got T = ", T);
  const std::size_t texts = across_ ? 1 : static_cast<std::size_t>(store_.documents());
  for (std::size_t t = 0; t < texts; ++t) {
    const std::int64_t predicted = std::max<std::int64_t>(text(t).size() - 1, 0);
    counts_.push_back(counts_.back() + predicted / T + (predicted % T != 0));
  }
}

TokenRange TokenWindows::text(std::size_t t) const {
  return across_ ? TokenRange{0, store_.size()} : store_.document(static_cast<std::int64_t>(t));
}

TokenRange TokenWindows::operator[](std::int64_t i) const {
  if (i < 0 || i >= size()) fail("token_store", "there is no window ", i, ": expected 0 to ", size() - 1);
  const auto after = std::ranges::upper_bound(counts_, i);  // one after the text that contains window i
  const auto t = static_cast<std::size_t>(after - counts_.begin()) - 1;
  const TokenRange whole = text(t);
  const std::int64_t begin = whole.begin + (i - counts_[t]) * length_;
  return {begin, begin + std::min(length_, whole.end - 1 - begin) + 1};
}

std::vector<std::int32_t> TokenWindows::lengths() const {
  std::vector<std::int32_t> lengths;
  lengths.reserve(static_cast<std::size_t>(size()));
  for (std::int64_t i = 0; i < size(); ++i) lengths.push_back(static_cast<std::int32_t>((*this)[i].size() - 1));
  return lengths;
}

}  // namespace attend
