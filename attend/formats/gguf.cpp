#include "attend/formats/gguf.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written in native byte order");

constexpr std::size_t kAlignment = 32;
constexpr std::int64_t kBlock = 32;  // number of weights that share a scale

// Type codes of metadata values.
enum : std::uint32_t { kUint32 = 4, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9 };

struct Bytes {
  std::string bytes;

  template <typename T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view value) { number<std::uint64_t>(value.size()), bytes += value; }

  void value(std::uint32_t x) { number<std::uint32_t>(kUint32), number(x); }
  void value(float x) { number<std::uint32_t>(kFloat32), number(x); }
  void value(bool x) { number<std::uint32_t>(kBool), number<std::uint8_t>(x); }
  void value(const std::string& x) { number<std::uint32_t>(kString), text(x); }
  void value(const std::vector<std::string>& list) {
    array(kString, list.size());
    for (const std::string& x : list) text(x);
  }
  void value(const std::vector<std::int32_t>& list) {
    array(kInt32, list.size());
    for (const std::int32_t x : list) number(x);
  }
  void value(const std::vector<float>& list) {
    array(kFloat32, list.size());
    for (const float x : list) number(x);
  }
  void array(std::uint32_t kind, std::size_t size) {
    number<std::uint32_t>(kArray), number(kind), number<std::uint64_t>(size);
  }
  void pad() { bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0'); }
};

std::uint64_t stored_size(const Tensor& tensor, GgufType type) {
  const auto count = static_cast<std::uint64_t>(tensor.numel());
  if (type == GgufType::q8_0) return count / kBlock * (sizeof(std::uint16_t) + kBlock);
  return count * (type == GgufType::f16 || type == GgufType::bf16 ? sizeof(std::uint16_t) : sizeof(float));
}

void append(Bytes& out, const Tensor& tensor, GgufType type) {
  const std::span<const float> values = tensor.span();
  if (type == GgufType::f32) {
    out.bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  } else if (type == GgufType::f16 || type == GgufType::bf16) {
    for (const float x : values) out.number(type == GgufType::f16 ? f16_from_float(x) : bf16_from_float(x));
  } else {
    for (std::size_t at = 0; at < values.size(); at += kBlock) {
      float most = 0;
      for (std::size_t i = 0; i < kBlock; ++i) most = std::max(most, std::abs(values[at + i]));
      const float scale = most / 127.f;
      out.number(f16_from_float(scale));
      for (std::size_t i = 0; i < kBlock; ++i)
        out.number(static_cast<std::int8_t>(scale > 0 ? std::nearbyint(values[at + i] / scale) : 0.f));
    }
  }
}

}  // namespace

void GgufWriter::add(std::string name, const Tensor& tensor, GgufType type) {
  if (tensor.dtype() != DType::f32)
    fail("save", "tensor \"", name, "\" has the wrong dtype: got ", tensor.dtype(), ", expected float32");
  if (tensor.rank() < 2) type = GgufType::f32;
  if (type == GgufType::q8_0 && tensor.dim(-1) % kBlock != 0) type = GgufType::f16;
  tensors_.push_back({std::move(name), tensor, type});
}

void GgufWriter::save(const std::filesystem::path& path) const {
  Bytes header;
  header.bytes = "GGUF";
  header.number<std::uint32_t>(3);
  header.number<std::uint64_t>(tensors_.size()), header.number<std::uint64_t>(keys_.size());
  for (const auto& [name, value] : keys_) {
    header.text(name);
    std::visit([&](const auto& x) { header.value(x); }, value);
  }
  std::uint64_t offset = 0;
  for (const auto& [name, tensor, type] : tensors_) {
    header.text(name);
    header.number(static_cast<std::uint32_t>(tensor.rank()));
    for (int i = tensor.rank() - 1; i >= 0; --i) header.number(static_cast<std::uint64_t>(tensor.dim(i)));
    header.number(static_cast<std::uint32_t>(type)), header.number(offset);
    offset += (stored_size(tensor, type) + kAlignment - 1) / kAlignment * kAlignment;
  }
  header.pad();

  AtomicFile file(path);
  file.write(header.bytes);
  for (const auto& [name, tensor, type] : tensors_) {
    Bytes data;
    append(data, tensor, type);
    data.pad();
    file.write(data.bytes);
  }
  file.commit();
}

}  // namespace attend
