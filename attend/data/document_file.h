// Documents in a mapped file, each a sequence of elements of one size. TokenStore and FeatureStore define what an
// element is: a token id, or a feature vector.
//
// The file, little-endian: 64 bytes of header, the elements, zeros up to a multiple of 8, the position where each
// document begins and where the last one ends (64 bits each), 24 bytes of trailer (elements, documents, a mark). What
// is known only at the end stands at the end, so that the file is written as a stream.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/core/file.h"

namespace attend {

struct DocumentFileHeader {
  std::uint64_t mark = 0;           ///< identifies the kind of the file and the version of its format
  std::uint64_t element_bytes = 0;  ///< size of an element
  std::uint64_t limit = 0;          ///< for TokenStore the size of the vocabulary; unused in a FeatureStore
  std::uint64_t sources = 0, tokenizer = 0;
  std::uint64_t left_out = 0;
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(DocumentFileHeader) == 64);

/// The elements [begin, end) of a file.
struct ElementRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

/// Whether a file begins with this mark. False when there is no such file.
bool has_mark(const std::filesystem::path& path, std::uint64_t mark);

/// Immutable, cheap to copy, safe to read from many threads. The constructors check the frame and the documents, and
/// throw InputError [load] for anything that is not a complete file with this mark. `kind` is for messages: "token
/// store".
class DocumentFile {
 public:
  DocumentFile(const std::filesystem::path& path, std::uint64_t mark, const char* kind);
  /// The same over bytes in memory. `name` is for messages, `owner` keeps the bytes.
  DocumentFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
               std::uint64_t mark, const char* kind);

  const std::string& name() const { return name_; }
  const DocumentFileHeader& header() const { return header_; }
  std::int64_t elements() const { return elements_; }  ///< of all documents
  std::int64_t documents() const { return documents_; }
  /// The elements of document d, 0 <= d < documents().
  ElementRange document(std::int64_t d) const;
  /// The bytes of an element and of those behind it.
  const std::byte* at(std::int64_t element) const {
    return data_ + static_cast<std::size_t>(element) * static_cast<std::size_t>(header_.element_bytes);
  }
  /// Keeps the mapping alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  void open(std::uint64_t mark, const char* kind);

  std::string name_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  DocumentFileHeader header_;
  std::int64_t elements_ = 0, documents_ = 0;
  const std::byte* data_ = nullptr;
  const std::byte* begins_ = nullptr;
};

/// Writes such a file. It appears at commit(), complete (see AtomicFile). Memory grows by 8 bytes for each document.
class DocumentFileWriter {
 public:
  DocumentFileWriter(std::filesystem::path path, const DocumentFileHeader& header);

  /// More elements of the current document.
  void add(std::span<const std::byte> elements);
  void end_document() { begins_.push_back(elements_); }
  /// Counts a document that was left out, or cut.
  void leave_out() { ++header_.left_out; }
  /// Ends the last document if it was not ended.
  void commit();

 private:
  void flush();

  AtomicFile file_;
  DocumentFileHeader header_;
  std::uint64_t elements_ = 0;
  std::vector<std::uint64_t> begins_{0};
  std::vector<std::byte> buffer_;
};

}  // namespace attend
