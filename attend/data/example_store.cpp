#include "attend/data/example_store.h"

#include "attend/core/error.h"

namespace attend {

ExampleStore::ExampleStore(TokenStore store, std::int64_t fields) : store_(std::move(store)), fields_(fields) {
  if (fields < 1 || store_->documents() % fields != 0)
    fail<InputError>("examples", "the last example is not complete: got ", store_->documents(), " fields, expected ",
                     fields, " for each example");
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

TokenBatch pad(const ExampleStore& examples, std::int64_t field, std::span<const std::int64_t> chosen,
               std::int32_t padding) {
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::int64_t i : chosen) ids.push_back(examples.read(i, field));
  const std::vector<std::span<const std::int32_t>> rows(ids.begin(), ids.end());
  return pad(rows, padding);
}

void add_example(TokenStoreWriter& writer, const EncodedExample& example, std::int64_t fields) {
  if (example.fields.empty() || example.cut) writer.leave_out();
  if (example.fields.empty()) return;
  if (static_cast<std::int64_t>(example.fields.size()) != fields)
    fail("examples", "an example has ", example.fields.size(), " fields, expected ", fields);
  for (const std::vector<std::int32_t>& ids : example.fields) {
    writer.add(ids);
    writer.end_document();
  }
}

}  // namespace attend
