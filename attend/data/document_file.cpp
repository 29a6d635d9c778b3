#include "attend/data/document_file.h"

#include <bit>
#include <cstring>
#include <fstream>

#include "attend/core/error.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are read as they lie in memory");

constexpr std::size_t kBufferBytes = 1 << 20;

struct Trailer {
  std::uint64_t elements = 0, documents = 0;
  std::uint64_t mark = 0;
};
static_assert(sizeof(Trailer) == 24);

template <typename T>
T read_as(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

bool has_mark(const std::filesystem::path& path, std::uint64_t mark) {
  std::uint64_t found = ~mark;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&found), sizeof found);
  return found == mark;
}

DocumentFile::DocumentFile(const std::filesystem::path& path, std::uint64_t mark, const char* kind)
    : name_(path.string()) {
  MappedFile file = map_file(path);
  bytes_ = file.bytes;
  owner_ = std::move(file.owner);
  open(mark, kind);
}

DocumentFile::DocumentFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           std::uint64_t mark, const char* kind)
    : name_(std::move(name)), bytes_(bytes), owner_(std::move(owner)) {
  open(mark, kind);
}

void DocumentFile::open(std::uint64_t mark, const char* kind) {
  constexpr std::uint64_t kFrame = sizeof(DocumentFileHeader) + sizeof(Trailer);
  if (bytes_.size() < sizeof mark || read_as<std::uint64_t>(bytes_.data()) != mark)
    fail<InputError>("load", name_, ": is not a ", kind, ", or one of another version");
  if (bytes_.size() < kFrame + sizeof(std::uint64_t))
    fail<InputError>("load", name_, ": ", bytes_.size(), " bytes are too few for a ", kind, "; was the file cut?");
  header_ = read_as<DocumentFileHeader>(bytes_.data());
  const auto trailer = read_as<Trailer>(bytes_.data() + bytes_.size() - sizeof(Trailer));
  if (trailer.mark != ~mark)
    fail<InputError>("load", name_, ": the end of the ", kind, " is missing; was the file cut?");

  const std::uint64_t inside = bytes_.size() - kFrame, size = header_.element_bytes;
  // The counts are compared with the size before they are multiplied, so that nothing overflows.
  if (size == 0 || trailer.elements > inside / size || trailer.documents >= inside / sizeof(std::uint64_t) ||
      padded(trailer.elements * size) + (trailer.documents + 1) * sizeof(std::uint64_t) != inside)
    fail<InputError>("load", name_, ": ", trailer.elements, " elements of ", size, " bytes in ", trailer.documents,
                     " documents do not fit a file of ", bytes_.size(), " bytes");
  elements_ = static_cast<std::int64_t>(trailer.elements);
  documents_ = static_cast<std::int64_t>(trailer.documents);
  data_ = bytes_.data() + sizeof(DocumentFileHeader);
  begins_ = data_ + padded(trailer.elements * size);

  std::uint64_t before = 0;
  for (std::int64_t d = 0; d <= documents_; ++d) {
    const auto begin = read_as<std::uint64_t>(begins_ + static_cast<std::size_t>(d) * sizeof(std::uint64_t));
    if (begin < before || begin > trailer.elements || (d == 0 && begin != 0) ||
        (d == documents_ && begin != trailer.elements))
      fail<InputError>("load", name_, ": document ", d, " begins at element ", begin, ", expected ", before, " to ",
                       trailer.elements, "; the file is damaged");
    before = begin;
  }
}

ElementRange DocumentFile::document(std::int64_t d) const {
  if (d < 0 || d >= documents_)
    fail("document_file", name_, ": there is no document ", d, ": expected 0 to ", documents_ - 1);
  const std::byte* at = begins_ + static_cast<std::size_t>(d) * sizeof(std::uint64_t);
  return {static_cast<std::int64_t>(read_as<std::uint64_t>(at)),
          static_cast<std::int64_t>(read_as<std::uint64_t>(at + sizeof(std::uint64_t)))};
}

DocumentFileWriter::DocumentFileWriter(std::filesystem::path path, const DocumentFileHeader& header)
    : file_(std::move(path)), header_(header) {
  const DocumentFileHeader none;  // commit() writes the real one
  file_.write(std::as_bytes(std::span(&none, 1)));
}

void DocumentFileWriter::add(std::span<const std::byte> elements) {
  buffer_.insert(buffer_.end(), elements.begin(), elements.end());
  elements_ += elements.size() / header_.element_bytes;
  if (buffer_.size() >= kBufferBytes) flush();
}

void DocumentFileWriter::commit() {
  if (begins_.back() != elements_) end_document();
  flush();
  const std::uint64_t bytes = elements_ * header_.element_bytes;
  buffer_.resize(static_cast<std::size_t>(padded(bytes) - bytes));
  flush();
  file_.write(std::as_bytes(std::span(begins_)));
  const Trailer trailer{.elements = elements_, .documents = begins_.size() - 1, .mark = ~header_.mark};
  file_.write(std::as_bytes(std::span(&trailer, 1)));
  file_.write_at(0, {reinterpret_cast<const char*>(&header_), sizeof header_});
  file_.commit();
}

void DocumentFileWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

}  // namespace attend
