// A long text as token ids in a file: made once, mapped afterwards, so that training starts at once and memory holds
// only what it touches. Documents are kept apart. Ids take 16 bits where the vocabulary allows, otherwise 32.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/data/document_file.h"

namespace attend {

/// What a store was made from. A store with another key is out of date.
struct TokenStoreKey {
  std::uint64_t sources = 0;    ///< fingerprint of the texts (attend/data/fingerprint.h)
  std::uint64_t tokenizer = 0;  ///< fingerprint of what made ids of them
  bool operator==(const TokenStoreKey&) const = default;
};

/// Ids [begin, end) of a store.
using TokenRange = ElementRange;

/// An open store: immutable, cheap to copy, safe to read from many threads. Opening looks at the frame and the
/// documents, and throws InputError [load] for anything that is not a complete store; ids are checked as they are read.
class TokenStore {
 public:
  explicit TokenStore(const std::filesystem::path& path);
  /// The same over bytes in memory; `name` is for messages, `owner` keeps the bytes.
  TokenStore(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::int64_t size() const { return file_.elements(); }  ///< tokens of all documents
  std::int64_t documents() const { return file_.documents(); }
  /// Ids are 0 … vocabulary() - 1.
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(file_.header().limit); }
  TokenStoreKey key() const { return {file_.header().sources, file_.header().tokenizer}; }
  /// How many texts were left out or cut when the store was made.
  std::int64_t left_out() const { return static_cast<std::int64_t>(file_.header().left_out); }

  /// Where document d stands, 0 <= d < documents().
  TokenRange document(std::int64_t d) const { return file_.document(d); }
  /// The document that holds a token, 0 <= position < size(). O(log documents).
  std::int64_t document_at(std::int64_t position) const;

  /// Copies as many ids as `ids` takes, from `position` on, across documents. Throws when they are not all there, and
  /// InputError when one does not belong to the vocabulary: then the file is damaged.
  void read(std::int64_t position, std::span<std::int32_t> ids) const;
  std::vector<std::int32_t> read(TokenRange range) const;

 private:
  explicit TokenStore(DocumentFile file);

  DocumentFile file_;
};

/// Whether a file begins as a token store does, of this version. False when there is no such file.
bool is_token_store(const std::filesystem::path& path);

/// Makes a store. The file appears at commit(), complete (see AtomicFile); memory grows with the documents, by 8 bytes
/// each, and not with the tokens.
class TokenStoreWriter {
 public:
  /// Throws unless 1 <= vocabulary <= 2^31.
  TokenStoreWriter(std::filesystem::path path, std::int64_t vocabulary, const TokenStoreKey& key = {});

  /// More tokens of the document at hand. Throws on an id that the vocabulary does not have.
  void add(std::span<const std::int32_t> ids);
  /// The next token begins another document. Documents may be empty.
  void end_document() { file_.end_document(); }
  /// Counts a text that is left out, or cut: see TokenStore::left_out().
  void leave_out() { file_.leave_out(); }
  /// A document that was not ended ends here.
  void commit() { file_.commit(); }

 private:
  DocumentFileWriter file_;
  std::int64_t vocabulary_;
  std::vector<std::uint16_t> narrow_;  // ids of 16 bits, before they are written
};

/// A store that is made when it must be.
struct CachedTokenStore {
  TokenStore store;
  std::string made_because;  ///< why it had to be made: "there is none yet"; empty: it was there
};
/// The store at `path`, if it has this key and vocabulary; otherwise fill(writer) makes it anew first.
CachedTokenStore cached_token_store(const std::filesystem::path& path, std::int64_t vocabulary,
                                    const TokenStoreKey& key, const std::function<void(TokenStoreWriter&)>& fill);

/// A store cut into windows for a language model: each has up to T + 1 ids, of which the first T are what the model
/// sees and the last T what it should say, so that neighbours share one id and every token but the first of a text is
/// predicted once.
class TokenWindows {
 public:
  /// With across_documents the store is one text, otherwise each document is cut on its own and nothing crosses its
  /// borders. The last window of a text may be shorter; a text of one token has none. Throws unless T >= 1.
  TokenWindows(TokenStore store, std::int64_t T, bool across_documents = true);

  std::int64_t size() const { return counts_.back(); }
  TokenRange operator[](std::int64_t i) const;     ///< at least 2 ids, at most T + 1; 0 <= i < size()
  std::int64_t length() const { return length_; }  ///< T
  const TokenStore& store() const { return store_; }

  /// How many ids of each window the model sees, for BatchSampler.
  std::vector<std::int32_t> lengths() const;

 private:
  TokenRange text(std::size_t t) const;

  TokenStore store_;
  std::int64_t length_;  // T
  bool across_;
  std::vector<std::int64_t> counts_;  // windows of the texts before text t; the last is all of them
};

}  // namespace attend
