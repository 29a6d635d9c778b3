#include "attend/formats/npy.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

/// The value of a key in the header, which is a Python dict. It ends at the next comma or bracket.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = std::string("'").append(key).append("'");
  std::size_t at = header.find(quoted);
  if (at == header.npos || (at = header.find(':', at)) == header.npos) return {};
  at = header.find_first_not_of(' ', at + 1);
  if (at == header.npos) return {};
  const std::size_t end = header[at] == '(' ? header.find(')', at) : header.find_first_of(",}", at);
  return end == header.npos ? std::string_view() : header.substr(at, end - at);
}

}  // namespace

std::string npy_header(std::int64_t rows, std::int64_t cols) {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                     std::to_string(cols) + "), }";
  const auto length = static_cast<std::size_t>(kNpyHeader) - kMagic.size() -
                      4;  // minus the version (1.0) and the length, two bytes each
  text.resize(length - 1, ' ');
  std::string header(kMagic);
  header.append({'\1', '\0', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)});
  return header + text + '\n';
}

Tensor read_npy(const std::filesystem::path& path) {
  const MappedFile file = map_file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const auto refuse = [&](const std::string& what) { fail<InputError>("load", path.string(), ": ", what); };
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) refuse("is not a .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  // The length of the header has two bytes in version 1, and four in later versions.
  const std::size_t begin = byte(6) == 1 ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8 | (begin == 12 ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > bytes.size() - begin) refuse("its header is truncated");
  const std::string_view header = bytes.substr(begin, length);
  if (const std::string_view type = value_of(header, "descr"); type != "'<f4'")
    refuse("contains " + std::string(type) + ", expected '<f4', which is float32");
  if (value_of(header, "fortran_order") != "False") refuse("is in Fortran order, expected C order");

  const std::string_view shape = value_of(header, "shape");
  std::int64_t sizes[2] = {};
  const char *at = shape.data() + 1, *end = shape.data() + shape.size();
  for (std::int64_t& size : sizes) {
    if (!shape.starts_with('(')) break;
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) refuse("its shape is " + std::string(shape) + "), expected (rows, columns)");
    at = next;
  }
  while (at < end && (*at == ' ' || *at == ',')) ++at;
  if (!shape.starts_with('(') || at != end)
    refuse("its shape is " + std::string(shape) + "), expected (rows, columns)");
  const std::span<const std::byte> data = std::span(file.bytes).subspan(begin + length);
  const auto [rows, cols] = sizes;
  if (cols > 0 && rows > std::numeric_limits<std::int64_t>::max() / 4 / cols) refuse("its shape is too large");
  if (const auto expected = static_cast<std::size_t>(rows * cols) * sizeof(float); data.size() != expected)
    refuse("has " + std::to_string(data.size()) + " bytes of numbers, expected " + std::to_string(expected) +
           "; is it complete?");
  if (reinterpret_cast<std::uintptr_t>(data.data()) % alignof(float) != 0) {  // the writer did not align the data
    Tensor copy = Tensor::empty({rows, cols});
    std::memcpy(copy.raw(), data.data(), data.size());
    return copy;
  }
  return Tensor::borrow(data.data(), {rows, cols}, DType::f32, file.owner);
}

}  // namespace attend
