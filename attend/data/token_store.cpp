#include "attend/data/token_store.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "attend/core/error.h"

namespace attend {
namespace {

constexpr std::uint64_t kMark = 0x31736E656B6F7441;  // "Atokens1": the digit is the version of the format
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 31;

int width_of(std::int64_t vocabulary) { return vocabulary <= std::numeric_limits<std::uint16_t>::max() + 1 ? 2 : 4; }

/// Converts stored ids to int32. False if one is too large.
template <typename Stored>
bool widen(const std::byte* stored, std::span<std::int32_t> ids, std::int64_t vocabulary) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Stored id;
    std::memcpy(&id, stored + i * sizeof(Stored), sizeof(Stored));
    largest = std::max<std::uint32_t>(largest, id);
    ids[i] = static_cast<std::int32_t>(id);
  }
  return largest < vocabulary;
}

}  // namespace

bool is_token_store(const std::filesystem::path& path) { return has_mark(path, kMark); }

TokenStore::TokenStore(const std::filesystem::path& path) : TokenStore(DocumentFile(path, kMark, "token store")) {}

TokenStore::TokenStore(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : TokenStore(DocumentFile(std::move(name), bytes, std::move(owner), kMark, "token store")) {}

TokenStore::TokenStore(DocumentFile file) : file_(std::move(file)) {
  const DocumentFileHeader& header = file_.header();
  if (header.limit < 1 || header.limit > static_cast<std::uint64_t>(kMaxVocabulary) ||
      header.element_bytes != static_cast<std::uint64_t>(width_of(static_cast<std::int64_t>(header.limit))))
    fail<InputError>("load", file_.name(), ": invalid header: got a vocabulary of ", header.limit, " with ids of ",
                     header.element_bytes, " bytes");
}

std::int64_t TokenStore::document_at(std::int64_t position) const {
  if (position < 0 || position >= size())
    fail("token_store", file_.name(), ": there is no token ", position, ": expected 0 to ", size() - 1);
  std::int64_t low = 0, high = documents();  // the document is in [low, high)
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (document(middle).begin <= position ? low : high) = middle;
  }
  return low;
}

void TokenStore::read(std::int64_t position, std::span<std::int32_t> ids) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (position < 0 || count > size() || position > size() - count)
    fail("token_store", file_.name(), ": has no tokens ", position, " to ", position + count, ": it has ", size());
  const std::byte* stored = file_.at(position);
  const bool good = width_of(vocabulary()) == 2 ? widen<std::uint16_t>(stored, ids, vocabulary())
                                                : widen<std::uint32_t>(stored, ids, vocabulary());
  if (!good)
    fail<InputError>("load", file_.name(), ": an id among tokens ", position, " to ", position + count,
                     " is not in the vocabulary of ", vocabulary(), "; the file is damaged");
}

std::vector<std::int32_t> TokenStore::read(TokenRange range) const {
  if (range.begin > range.end || range.size() > size())
    fail("token_store", file_.name(), ": has no tokens ", range.begin, " to ", range.end, ": it has ", size());
  std::vector<std::int32_t> ids(static_cast<std::size_t>(range.size()));
  read(range.begin, ids);
  return ids;
}

TokenStoreWriter::TokenStoreWriter(std::filesystem::path path, std::int64_t vocabulary, const TokenStoreKey& key)
    : file_(std::move(path), {.mark = kMark,
                              .element_bytes = static_cast<std::uint64_t>(width_of(vocabulary)),
                              .limit = static_cast<std::uint64_t>(vocabulary),
                              .sources = key.sources,
                              .tokenizer = key.tokenizer}),
      vocabulary_(vocabulary) {
  if (vocabulary < 1 || vocabulary > kMaxVocabulary)
    fail("token_store", "the vocabulary must have 1 to ", kMaxVocabulary, " ids: got ", vocabulary);
}

void TokenStoreWriter::add(std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids)
    if (id < 0 || id >= vocabulary_) fail("token_store", "id ", id, " is not in the vocabulary of ", vocabulary_);
  if (width_of(vocabulary_) == 4) return file_.add(std::as_bytes(ids));
  narrow_.assign(ids.begin(), ids.end());
  file_.add(std::as_bytes(std::span(narrow_)));
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
