#include "attend/formats/gguf_file.h"

#include <bit>
#include <cstring>
#include <limits>

#include "attend/core/error.h"
#include "attend/formats/gguf_blocks.h"
#include "attend/formats/stored_tensor.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are little-endian");

constexpr std::string_view kMagicOfGguf = "GGUF";
constexpr const char* kAlignmentKey = "general.alignment";

/// Type codes of metadata values.
enum class Code : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// The types of tensors that are plain arrays.
constexpr std::pair<std::uint32_t, const char*> kPlainTypes[] = {
    {0, "F32"}, {1, "F16"}, {24, "I8"}, {25, "I16"}, {26, "I32"}, {27, "I64"}, {28, "F64"}, {30, "BF16"},
};

std::string dtype_of_type(std::uint32_t type) {
  for (const auto& [number, name] : kPlainTypes)
    if (number == type) return name;
  const BlockFormat* blocks = block_format(type);
  return blocks ? std::string(blocks->name) : "";
}

}  // namespace

/// Reads the header from its first byte to its last.
class GgufFile::Reader {
 public:
  explicit Reader(GgufFile& file) : file_(file) {}

  void read() {
    if (!recognises(file_.bytes_)) broken("does not begin with \"GGUF\"");
    take(kMagicOfGguf.size());
    const auto version = number<std::uint32_t>();
    if (version != 2 && version != 3) broken("has the version ", version, ", expected 2 or 3");
    const auto tensors = number<std::uint64_t>(), keys = number<std::uint64_t>();
    for (std::uint64_t i = 0; i < keys; ++i) {
      std::string key = text();
      const auto code = number<Code>();
      if (!file_.metadata_.add(key, value(key, code))) broken("has the key ", in_quotes(key), " twice");
    }
    read_tensors(tensors);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void broken(const Parts&... parts) const {
    fail<InputError>("load", file_.name_, ": the GGUF file ", parts...);
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > file_.bytes_.size() - at_)
      broken("ends inside its header, at byte ", grouped(file_.bytes_.size()), "; is the download complete?");
    const std::span<const std::byte> bytes = file_.bytes_.subspan(at_, count);
    at_ += count;
    return bytes;
  }
  template <typename T>
  T number() {
    T result;
    std::memcpy(&result, take(sizeof result).data(), sizeof result);
    return result;
  }
  std::string text() {
    const std::span<const std::byte> bytes = take(number<std::uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::int64_t large_number(const std::string& key) {
    const auto result = number<std::uint64_t>();
    if (result > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      broken("has an integer that is too large, for the key ", in_quotes(key));
    return static_cast<std::int64_t>(result);
  }
  std::int64_t integer(const std::string& key, Code code) {
    switch (code) {
      case Code::u8:
      case Code::boolean:
        return number<std::uint8_t>();
      case Code::i8:
        return number<std::int8_t>();
      case Code::u16:
        return number<std::uint16_t>();
      case Code::i16:
        return number<std::int16_t>();
      case Code::u32:
        return number<std::uint32_t>();
      case Code::i32:
        return number<std::int32_t>();
      case Code::i64:
        return number<std::int64_t>();
      default:
        return large_number(key);
    }
  }

  GgufMetadata::Value value(const std::string& key, Code code) {
    switch (code) {
      case Code::f32:
        return double{number<float>()};
      case Code::f64:
        return number<double>();
      case Code::boolean:
        return number<std::uint8_t>() != 0;
      case Code::string:
        return text();
      case Code::array:
        return list(key);
      default:
        if (code > Code::f64) broken("has a value of unknown type for the key ", in_quotes(key));
        return integer(key, code);
    }
  }

  /// Each element takes at least a byte of the file, so memory grows with the file and not with the stated size.
  GgufMetadata::Value list(const std::string& key) {
    const auto code = number<Code>();
    const auto size = number<std::uint64_t>();
    if (code == Code::array || code > Code::f64)
      broken("has a list of an unsupported type for the key ", in_quotes(key));
    if (size > file_.bytes_.size() - at_)
      broken("ends inside the list ", in_quotes(key), "; is the download complete?");
    if (code == Code::string) {
      std::vector<std::string> all;
      for (std::uint64_t i = 0; i < size; ++i) all.push_back(text());
      return all;
    }
    if (code == Code::f32 || code == Code::f64) {
      std::vector<double> all;
      for (std::uint64_t i = 0; i < size; ++i)
        all.push_back(code == Code::f32 ? double{number<float>()} : number<double>());
      return all;
    }
    std::vector<std::int64_t> all;
    for (std::uint64_t i = 0; i < size; ++i) all.push_back(integer(key, code));
    return all;
  }

  struct Description {
    std::string name;
    Entry entry;
    std::uint64_t offset;
  };

  Description description() {
    Description tensor{.name = text(), .entry = {}, .offset = 0};
    const auto rank = number<std::uint32_t>();
    if (rank > kMaxRank) broken("gives tensor ", in_quotes(tensor.name), " ", rank, " dimensions");
    for (std::uint32_t i = 0; i < rank; ++i)
      tensor.entry.shape.insert(tensor.entry.shape.begin(), large_number(tensor.name));
    const auto type = number<std::uint32_t>();
    tensor.entry.dtype = dtype_of_type(type);
    if (tensor.entry.dtype.empty())
      broken("stores tensor ", in_quotes(tensor.name), " in the format with number ", type,
             ", which is not supported: expected F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K");
    tensor.offset = number<std::uint64_t>();
    return tensor;
  }

  void read_tensors(std::uint64_t count) {
    std::vector<Description> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(description());

    const std::int64_t alignment = file_.metadata_.integer(kAlignmentKey, 32);
    if (alignment < 1 || alignment > 1 << 20 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      broken("has the ", kAlignmentKey, " ", alignment, ", expected a power of two");
    const auto unit = static_cast<std::uint64_t>(alignment);
    const std::uint64_t size = file_.bytes_.size(), data = std::min(size, (at_ + unit - 1) / unit * unit);
    for (Description& tensor : all) {
      const auto bytes = stored_bytes(tensor.entry.dtype, tensor.entry.shape);
      if (!bytes)
        broken("has tensor ", in_quotes(tensor.name), " of an impossible shape: ", shape_text(tensor.entry.shape),
               " of ", tensor.entry.dtype);
      if (tensor.offset % unit != 0)
        broken("has tensor ", in_quotes(tensor.name), " at offset ", grouped(tensor.offset),
               ", which is no multiple of its alignment, ", unit);
      if (tensor.offset > size - data || *bytes > size - data - tensor.offset)
        broken("has tensor ", in_quotes(tensor.name), " of ", grouped(*bytes), " bytes at offset ",
               grouped(tensor.offset), ", beyond its ", grouped(size), " bytes; is the download complete?");
      tensor.entry.bytes = file_.bytes_.subspan(data + tensor.offset, *bytes);
      if (!file_.entries_.emplace(tensor.name, std::move(tensor.entry)).second)
        broken("has tensor ", in_quotes(tensor.name), " twice");
    }
  }

  GgufFile& file_;
  std::uint64_t at_ = 0;
};

GgufFile::GgufFile(const std::filesystem::path& path) : TensorFile(path), metadata_(path.string()) {
  Reader(*this).read();
}

GgufFile::GgufFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : TensorFile(name, bytes, std::move(owner)), metadata_(std::move(name)) {
  Reader(*this).read();
}

bool GgufFile::recognises(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagicOfGguf.size() &&
         std::memcmp(bytes.data(), kMagicOfGguf.data(), kMagicOfGguf.size()) == 0;
}

const GgufMetadata::Value* GgufMetadata::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void GgufMetadata::wrong_type(std::string_view key, const char* expected) const {
  fail<InputError>("load", file_, ": the key ", in_quotes(key), " has the wrong type, expected ", expected);
}

void GgufMetadata::missing(std::string_view key) const {
  fail<InputError>("load", file_, ": has no key ", in_quotes(key));
}

std::int64_t GgufMetadata::integer(std::string_view key, std::optional<std::int64_t> fallback) const {
  const Value* value = find(key);
  if (!value) return fallback ? *fallback : (missing(key), 0);
  if (const auto* integer = std::get_if<std::int64_t>(value)) return *integer;
  wrong_type(key, "an integer");
}

double GgufMetadata::number(std::string_view key, std::optional<double> fallback) const {
  const Value* value = find(key);
  if (!value) return fallback ? *fallback : (missing(key), 0);
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return static_cast<double>(*integer);
  wrong_type(key, "a number");
}

bool GgufMetadata::flag(std::string_view key, std::optional<bool> fallback) const {
  const Value* value = find(key);
  if (!value) return fallback ? *fallback : (missing(key), false);
  if (const auto* flag = std::get_if<bool>(value)) return *flag;
  wrong_type(key, "true or false");
}

std::string GgufMetadata::text(std::string_view key, const std::optional<std::string>& fallback) const {
  const Value* value = find(key);
  if (!value) return fallback ? *fallback : (missing(key), "");
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  wrong_type(key, "a text");
}

const std::vector<std::string>& GgufMetadata::texts(std::string_view key) const {
  static const std::vector<std::string> none;
  const Value* value = find(key);
  if (!value) return none;
  if (const auto* texts = std::get_if<std::vector<std::string>>(value)) return *texts;
  wrong_type(key, "a list of texts");
}

std::vector<std::int64_t> GgufMetadata::integers(std::string_view key) const {
  const Value* value = find(key);
  if (!value) return {};
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(value)) return *integers;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return {*integer};
  wrong_type(key, "a list of integers");
}

const std::vector<double>& GgufMetadata::numbers(std::string_view key) const {
  static const std::vector<double> none;
  const Value* value = find(key);
  if (!value) return none;
  if (const auto* numbers = std::get_if<std::vector<double>>(value)) return *numbers;
  wrong_type(key, "a list of numbers");
}

}  // namespace attend
