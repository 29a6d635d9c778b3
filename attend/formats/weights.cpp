#include "attend/formats/weights.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/core/json.h"
#include "attend/formats/stored_tensor.h"
#include "attend/formats/torch_file.h"

namespace attend {
namespace {

/// In the order in which Hugging Face libraries search for them.
constexpr const char* kNames[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                  "pytorch_model.bin.index.json"};

/// Maps each tensor to the name of its file, in the folder of the index.
std::map<std::string, std::string> read_index(const std::filesystem::path& path) {
  const MappedFile file = map_file(path);
  const JsonDocument index({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path.string(),
                           "load");
  const auto list = index.root().is_object() ? index.root().find("weight_map") : std::nullopt;
  if (!list || !list->is_object())
    fail<InputError>("load", path.string(), ": is not an index of weights, expected a JSON object with \"weight_map\"");
  std::map<std::string, std::string> map;
  list->each_member([&](std::string_view tensor, const JsonValue& shard) {
    const std::filesystem::path name = shard.is_string() ? shard.string() : "";
    if (name.empty() || name != name.filename() || name == "." || name == "..")
      fail<InputError>("load", path.string(), ": the entry ", in_quotes(tensor),
                       " of the weight_map is not the name of a file in the same folder");
    map.emplace(tensor, name.string());
  });
  if (map.empty()) fail<InputError>("load", path.string(), ": the weight_map is empty");
  return map;
}

}  // namespace

Weights::Weights(const std::filesystem::path& path) : name_(path.string()) {
  std::filesystem::path file = path;
  std::error_code unreadable;  // opening the file will report the error
  if (std::filesystem::is_directory(path, unreadable)) {
    const std::filesystem::path folder = current_folder(path);
    std::string tried;
    for (const char* name : kNames) {
      file = folder / name;
      if (std::filesystem::exists(file, unreadable)) break;
      tried += (tried.empty() ? "" : ", ") + std::string(name);
      file.clear();
    }
    if (file.empty()) fail<InputError>("load", name_, ": contains no weights, expected one of ", tried);
  }
  file.extension() == ".json" ? read_shards(file) : read_whole(file);
}

Weights::Weights(std::string name, TensorFile file, std::vector<View> views) : name_(std::move(name)) {
  files_.push_back(std::move(file));
  for (View& view : views) {
    file_of_.emplace(view.name, 0);
    views_.emplace(view.name, std::move(view));
  }
}

void Weights::read_whole(const std::filesystem::path& path) {
  MappedFile file = map_file(path);
  if (TorchFile::recognises(file.bytes)) {
    files_.push_back(TorchFile(path.string(), file.bytes, std::move(file.owner)));
  } else {
    SafetensorsFile tensors(path.string(), file.bytes, std::move(file.owner));
    metadata_ = files_.empty() ? tensors.metadata() : SafetensorsMetadata{};
    files_.push_back(std::move(tensors));
  }
  for (std::string& name : files_.back().names()) file_of_.emplace(std::move(name), files_.size() - 1);
}

void Weights::read_shards(const std::filesystem::path& index) {
  std::map<std::string, std::size_t> opened;
  std::map<std::string, std::size_t, std::less<>> places;
  for (const auto& [tensor, shard] : read_index(index)) {
    const auto [found, is_new] = opened.emplace(shard, files_.size());
    if (is_new) read_whole(index.parent_path() / shard);
    if (!files_[found->second].contains(tensor))
      fail<InputError>("load", index.string(), ": lists tensor ", in_quotes(tensor), " in ", in_quotes(shard),
                       ", which does not contain it");
    places.emplace(tensor, found->second);
  }
  for (const auto& [tensor, place] : file_of_)
    if (!places.contains(tensor))
      fail<InputError>("load", index.string(), ": does not list tensor ", in_quotes(tensor), " of its files");
  file_of_ = std::move(places);
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : file_of_) names.push_back(name);
  return names;
}

Tensor Weights::get(std::string_view name) const {
  const auto found = file_of_.find(name);
  if (found == file_of_.end())
    fail<InputError>("load", name_, ": has no tensor ", in_quotes(name), " among its ", file_of_.size());
  const TensorFile& file = files_[found->second];
  const auto view = views_.find(name);
  if (view == views_.end()) return file.get(name);
  const Tensor stored = file.get(view->second.stored);
  return view->second.layout ? view->second.layout(stored) : stored;
}

void Weights::add(const Weights& others, const std::map<std::string, std::string>& names) {
  const std::size_t first = files_.size();
  files_.insert(files_.end(), others.files_.begin(), others.files_.end());
  for (const auto& [name, there] : names) {
    file_of_[name] = first + others.file_of_.at(there);
    const auto view = others.views_.find(there);
    views_[name] = view == others.views_.end() ? View{name, there} : view->second;
  }
}

Tensor Weights::get_float32(std::string_view name) const { return convert(get(name), DType::f32); }

std::uint64_t Weights::elements() const {
  std::uint64_t sum = 0;
  for (const TensorFile& file : files_) sum += file.elements();
  return sum;
}

DType Weights::precision() const {
  std::map<std::string, std::int64_t> elements;  // by dtype
  for (const auto& [name, place] : file_of_) {
    const auto view = views_.find(name);
    const std::string& stored = view == views_.end() ? name : view->second.stored;
    const std::span<const std::int64_t> shape = files_[place].shape(stored);
    elements[files_[place].stored_dtype(stored)] +=
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies());
  }
  const auto most = std::ranges::max_element(elements, {}, [](const auto& one) { return one.second; });
  if (most == elements.end()) return DType::f32;
  return most->first == stored_name(DType::bf16)  ? DType::bf16
         : most->first == stored_name(DType::f16) ? DType::f16
                                                  : DType::f32;
}

std::vector<std::string> Weights::warnings() const {
  std::vector<std::string> lines;
  for (const TensorFile& file : files_)
    for (std::string& line : file.warnings()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace attend
