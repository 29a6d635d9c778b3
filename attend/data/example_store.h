// Training examples on disk as token ids, such as sentence pairs or texts with labels. All examples have the same
// number of fields, and a field is a sequence of ids. The file is a memory-mapped token store, so memory does not grow
// with the number of examples.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attend/core/threads.h"
#include "attend/data/batches.h"
#include "attend/data/token_store.h"

namespace attend {

/// Immutable, cheap to copy, safe to read from many threads.
class ExampleStore {
 public:
  ExampleStore() = default;  ///< without examples
  /// Field f of example i is document i · fields + f. Throws InputError if the last example is incomplete.
  ExampleStore(TokenStore store, std::int64_t fields);

  std::int64_t size() const { return store_ ? store_->documents() / fields_ : 0; }  ///< examples
  std::vector<std::int32_t> read(std::int64_t example, std::int64_t field = 0) const;
  /// The length of one field in each example, for BatchSampler.
  std::vector<std::int32_t> lengths(std::int64_t field = 0) const;
  /// How many examples were left out or cut when the store was made.
  std::int64_t left_out() const { return store_ ? store_->left_out() : 0; }

 private:
  TokenRange range(std::int64_t example, std::int64_t field) const;

  std::optional<TokenStore> store_;
  std::int64_t fields_ = 1;
};

/// One field of the chosen examples, padded to one tensor.
TokenBatch pad(const ExampleStore& examples, std::int64_t field, std::span<const std::int64_t> chosen,
               std::int32_t padding);

struct ExampleFile {
  std::filesystem::path path;
  std::int64_t fields = 1;
  std::int64_t vocabulary = 0;  ///< the ids of all fields are below this
  TokenStoreKey key = {};
};

/// The ids of one example.
struct EncodedExample {
  std::vector<std::vector<std::int32_t>> fields;  ///< empty: the example is left out
  bool cut = false;                               ///< a text was truncated
};

/// Throws Error if an example has the wrong number of fields and is not left out.
void add_example(TokenStoreWriter& writer, const EncodedExample& example, std::int64_t fields);

/// The examples in `file`. The file is reused if it has the same key, and otherwise made: open() returns a function
/// that reads the next record (false at the end), and encode(record) converts it to an example. encode() is called from
/// many threads. Records are read in blocks, of which one is in memory.
template <typename Record>
ExampleStore stored_examples(const ExampleFile& file, const std::function<std::function<bool(Record&)>()>& open,
                             const std::function<EncodedExample(const Record&)>& encode) {
  constexpr std::size_t kBlock = 4096, kTask = 64;  // records in memory, and records per task of a thread
  const auto fill = [&](TokenStoreWriter& writer) {
    const std::function<bool(Record&)> next = open();
    std::vector<Record> block(kBlock);
    std::vector<EncodedExample> encoded(kBlock);
    for (std::size_t count = kBlock; count == kBlock;) {
      for (count = 0; count < kBlock && next(block[count]);) ++count;
      parallel_tasks(static_cast<std::int64_t>((count + kTask - 1) / kTask), [&](std::int64_t task) {
        const std::size_t begin = static_cast<std::size_t>(task) * kTask;
        for (std::size_t i = begin; i < std::min(begin + kTask, count); ++i) encoded[i] = encode(block[i]);
      });
      for (std::size_t i = 0; i < count; ++i) add_example(writer, encoded[i], file.fields);
    }
  };
  return {cached_token_store(file.path, file.vocabulary, file.key, fill).store, file.fields};
}

}  // namespace attend
