// Token ids of long texts in a file. The file is written once and then memory-mapped, so training starts at once and
// memory holds only the pages in use. Document boundaries are stored. An id takes 16 bits if the vocabulary allows,
// otherwise 32.
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

/// Identifies what a store was made from. A store with another key is out of date.
struct TokenStoreKey {
  std::uint64_t sources = 0;    ///< fingerprint of the texts (attend/data/fingerprint.h)
  std::uint64_t tokenizer = 0;  ///< fingerprint of the tokenizer
  bool operator==(const TokenStoreKey&) const = default;
};

/// Ids [begin, end) of a store.
using TokenRange = ElementRange;

/// An open store: immutable, cheap to copy, and safe to read from many threads. The constructor checks the header, the
/// trailer and the documents, and throws InputError if the store is incomplete. Ids are checked when they are read.
class TokenStore {
 public:
  explicit TokenStore(const std::filesystem::path& path);
  /// A store in memory. `name` is used in messages; `owner` keeps the bytes alive.
  TokenStore(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  std::int64_t size() const { return file_.elements(); }  ///< tokens of all documents
  std::int64_t documents() const { return file_.documents(); }
  /// Ids are 0 … vocabulary() - 1.
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(file_.header().limit); }
  TokenStoreKey key() const { return {file_.header().sources, file_.header().tokenizer}; }
  /// The number of texts that were left out or truncated when the store was made.
  std::int64_t left_out() const { return static_cast<std::int64_t>(file_.header().left_out); }

  /// The ids of document d, 0 <= d < documents().
  TokenRange document(std::int64_t d) const { return file_.document(d); }
  /// The document that contains a position, 0 <= position < size(). O(log documents).
  std::int64_t document_at(std::int64_t position) const;

  /// Fills `ids` with the tokens from `position` on, across documents. Throws if the store ends before, and InputError
  /// if an id is not in the vocabulary, which means that the file is damaged.
  void read(std::int64_t position, std::span<std::int32_t> ids) const;
  std::vector<std::int32_t> read(TokenRange range) const;

 private:
  explicit TokenStore(DocumentFile file);

  DocumentFile file_;
};

/// Whether a file is a token store of this version, by its first bytes. False if there is no such file.
bool is_token_store(const std::filesystem::path& path);

/// Writes a store. The complete file appears at commit() (see AtomicFile). Memory grows by 8 bytes for each document,
/// and not with the tokens.
class TokenStoreWriter {
 public:
  /// Throws unless 1 <= vocabulary <= 2^31.
  TokenStoreWriter(std::filesystem::path path, std::int64_t vocabulary, const TokenStoreKey& key = {});

  /// Appends tokens to the current document. Throws if an id is not in the vocabulary.
  void add(std::span<const std::int32_t> ids);
  /// Ends the current document. Documents may be empty.
  void end_document() { file_.end_document(); }
  /// Counts a text that was left out or truncated: see TokenStore::left_out().
  void leave_out() { file_.leave_out(); }
  /// Ends the current document and writes the file.
  void commit() { file_.commit(); }

 private:
  DocumentFileWriter file_;
  std::int64_t vocabulary_;
  std::vector<std::uint16_t> narrow_;  // ids of 16 bits, before they are written
};

/// A store that was reused or made.
struct CachedTokenStore {
  TokenStore store;
  std::string made_because;  ///< why it was made: "there is none yet"; empty: it was reused
};
/// The store at `path`. If it does not have this key and vocabulary, fill(writer) makes it first.
CachedTokenStore cached_token_store(const std::filesystem::path& path, std::int64_t vocabulary,
                                    const TokenStoreKey& key, const std::function<void(TokenStoreWriter&)>& fill);

/// Cuts a store into windows for training a language model. A window has up to T + 1 ids: the first T are the inputs
/// and the last T the targets. Neighbouring windows share one id, so each token except the first of a text is predicted
/// once.
class TokenWindows {
 public:
  /// With across_documents, the whole store is one text. Otherwise each document is a text, and no window crosses its
  /// boundaries. The last window of a text may be shorter, and a text of one token has no window. Throws unless T >= 1.
  TokenWindows(TokenStore store, std::int64_t T, bool across_documents = true);

  std::int64_t size() const { return counts_.back(); }
  TokenRange operator[](std::int64_t i) const;     ///< at least 2 ids, at most T + 1; 0 <= i < size()
  std::int64_t length() const { return length_; }  ///< T
  const TokenStore& store() const { return store_; }

  /// The number of inputs of each window, for BatchSampler.
  std::vector<std::int32_t> lengths() const;

 private:
  TokenRange text(std::size_t t) const;

  TokenStore store_;
  std::int64_t length_;  // T
  bool across_;
  std::vector<std::int64_t> counts_;  // number of windows before text t; the last element is the total
};

}  // namespace attend
