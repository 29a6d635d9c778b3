#include "attend/formats/torch_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "attend/core/error.h"
#include "attend/formats/pickle.h"
#include "attend/formats/stored_tensor.h"
#include "attend/formats/zip_file.h"

namespace attend {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleNode::Kind;

constexpr std::string_view kZip = "PK\3\4";
/// The magic number of the old format, as it appears in the first pickle.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::size_t kMagicWithin = 32;

constexpr std::pair<std::string_view, const char*> kStorages[] = {
    {"FloatStorage", "F32"}, {"HalfStorage", "F16"},  {"BFloat16Storage", "BF16"},    {"DoubleStorage", "F64"},
    {"LongStorage", "I64"},  {"IntStorage", "I32"},   {"ShortStorage", "I16"},        {"CharStorage", "I8"},
    {"ByteStorage", "U8"},   {"BoolStorage", "BOOL"}, {"ComplexFloatStorage", "C64"},
};

/// The dtype of torch.FloatStorage and similar classes, or nullptr.
const char* storage_dtype(const PickleGlobal& global) {
  for (const auto& [name, dtype] : kStorages)
    if (global.is("torch", name)) return dtype;
  return nullptr;
}

bool is_ordered_dict(const PickleGlobal& global) { return global.is("collections", "OrderedDict"); }
bool is_parameter(const PickleGlobal& global) { return global.is("torch._utils", "_rebuild_parameter"); }
bool is_tensor(const PickleGlobal& global) {
  return global.is("torch._utils", "_rebuild_tensor_v2") || global.is("torch._utils", "_rebuild_tensor");
}
bool is_needed(const PickleGlobal& global) {
  return storage_dtype(global) || is_ordered_dict(global) || is_parameter(global) || is_tensor(global);
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

const PickleNode* node_of(const PickleValue& value, Kind kind) {
  const auto* node = std::get_if<const PickleNode*>(&value);
  return node && (*node)->kind == kind ? *node : nullptr;
}

/// The arguments of a call of a function for which is() returns true, or nullptr.
const std::vector<PickleValue>* arguments_of(const PickleValue& value, bool (*is)(const PickleGlobal&)) {
  const PickleNode* call = node_of(value, Kind::call);
  return call && is(call->function) ? &std::get<const PickleNode*>(call->items[0])->items : nullptr;
}

}  // namespace

/// Converts the contents of the pickle to entries.
class TorchFile::Reader {
 public:
  explicit Reader(TorchFile& file) : file_(file) {}

  void read_zip() {
    const auto archive = zip_entries(file_.name_, file_.bytes_);
    std::string folder;  // all files are in one folder, of any name
    for (const auto& [name, bytes] : archive)
      if (name.ends_with("/data.pkl") && std::ranges::count(name, '/') == 1)
        folder = name.substr(0, name.find('/') + 1);
    if (folder.empty())
      fail<InputError>("load", file_.name_,
                       ": is a zip archive without data.pkl, expected a file written by torch.save()");
    if (archive.contains(folder + "constants.pkl"))
      fail<InputError>("load", file_.name_,
                       ": is a TorchScript program, expected a dictionary of tensors: save model.state_dict()");
    if (const auto order = archive.find(folder + "byteorder"); order != archive.end()) {
      const std::string_view text = text_of(order->second);
      if (text != "little" && text != "big")
        fail<InputError>("load", file_.name_, ": the byteorder is ", in_quotes(text), ", expected little or big");
      file_.big_endian_ = text == "big";
    }
    const Pickle pickle(file_.name_, archive.find(folder + "data.pkl")->second, is_needed);
    for (const PickleNode* id : pickle.persistent()) {
      Claim claim = claim_of(*id);
      const auto found = archive.find(folder + "data/" + std::string(claim.key));
      if (found == archive.end())
        fail<InputError>("load", file_.name_, ": storage ", in_quotes(claim.key),
                         " is not in the archive; is the download complete?");
      if (found->second.size() < claim.bytes)
        fail<InputError>("load", file_.name_, ": storage ", in_quotes(claim.key), " has ",
                         grouped(found->second.size()), " bytes, but ", grouped(claim.bytes), " are needed");
      storages_.emplace(id, Storage{claim.dtype, found->second.first(claim.bytes)});
    }
    read_dictionary(pickle.value());
  }

