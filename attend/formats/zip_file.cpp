#include "attend/formats/zip_file.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "attend/core/error.h"
#include "attend/formats/stored_tensor.h"

namespace attend {
namespace {

using Bytes = std::span<const std::byte>;

// See PKWARE's APPNOTE.TXT, sections 4.3 and 4.5. All numbers are little-endian and may be misaligned.
constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::size_t kMaxComment = 0xFFFF;
constexpr std::uint32_t kElsewhere = 0xFFFFFFFF;  // the 64-bit number is in the extra field

template <typename T>
T number_at(Bytes bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Directory {
  std::uint64_t offset = 0, size = 0;
};

class ZipReader {
 public:
  ZipReader(const std::string& file, Bytes bytes) : file_(file), bytes_(bytes) {}

  Directory directory() const {
    const std::size_t end = find_end();
    Directory result{number_at<std::uint32_t>(bytes_, end + 16), number_at<std::uint32_t>(bytes_, end + 12)};
    if (end >= kLocator64Size && number_at<std::uint32_t>(bytes_, end - kLocator64Size) == kLocator64) {
      const auto at = number_at<std::uint64_t>(bytes_, end - kLocator64Size + 8);
      const Bytes record = part(at, kEnd64Size, "the directory's end");
      if (number_at<std::uint32_t>(record, 0) != kEnd64) damaged("the end of the directory has the wrong signature");
      result = {number_at<std::uint64_t>(record, 48), number_at<std::uint64_t>(record, 40)};
    }
    return result;
  }

  /// The data of an entry. They follow the local header, which contains its own length.
  Bytes data(std::uint64_t header, std::uint64_t size, std::string_view name) const {
    const Bytes local = part(header, kLocalSize, name);
    if (number_at<std::uint32_t>(local, 0) != kLocal)
      damaged("entry " + in_quotes(name) + " is not at the offset of the directory");
    const std::uint64_t skip = kLocalSize + number_at<std::uint16_t>(local, 26) + number_at<std::uint16_t>(local, 28);
    return part(header + skip, size, name);
  }

  Bytes part(std::uint64_t begin, std::uint64_t size, std::string_view what) const {
    if (begin > bytes_.size() || size > bytes_.size() - begin)
      fail<InputError>("load", file_, ": ", in_quotes(what), " has ", grouped(size), " bytes from byte ",
                       grouped(begin), " on, but the file has ", grouped(bytes_.size()), "; is the download complete?");
    return bytes_.subspan(begin, size);
  }

  [[noreturn]] void damaged(const std::string& how) const {
    fail<InputError>("load", file_, ": the zip archive is corrupt: ", how);
  }

 private:
  /// Finds the last record of the file. Only a comment may follow it.
  std::size_t find_end() const {
    for (std::size_t back = kEndSize; back <= bytes_.size() && back <= kEndSize + kMaxComment; ++back) {
      const std::size_t at = bytes_.size() - back;
      if (number_at<std::uint32_t>(bytes_, at) == kEnd && number_at<std::uint16_t>(bytes_, at + 20) == back - kEndSize)
        return at;
    }
    fail<InputError>("load", file_, ": the zip archive has no directory at the end; is the download complete?");
  }

  const std::string& file_;
  Bytes bytes_;
};

/// Replaces numbers that are kElsewhere with the 64-bit numbers of the extra field, which are in a fixed order.
bool read_extra(Bytes extra, std::initializer_list<std::uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const auto id = number_at<std::uint16_t>(extra, 0);
    const std::size_t size = number_at<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    Bytes field = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
    if (id != 1) continue;
    for (std::uint64_t* number : numbers) {
      if (*number != kElsewhere) continue;
      if (field.size() < 8) return false;
      *number = number_at<std::uint64_t>(field, 0);
      field = field.subspan(8);
    }
  }
  return true;
}

}  // namespace

std::map<std::string, Bytes, std::less<>> zip_entries(const std::string& file, Bytes bytes) {
  const ZipReader reader(file, bytes);
  const Directory place = reader.directory();
  Bytes directory = reader.part(place.offset, place.size, "the directory");
  std::map<std::string, Bytes, std::less<>> entries;
  while (!directory.empty()) {
    if (directory.size() < kCentralSize || number_at<std::uint32_t>(directory, 0) != kCentral)
      reader.damaged("its directory ends too early");
    const auto flags = number_at<std::uint16_t>(directory, 8), method = number_at<std::uint16_t>(directory, 10);
    std::uint64_t packed = number_at<std::uint32_t>(directory, 20), size = number_at<std::uint32_t>(directory, 24);
    const std::size_t name_size = number_at<std::uint16_t>(directory, 28),
                      extra_size = number_at<std::uint16_t>(directory, 30),
                      comment_size = number_at<std::uint16_t>(directory, 32);
    std::uint64_t header = number_at<std::uint32_t>(directory, 42);
    directory = directory.subspan(kCentralSize);
    if (name_size + extra_size + comment_size > directory.size()) reader.damaged("its directory ends too early");
    std::string name(reinterpret_cast<const char*>(directory.data()), name_size);
    if (!read_extra(directory.subspan(name_size, extra_size), {&size, &packed, &header}))
      reader.damaged("entry " + in_quotes(name) + " has an extra field that ends too early");
    directory = directory.subspan(name_size + extra_size + comment_size);

    if (method != 0 || (flags & 1) != 0 || packed != size)
      fail<InputError>("load", file, ": entry ", in_quotes(name),
                       " of the zip archive is compressed or encrypted, expected it to be stored without compression");
    const Bytes data = reader.data(header, size, name);
    if (!entries.emplace(name, data).second) reader.damaged("it has " + in_quotes(name) + " twice");
  }
  return entries;
}

}  // namespace attend
