// Training examples on disk: pairs of sentences, texts with their labels, pictures with their captions. Each example
// has the same number of fields, and a field is a sequence of token ids. An example may also have a sequence of feature
// vectors. The files are mapped, so that memory does not grow with the number of examples.
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
#include "attend/data/feature_store.h"
#include "attend/data/token_store.h"

namespace attend {

/// Immutable, cheap to copy, safe to read from many threads.
class ExampleStore {
 public:
  ExampleStore() = default;  ///< without examples
  /// Field f of example i is document i · fields + f. Throws InputError if the last example is incomplete.
  ExampleStore(TokenStore store, std::int64_t fields);
  /// Examples with features: sequence i of `features` belongs to example i. Throws InputError when the numbers of
  /// examples differ.
  ExampleStore(TokenStore store, std::int64_t fields, FeatureStore features);

  std::int64_t size() const { return store_ ? store_->documents() / fields_ : 0; }  ///< examples
  std::vector<std::int32_t> read(std::int64_t example, std::int64_t field = 0) const;
  /// The length of one field in each example, for BatchSampler.
  std::vector<std::int32_t> lengths(std::int64_t field = 0) const;
  bool has_features() const { return features_.has_value(); }
  Tensor features(std::int64_t example) const;        ///< float32 [T, D]
  std::vector<std::int32_t> feature_lengths() const;  ///< T of every example, for BatchSampler
  /// How many examples were left out or cut when the store was made.
  std::int64_t left_out() const { return store_ ? store_->left_out() : 0; }

 private:
  TokenRange range(std::int64_t example, std::int64_t field) const;

  std::optional<TokenStore> store_;
  std::optional<FeatureStore> features_;
  std::int64_t fields_ = 1;
};

/// One field of the chosen examples, padded to one tensor.
TokenBatch pad(const ExampleStore& examples, std::int64_t field, std::span<const std::int64_t> chosen,
               std::int32_t padding);
/// The features of the examples that a sampler chose, in one tensor.
FeatureBatch pad_features(const ExampleStore& examples, std::span<const std::int64_t> chosen);

/// Where examples are stored. Features go into a second file beside the first, with ".features" behind its name.
struct ExampleFile {
  std::filesystem::path path;
  std::int64_t fields = 1;
  std::int64_t vocabulary = 0;  ///< the ids of all fields are below this
  TokenStoreKey key = {};
  std::int64_t feature_width = 0;  ///< D of the feature vectors; 0: examples have no features
};

/// The ids of one example.
struct EncodedExample {
  std::vector<std::vector<std::int32_t>> fields;  ///< empty: the example is left out
  bool cut = false;                               ///< a text was truncated
  Tensor features = {};                           ///< float32 [T, feature_width], where the file has features
};

/// Writes the examples that `fill` gives to its argument, unless `file` has them already: then the key is the same.
using AddExample = std::function<void(const EncodedExample&)>;
ExampleStore stored_examples(const ExampleFile& file, const std::function<void(const AddExample&)>& fill);

/// The examples in `file`. The file is reused if it has the same key, and otherwise made: open() returns a function
/// that reads the next record (false at the end), and encode(record) converts it to examples. encode() is called from
/// many threads. Records are read in blocks, of which one is in memory.
template <typename Record>
ExampleStore stored_examples(const ExampleFile& file, const std::function<std::function<bool(Record&)>()>& open,
                             const std::function<std::vector<EncodedExample>(const Record&)>& encode) {
  constexpr std::size_t kBlock = 4096, kTask = 64;  // records in memory, and records per task of a thread
  return stored_examples(file, [&](const AddExample& add) {
    const std::function<bool(Record&)> next = open();
    std::vector<Record> block(kBlock);
    std::vector<std::vector<EncodedExample>> encoded(kBlock);
    for (std::size_t count = kBlock; count == kBlock;) {
      for (count = 0; count < kBlock && next(block[count]);) ++count;
      parallel_tasks(static_cast<std::int64_t>((count + kTask - 1) / kTask), [&](std::int64_t task) {
        const std::size_t begin = static_cast<std::size_t>(task) * kTask;
        for (std::size_t i = begin; i < std::min(begin + kTask, count); ++i) encoded[i] = encode(block[i]);
      });
      for (std::size_t i = 0; i < count; ++i)
        for (const EncodedExample& example : encoded[i]) add(example);
    }
  });
}
/// The same with one example for each record.
template <typename Record>
ExampleStore stored_examples(const ExampleFile& file, const std::function<std::function<bool(Record&)>()>& open,
                             const std::function<EncodedExample(const Record&)>& encode) {
  return stored_examples<Record>(
      file, open, std::function([&](const Record& record) { return std::vector<EncodedExample>{encode(record)}; }));
}

}  // namespace attend
