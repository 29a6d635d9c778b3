#include "attend/data/example_store.h"

#include "attend/core/error.h"

namespace attend {

ExampleStore::ExampleStore(TokenStore store, std::int64_t fields) : store_(std::move(store)), fields_(fields) {
  if (fields < 1 || store_->documents() % fields != 0)
    fail<InputError>("examples", "the last example is not complete: got ", store_->documents(), " fields, expected ",
                     fields, " for each example");
}

ExampleStore::ExampleStore(TokenStore store, std::int64_t fields, FeatureStore features)
    : ExampleStore(std::move(store), fields) {
  if (features.size() != size())
    fail<InputError>("examples", "the features do not belong to the examples: got ", features.size(),
                     " sequences of features, expected ", size());
  features_ = std::move(features);
}

TokenRange ExampleStore::range(std::int64_t example, std::int64_t field) const {
  if (!store_) fail("examples", "there is no example ", example, ": got no examples");
  return store_->document(example * fields_ + field);
}

std::vector<std::int32_t> ExampleStore::read(std::int64_t example, std::int64_t field) const {
  return store_->read(range(example, field));
}

std::vector<std::int32_t> ExampleStore::lengths(std::int64_t field) const {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(size()));
  for (std::int64_t i = 0; i < size(); ++i)
    lengths[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(range(i, field).size());
  return lengths;
}

Tensor ExampleStore::features(std::int64_t example) const {
  if (!features_) fail("examples", "example ", example, " has no features: it is made of ids alone");
  return features_->read(example);
}

std::vector<std::int32_t> ExampleStore::feature_lengths() const {
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; features_ && i < size(); ++i)
    lengths.push_back(static_cast<std::int32_t>(features_->length(i)));
  return lengths;
}

TokenBatch pad(const ExampleStore& examples, std::int64_t field, std::span<const std::int64_t> chosen,
               std::int32_t padding) {
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::int64_t i : chosen) ids.push_back(examples.read(i, field));
  const std::vector<std::span<const std::int32_t>> rows(ids.begin(), ids.end());
  return pad(rows, padding);
}

FeatureBatch pad_features(const ExampleStore& examples, std::span<const std::int64_t> chosen) {
  std::vector<Tensor> sequences;
  for (const std::int64_t i : chosen) sequences.push_back(examples.features(i));
  return pad(sequences);
}

ExampleStore stored_examples(const ExampleFile& file, const std::function<void(const AddExample&)>& fill) {
  const auto fill_tokens = [&](TokenStoreWriter& tokens, FeatureStoreWriter* features) {
    fill([&](const EncodedExample& example) {
      if (example.fields.empty() || example.cut) tokens.leave_out();
      if (example.fields.empty()) return;
      if (std::ssize(example.fields) != file.fields)
        fail("examples", "an example has ", example.fields.size(), " fields, expected ", file.fields);
      for (const std::vector<std::int32_t>& ids : example.fields) tokens.add(ids), tokens.end_document();
      if (features) features->add(example.features);
    });
  };
  if (file.feature_width == 0)
    return {cached_token_store(file.path, file.vocabulary, file.key,
                               [&](TokenStoreWriter& tokens) { fill_tokens(tokens, nullptr); })
                .store,
            file.fields};

  std::filesystem::path beside = file.path;
  beside += ".features";
  if (!is_feature_store(beside, file.feature_width, file.key)) std::filesystem::remove(file.path);
  const auto fill_both = [&](TokenStoreWriter& tokens) {
    FeatureStoreWriter features(beside, file.feature_width, file.key);
    fill_tokens(tokens, &features);
    features.commit();  // before the tokens: a store of tokens whose features are missing is never found
  };
  TokenStore tokens = cached_token_store(file.path, file.vocabulary, file.key, fill_both).store;
  return {std::move(tokens), file.fields, FeatureStore(beside)};
}

}  // namespace attend
