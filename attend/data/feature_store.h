// Sequences of feature vectors (patches of a picture, frames of sound) in a file. It is written once and mapped
// afterwards, so that memory holds only the sequences in use.
#pragma once
#include <cstdint>
#include <filesystem>

#include "attend/core/tensor.h"
#include "attend/data/document_file.h"
#include "attend/data/token_store.h"

namespace attend {

/// Immutable, cheap to copy, safe to read from many threads.
class FeatureStore {
 public:
  /// Throws InputError [load] for anything that is not a complete store.
  explicit FeatureStore(const std::filesystem::path& path);

  std::int64_t size() const { return file_.documents(); }  ///< sequences
  std::int64_t width() const;                              ///< D
  TokenStoreKey key() const { return {file_.header().sources, file_.header().tokenizer}; }
  std::int64_t length(std::int64_t sequence) const { return file_.document(sequence).size(); }  ///< T
  /// float32 [T, D], borrowed from the mapped file: read only.
  Tensor read(std::int64_t sequence) const;

 private:
  DocumentFile file_;
};

/// Whether there is a complete store at `path`, with this D and this key.
bool is_feature_store(const std::filesystem::path& path, std::int64_t width, const TokenStoreKey& key);

/// Writes a store. The file appears at commit(), complete.
class FeatureStoreWriter {
 public:
  /// Throws unless width >= 1.
  FeatureStoreWriter(std::filesystem::path path, std::int64_t width, const TokenStoreKey& key = {});

  /// A sequence, float32 [T, D]; T may be 0. Throws when the shape does not fit.
  void add(const Tensor& sequence);
  void commit() { file_.commit(); }

 private:
  std::int64_t width_;
  DocumentFileWriter file_;
};

}  // namespace attend
