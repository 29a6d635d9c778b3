#include "attend/data/feature_store.h"

#include "attend/core/error.h"

namespace attend {
namespace {

constexpr std::uint64_t kMark = 0x3173727574616546;  // "Feature1": the digit is the version of the format

std::uint64_t bytes_of(std::int64_t width) {
  if (width < 1) fail("feature_store", "a feature vector needs at least one number: got ", width);
  return static_cast<std::uint64_t>(width) * sizeof(float);
}

}  // namespace

FeatureStore::FeatureStore(const std::filesystem::path& path) : file_(path, kMark, "feature store") {
  if (file_.header().element_bytes % sizeof(float) != 0)
    fail<InputError>("load", file_.name(), ": vectors of ", file_.header().element_bytes,
                     " bytes do not hold float32 numbers; the file is damaged");
}

std::int64_t FeatureStore::width() const {
  return static_cast<std::int64_t>(file_.header().element_bytes / sizeof(float));
}

Tensor FeatureStore::read(std::int64_t sequence) const {
  const ElementRange range = file_.document(sequence);
  return Tensor::borrow(file_.at(range.begin), {range.size(), width()}, DType::f32, file_.owner());
}

bool is_feature_store(const std::filesystem::path& path, std::int64_t width, const TokenStoreKey& key) {
  if (!has_mark(path, kMark)) return false;
  try {
    const FeatureStore store(path);
    return store.width() == width && store.key() == key;
  } catch (const InputError&) {
    return false;
  }
}

FeatureStoreWriter::FeatureStoreWriter(std::filesystem::path path, std::int64_t width, const TokenStoreKey& key)
    : width_(width),
      file_(std::move(path),
            {.mark = kMark, .element_bytes = bytes_of(width), .sources = key.sources, .tokenizer = key.tokenizer}) {}

void FeatureStoreWriter::add(const Tensor& sequence) {
  if (!sequence.defined() || sequence.dtype() != DType::f32 || sequence.rank() != 2 || sequence.dim(1) != width_)
    fail("feature_store", "a sequence of features does not fit: got ", sequence.defined() ? sequence.shape() : Shape{},
         ", expected float32 [T, ", width_, "]");
  file_.add(std::as_bytes(sequence.span()));
  file_.end_document();
}

}  // namespace attend