  /// Reads the old format: pickles with the magic number, the version, the machine, the dictionary and the keys of the
  /// storages, and then the storages.
  void read_old() {
    const std::string_view whole = text_of(file_.bytes_);
    Bytes rest = file_.bytes_.subspan(whole.find(kMagic) + kMagic.size());
    const auto next = [&] {
      auto pickle = std::make_unique<Pickle>(file_.name_, rest, is_needed);
      rest = rest.subspan(pickle->size());
      return pickle;
    };
    if (rest.empty() || rest[0] != std::byte{'.'}) damaged("the magic number is incomplete");
    rest = rest.subspan(1);
    next(), next();  // version and machine
    const auto dictionary = next(), keys = next();
    std::map<std::string_view, Claim> claims;
    for (const PickleNode* id : dictionary->persistent()) {
      const Claim claim = claim_of(*id);
      const Claim& first = claims.emplace(claim.key, claim).first->second;
      if (first.dtype != claim.dtype || first.bytes != claim.bytes)
        damaged("storage " + in_quotes(claim.key) + " has two different descriptions");
    }
    const PickleNode* list = node_of(keys->value(), Kind::list);
    if (!list) damaged("there is no list of storages");
    std::map<std::string_view, Bytes> data;
    for (const PickleValue& value : list->items) {
      const auto* key = std::get_if<std::string_view>(&value);
      const auto claim = key ? claims.find(*key) : claims.end();
      if (claim == claims.end()) damaged("the list of storages contains one that no tensor uses");
      std::uint64_t count = 0;
      if (rest.size() < sizeof count || rest.size() - sizeof count < claim->second.bytes)
        fail<InputError>("load", file_.name_, ": storage ", in_quotes(*key), " has ", grouped(claim->second.bytes),
                         " bytes, but only ", grouped(rest.size()), " are left in the file; is the download complete?");
      std::memcpy(&count, rest.data(), sizeof count);
      if (count != claim->second.bytes / stored_size(claim->second.dtype))
        damaged("the size of storage " + in_quotes(*key) + " does not match its description");
      data[*key] = rest.subspan(sizeof count, claim->second.bytes);
      rest = rest.subspan(sizeof count + claim->second.bytes);
    }
    for (const PickleNode* id : dictionary->persistent()) {
      const Claim claim = claim_of(*id);
      const auto found = data.find(claim.key);
      if (found == data.end()) damaged("storage " + in_quotes(claim.key) + " is not in the list of storages");
      storages_.emplace(id, Storage{claim.dtype, found->second});
    }
    read_dictionary(dictionary->value());
  }

 private:
  struct Storage {
    std::string dtype;  // safetensors name
    Bytes bytes;
  };
  /// The contents of a persistent id: ("storage", torch.FloatStorage, key, device, elements).
  struct Claim {
    std::string_view key;
    std::string dtype;
    std::uint64_t bytes = 0;
  };

  [[noreturn]] void damaged(const std::string& how) const {
    fail<InputError>("load", file_.name_, ": the file is corrupt: ", how);
  }

  Claim claim_of(const PickleNode& id) const {
    const PickleNode* tuple = node_of(id.items[0], Kind::tuple);
    if (!tuple || tuple->items.size() < 5) damaged("the id of a storage is not a tuple of five elements");
    const auto& items = tuple->items;
    const auto* type = std::get_if<PickleGlobal>(&items[1]);
    const auto* key = std::get_if<std::string_view>(&items[2]);
    const auto* count = std::get_if<std::int64_t>(&items[4]);
    const char* dtype = type ? storage_dtype(*type) : nullptr;
    if (!dtype || !key || !count || *count < 0) damaged("the id of a storage is invalid");
    if (items.size() > 5 && !std::holds_alternative<std::monostate>(items[5]))
      damaged("storage " + in_quotes(*key) +
              " is a view of another one, which is only supported by very old versions of PyTorch");
    const std::array<std::int64_t, 1> shape{*count};
    const std::optional<std::uint64_t> bytes = stored_bytes(dtype, shape);
    if (!bytes) damaged("storage " + in_quotes(*key) + " is too large");
    return {*key, dtype, *bytes};
  }

  void read_dictionary(const PickleValue& value) {
    const auto* node = std::get_if<const PickleNode*>(&value);
    if (!node || ((*node)->kind != Kind::dict && !arguments_of(value, is_ordered_dict)))
      fail<InputError>("load", file_.name_, ": does not contain a dictionary of tensors, expected model.state_dict()");
    for (const auto& [key, tensor] : (*node)->pairs) {
      const auto* name = std::get_if<std::string_view>(&key);
      if (!name) damaged("the name of a tensor is not a string");
      file_.entries_.insert_or_assign(std::string(*name), entry_of(*name, tensor));
    }
  }

