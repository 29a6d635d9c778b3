#include "attend/formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/formats/stored_tensor.h"

namespace attend {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr const char* kMetadata = "__metadata__";

/// The description of a tensor in the header.
struct Description {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // byte range, relative to the end of the header
};
using Descriptions = std::map<std::string, Description, std::less<>>;

/// Checks that the tensors fit into the file, and that every byte of it belongs to one tensor.
void check_layout(const std::string& file, const Descriptions& tensors, std::uint64_t data, std::uint64_t header) {
  using NamedEntry = Descriptions::value_type;
  std::vector<const NamedEntry*> order;
  for (const NamedEntry& named : tensors) {
    const Description& entry = named.second;
    if (entry.begin > entry.end)
      fail<InputError>("load", file, ": tensor ", in_quotes(named.first), " ends before it begins: data_offsets [",
                       grouped(entry.begin), ", ", grouped(entry.end), "]");
    if (entry.end > data) {
      std::uint64_t end = 0;  // position in the file, unless it overflows
      const bool huge = __builtin_add_overflow(header, entry.end, &end);
      fail<InputError>("load", file, ": tensor ", in_quotes(named.first), " ends at byte ",
                       grouped(huge ? entry.end : end), ", but the file has ", grouped(header + data),
                       "; is the download complete?");
    }
    const std::optional<std::uint64_t> needed = stored_bytes(entry.dtype, entry.shape);
    if (!needed)
      fail<InputError>("load", file, ": tensor ", in_quotes(named.first),
                       " has an impossible shape: ", shape_text(entry.shape));
    if (*needed != entry.end - entry.begin)
      fail<InputError>("load", file, ": tensor ", in_quotes(named.first), " has ", grouped(entry.end - entry.begin),
                       " bytes, but shape ", shape_text(entry.shape), " of ", entry.dtype, " needs ", grouped(*needed));
    order.push_back(&named);
  }

  // The format requires that every byte belongs to exactly one tensor.
  std::ranges::sort(order, {},
                    [](const NamedEntry* named) { return std::pair(named->second.begin, named->second.end); });
  std::uint64_t covered = 0;
  const std::string* previous = nullptr;
  for (const NamedEntry* named : order) {
    if (named->second.begin < covered)
      fail<InputError>("load", file, ": tensors ", in_quotes(*previous), " and ", in_quotes(named->first), " overlap");
    if (named->second.begin > covered)
      fail<InputError>("load", file, ": ", grouped(named->second.begin - covered), " bytes before tensor ",
                       in_quotes(named->first), " belong to no tensor");
    covered = named->second.end;
    previous = &named->first;
  }
  if (covered != data)
    fail<InputError>("load", file, ": ", grouped(data - covered), " bytes at the end belong to no tensor");
}

}  // namespace

