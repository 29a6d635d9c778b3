#include "attend/models/stored_parameter.h"

namespace attend {

Shape StoredParameter::shape() const {
  const Tensor& first = *parts.front();
  if (parts.size() == 1) return first.shape();
  std::int64_t rows = 0;
  for (const Tensor* part : parts) rows += part->dim(0);
  return first.rank() == 1 ? Shape{rows} : Shape{rows, first.dim(1)};
}

Tensor StoredParameter::joined() const {
  if (parts.size() == 1) return *parts.front();
  Tensor whole = Tensor::empty(shape(), parts.front()->dtype());
  std::byte* to = whole.raw();
  for (const Tensor* part : parts) to = std::copy_n(part->raw(), part->bytes(), to);
  return whole;
}

Tensor regrouped(const Tensor& from, std::int64_t parts, std::int64_t groups) {
  Tensor to = Tensor::like(from);
  const std::size_t bytes = from.bytes() / static_cast<std::size_t>(parts * groups);
  for (std::int64_t i = 0; i < parts; ++i)
    for (std::int64_t j = 0; j < groups; ++j)
      std::copy_n(from.raw() + static_cast<std::size_t>(i * groups + j) * bytes, bytes,
                  to.raw() + static_cast<std::size_t>(j * parts + i) * bytes);
  return to;
}

void StoredParameter::assign(const Tensor& whole) const {
  if (parts.size() == 1) {
    *parts.front() = whole;
    return;
  }
  for (std::int64_t first = 0; Tensor * part : parts) {
    const std::int64_t rows = part->dim(0);
    *part = whole.view_rows(first, first + rows);
    first += rows;
  }
}

}  // namespace attend