  Entry entry_of(std::string_view name, const PickleValue& value) const {
    const auto wrong = [&](const auto&... how) {
      fail<InputError>("load", file_.name_, ": tensor ", in_quotes(name), how...);
    };
    if (const auto* parameter = arguments_of(value, is_parameter)) {
      const bool plain = !parameter->empty() && arguments_of(parameter->front(), is_tensor);
      if (!plain) wrong(" is a parameter without a tensor");
      return entry_of(name, parameter->front());
    }
    const auto* arguments = arguments_of(value, is_tensor);
    if (!arguments)
      fail<InputError>("load", file_.name_, ": ", in_quotes(name),
                       " is not a tensor; is the file a training checkpoint? Expected model.state_dict()");
    const PickleNode* id = arguments->size() < 4 ? nullptr : node_of((*arguments)[0], Kind::persistent);
    const auto* offset = id ? std::get_if<std::int64_t>(&(*arguments)[1]) : nullptr;
    if (!offset || *offset < 0) wrong(" has an invalid description");
    const Storage& storage = storages_.at(id);
    Entry entry{storage.dtype, sizes_of(name, (*arguments)[2]), {}, true, sizes_of(name, (*arguments)[3])};
    if (entry.shape.size() != entry.strides.size())
      wrong(" has ", entry.shape.size(), " sizes and ", entry.strides.size(), " strides");

    const std::uint64_t size = stored_size(entry.dtype), elements = storage.bytes.size() / size;
    const std::optional<std::uint64_t> bytes = stored_bytes(entry.dtype, entry.shape);
    if (!bytes || *bytes > storage.bytes.size())
      wrong(" of shape ", shape_text(entry.shape), " has more elements than its storage, which has ", elements);
    entry.bytes = storage.bytes.first(0);
    if (*bytes == 0) return entry;
    std::uint64_t last = static_cast<std::uint64_t>(*offset);
    std::int64_t dense = 1;  // the stride in row-major order
    bool row_major = true;
    for (std::size_t d = entry.shape.size(); d-- > 0;) {
      const std::int64_t steps = entry.shape[d] - 1;
      if (steps == 0) entry.strides[d] = 0;  // the stride is not used, and may be anything
      std::uint64_t span = 0;
      if (__builtin_mul_overflow(steps, entry.strides[d], &span) || __builtin_add_overflow(last, span, &last))
        last = elements;
      if (last >= elements) break;
      if (steps > 0 && entry.strides[d] != dense) row_major = false;
      dense *= entry.shape[d];
    }
    if (last >= elements)
      wrong(" of shape ", shape_text(entry.shape), " with strides ", shape_text(entry.strides), " from element ",
            *offset, " on ends beyond its storage, which has ", elements, " elements");
    const auto first = static_cast<std::uint64_t>(*offset);
    entry.bytes = storage.bytes.subspan(first * size, (last + 1 - first) * size);
    entry.plain = row_major && (!file_.big_endian_ || size == 1);
    return entry;
  }

  std::vector<std::int64_t> sizes_of(std::string_view name, const PickleValue& value) const {
    const PickleNode* tuple = node_of(value, Kind::tuple);
    std::vector<std::int64_t> sizes;
    if (tuple && tuple->items.size() <= kMaxRank)
      for (const PickleValue& item : tuple->items)
        if (const auto* size = std::get_if<std::int64_t>(&item); size && *size >= 0) sizes.push_back(*size);
    if (!tuple || sizes.size() != tuple->items.size())
      fail<InputError>("load", file_.name_, ": tensor ", in_quotes(name), " has an impossible shape");
    return sizes;
  }

  TorchFile& file_;
  std::map<const PickleNode*, Storage> storages_;  // by the node of the persistent id
};

TorchFile::TorchFile(const std::filesystem::path& path) : TensorFile(path) { read(); }

TorchFile::TorchFile(std::string name, Bytes bytes, std::shared_ptr<const void> owner)
    : TensorFile(std::move(name), bytes, std::move(owner)) {
  read();
}

bool TorchFile::recognises(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  return text.starts_with(kZip) || (text.starts_with('\x80') && text.substr(0, kMagicWithin).find(kMagic) != text.npos);
}

void TorchFile::read() {
  if (bytes_.empty()) fail<InputError>("load", name_, ": the file is empty; is the download complete?");
  if (!recognises(bytes_)) fail<InputError>("load", name_, ": is not a file written by torch.save()");
  Reader reader(*this);
  text_of(bytes_).starts_with(kZip) ? reader.read_zip() : reader.read_old();
}

}  // namespace attend