/// Reads the header with a streaming parser, which stops at the first value that is not expected. So a header with
/// thousands of nested brackets is harmless, and duplicate names are detected.
class SafetensorsFile::HeaderReader final : public nlohmann::json_sax<json> {
 public:
  HeaderReader(const std::string& file, Descriptions& tensors, SafetensorsMetadata& metadata)
      : file_(file), tensors_(tensors), metadata_(metadata) {}

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) return enter(Place::file);
    if (place_ == Place::file) return enter(name_ == kMetadata ? Place::metadata : Place::tensor);
    wrong("an object");
  }
  bool end_object() override {
    if (place_ == Place::file) return enter(Place::outside);
    if (place_ == Place::tensor) finish_tensor();
    return enter(Place::file);
  }
  bool start_array(std::size_t) override {
    if (place_ == Place::tensor && key_ == "shape") return enter(Place::shape);
    if (place_ == Place::tensor && key_ == "data_offsets") return enter(Place::offsets);
    wrong("a list");
  }
  bool end_array() override { return enter(Place::tensor); }

  bool key(std::string& text) override {
    if (place_ == Place::file) {
      name_ = std::move(text);
      const bool is_new = name_ == kMetadata ? !std::exchange(saw_metadata_, true) : !tensors_.contains(name_);
      if (!is_new) fail<InputError>("load", file_, ": the header has ", in_quotes(name_), " twice");
      return true;
    }
    key_ = std::move(text);
    if (place_ == Place::metadata) {
      if (metadata_.contains(key_)) fail<InputError>("load", file_, ": the metadata has ", in_quotes(key_), " twice");
      return true;
    }
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
      fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has the key ", in_quotes(key_),
                       ", expected dtype, shape and data_offsets");
    if (!seen_.insert(key_).second)
      fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has ", key_, " twice");
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::metadata) {
      metadata_.emplace(key_, std::move(text));
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") wrong("a string");
    if (stored_size(text) == 0)
      fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has the unknown dtype ", in_quotes(text));
    tensor_.dtype = std::move(text);
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (place_ == Place::offsets) {
      if (offsets_++ == 2)
        fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has more than two data_offsets");
      (offsets_ == 1 ? tensor_.begin : tensor_.end) = number;
      return true;
    }
    if (place_ != Place::shape) wrong("a number");
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
        tensor_.shape.size() == kMaxRank)
      fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has an impossible shape: size ", grouped(number),
                       " in dimension ", tensor_.shape.size());
    tensor_.shape.push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool number_integer(std::int64_t number) override {
    if (place_ != Place::offsets && place_ != Place::shape) wrong("a number");
    fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has a negative number in its ", key_, ": ",
                     number);
  }
  bool number_float(double, const std::string&) override { wrong("a floating-point number"); }
  bool boolean(bool) override { wrong("a boolean"); }
  bool null() override {
    if (place_ == Place::file && name_ == kMetadata) return true;
    wrong("null");
  }
  bool binary(json::binary_t&) override { wrong("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // Removes the internal error id in brackets from the message of the parser.
    std::string_view why = error.what();
    if (const auto end = why.find("] "); end != why.npos) why.remove_prefix(end + 2);
    fail<InputError>("load", file_, ": the header is not valid JSON, at byte ", grouped(position), ": ", why);
  }

 private:
  enum class Place { outside, file, metadata, tensor, shape, offsets };
  bool enter(Place place) {
    place_ = place;
    return true;
  }

  [[noreturn]] void wrong(const char* got) const {
    switch (place_) {
      case Place::outside:
        fail<InputError>("load", file_, ": the header is ", got, ", expected an object that names the tensors");
      case Place::file:
        fail<InputError>("load", file_, ": ", in_quotes(name_), " is ", got, ", expected an object");
      case Place::metadata:
        fail<InputError>("load", file_, ": the metadata's ", in_quotes(key_), " is ", got, ", expected a string");
      case Place::tensor:
        fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has ", got, " as its ", key_, ", expected ",
                         key_ == "dtype" ? "a string" : "a list of numbers");
      default:
        fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has ", got, " in its ", key_,
                         ", expected numbers");
    }
  }

  void finish_tensor() {
    for (const char* needed : {"dtype", "shape", "data_offsets"})
      if (!seen_.contains(needed)) fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has no ", needed);
    if (offsets_ != 2)
      fail<InputError>("load", file_, ": tensor ", in_quotes(name_), " has ", offsets_, " data_offsets, expected 2");
    tensors_.emplace(std::move(name_), std::exchange(tensor_, {}));
    seen_.clear();
    offsets_ = 0;
  }

  const std::string& file_;
  Descriptions& tensors_;
  SafetensorsMetadata& metadata_;
  Place place_ = Place::outside;
  bool saw_metadata_ = false;
  std::string name_, key_;
  std::set<std::string> seen_;  // keys of the current tensor
  Description tensor_;
  int offsets_ = 0;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : TensorFile(path) { read_header(); }

SafetensorsFile::SafetensorsFile(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : TensorFile(std::move(name), bytes, std::move(owner)) {
  read_header();
}

void SafetensorsFile::read_header() {
  if (bytes_.empty()) fail<InputError>("load", name_, ": the file is empty; is the download complete?");
  if (bytes_.size() < 8)
    fail<InputError>("load", name_, ": ", bytes_.size(), " bytes, too short for a safetensors file");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes_.data(), sizeof length);
  if (length > kMaxHeader)
    fail<InputError>("load", name_, ": the header has ", grouped(length), " bytes, expected at most ",
                     grouped(kMaxHeader), "; is it another kind of file?");
  if (length > bytes_.size() - 8)
    fail<InputError>("load", name_, ": the header ends at byte ", grouped(8 + length), ", but the file has ",
                     grouped(bytes_.size()), "; is the download complete?");
  const auto* header = reinterpret_cast<const char*>(bytes_.data() + 8);
  const std::span<const std::byte> data = bytes_.subspan(8 + length);

  Descriptions tensors;
  HeaderReader reader(name_, tensors, metadata_);
  json::sax_parse(header, header + length, &reader);
  check_layout(name_, tensors, data.size(), 8 + length);
  for (auto& [name, tensor] : tensors)
    entries_.emplace(name, Entry{std::move(tensor.dtype), std::move(tensor.shape),
                                 data.subspan(tensor.begin, tensor.end - tensor.begin)});
}

void save_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                      const SafetensorsMetadata& metadata) {
  std::vector<const NamedTensor*> order;
  std::set<std::string_view> names;
  for (const NamedTensor& named : tensors) {
    if (!named.tensor.defined()) fail("save", path.string(), ": tensor ", in_quotes(named.name), " is undefined");
    if (named.name == kMetadata || !names.insert(named.name).second)
      fail("save", path.string(), ": duplicate name ", in_quotes(named.name));
    order.push_back(&named);
  }
  std::ranges::stable_sort(order, std::greater{},
                           [](const NamedTensor* named) { return size_of(named->tensor.dtype()); });

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor* named : order) {
    const Tensor& x = named->tensor;
    header[named->name] = {{"dtype", stored_name(x.dtype())},
                           {"shape", std::vector<std::int64_t>(x.shape().begin(), x.shape().end())},
                           {"data_offsets", {offset, offset + x.bytes()}}};
    offset += x.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail("save", path.string(), ": a name or the metadata is not valid UTF-8");
  }
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');

  AtomicFile file(path);
  const std::uint64_t length = text.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(text);
  for (const NamedTensor* named : order) file.write({named->tensor.raw(), named->tensor.bytes()});
  file.commit();
}

}  // namespace attend
