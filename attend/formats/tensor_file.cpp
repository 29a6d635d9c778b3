#include "attend/formats/tensor_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/formats/gguf_blocks.h"
#include "attend/formats/stored_tensor.h"

namespace attend {

TensorFile::TensorFile(const std::filesystem::path& path) : name_(path.string()) {
  MappedFile file = map_file(path);
  bytes_ = file.bytes;
  owner_ = std::move(file.owner);
}

TensorFile::TensorFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : name_(std::move(name)), bytes_(bytes), owner_(std::move(owner)) {}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

const TensorFile::Entry& TensorFile::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    fail<InputError>("load", name_, ": has no tensor ", in_quotes(name), " among its ", entries_.size());
  return found->second;
}

std::span<const std::int64_t> TensorFile::shape(std::string_view name) const { return entry(name).shape; }

Tensor TensorFile::get(std::string_view name) const {
  const Entry& entry = this->entry(name);
  if (entry.plain) return read_stored(name_, name, {entry.dtype, entry.shape, entry.bytes}, owner_);

  constexpr std::uint64_t kMostRepeated = 1 << 24;
  const std::uint64_t needed = stored_bytes(entry.dtype, entry.shape).value_or(0);
  if (needed > std::max<std::uint64_t>(kMostRepeated, entry.bytes.size()))
    fail<InputError>("load", name_, ": tensor ", in_quotes(name), " of shape ", shape_text(entry.shape),
                     " repeats its elements: it needs ", grouped(needed), " bytes, and the file has ",
                     grouped(entry.bytes.size()), " of them");
  // Copies the elements in row-major order, and reverses their bytes if the file is big-endian.
  const std::uint64_t size = stored_size(entry.dtype);
  const auto copy = std::make_shared<std::vector<std::byte>>(needed);
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t at = 0;
  for (std::size_t done = 0; done < copy->size(); done += size) {
    const std::span<std::byte> element(copy->data() + done, size);
    std::memcpy(element.data(), entry.bytes.data() + at * static_cast<std::int64_t>(size), size);
    if (big_endian_) std::ranges::reverse(element);
    for (std::size_t d = entry.shape.size(); d-- > 0;) {  // advances to the next index and its offset
      at += entry.strides[d];
      if (++index[d] < entry.shape[d]) break;
      at -= entry.strides[d] * entry.shape[d];
      index[d] = 0;
    }
  }
  return read_stored(name_, name, {entry.dtype, entry.shape, *copy}, copy);
}

Tensor TensorFile::get_float32(std::string_view name) const { return convert(get(name), DType::f32); }

std::uint64_t TensorFile::elements() const {
  std::uint64_t sum = 0;
  for (const auto& [name, entry] : entries_) {
    // A PyTorch tensor may repeat its elements, or be a part of the bytes.
    const std::uint64_t bytes =
        std::min<std::uint64_t>(stored_bytes(entry.dtype, entry.shape).value_or(0), entry.bytes.size());
    const BlockFormat* blocks = block_format(entry.dtype);
    sum += blocks ? bytes / static_cast<std::uint64_t>(blocks->bytes) * static_cast<std::uint64_t>(blocks->elements)
                  : bytes / stored_size(entry.dtype);
  }
  return sum;
}

std::vector<std::string> TensorFile::warnings() const {
  std::vector<std::string> lines;
  for (const auto& [name, entry] : entries_)
    if (entry.dtype == "F64")
      lines.push_back(name_ + ": tensor " + in_quotes(name) + " is F64 and is rounded to float32");
  return lines;
}

}  // namespace attend
