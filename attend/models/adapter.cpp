#include "attend/models/adapter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/core/json.h"
#include "attend/core/wording.h"
#include "attend/kernels/matmul.h"
#include "attend/models/stored_parameter.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFiles[] = {"adapter_model.safetensors", "adapter_model.bin"};
constexpr const char* kAllLinear = "all-linear";
constexpr std::string_view kPrefix = "base_model.model.";  // of the names in adapter_model.safetensors
constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight";

/// The names of queries and values, alone or with other projections in one layer. PEFT has the same defaults for its
/// families.
const std::vector<std::vector<std::string>> kQueriesAndValues = {{"q_proj", "v_proj"}, {"query", "value"}, {"c_attn"},
                                                                 {"q", "v"},           {"q_lin", "v_lin"}, {"Wqkv"},
                                                                 {"qkv_proj"},         {"query_key_value"}};

/// The modules of GPT-2 that hold their weights as [in, out].
constexpr std::string_view kTransposed[] = {"c_attn", "c_proj", "c_fc"};

/// A module of `transformers`: one linear layer, or several that are stored as one.
struct AdaptedModule {
  std::string name;
  std::int64_t row_groups = 1;  // see Model::row_groups()
  std::vector<Linear*> layers = {};

  std::int64_t in() const { return layers.front()->in(); }
  std::int64_t out() const {
    std::int64_t sum = 0;
    for (const Linear* layer : layers) sum += layer->out();
    return sum;
  }
  bool adapted() const { return layers.front()->adapter != nullptr; }
};

std::vector<AdaptedModule> modules_of(Model& model) {
  std::vector<AdaptedModule> all;
  model.visit_linear_layers([&](const std::string& name, Linear& layer) {
    auto found = std::ranges::find(all, name, &AdaptedModule::name);
    if (found == all.end()) found = all.insert(all.end(), {name, model.row_groups()});
    found->layers.push_back(&layer);
  });
  return all;
}

/// Whether `name` is `ending`, or ends with it after a dot.
bool ends_with_name(std::string_view name, std::string_view ending) {
  return name == ending ||
         (name.ends_with(ending) && name.size() > ending.size() && name[name.size() - ending.size() - 1] == '.');
}

bool matches_any(std::string_view name, const std::vector<std::string>& endings) {
  return std::ranges::any_of(endings, [&](const std::string& ending) { return ends_with_name(name, ending); });
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// Whether a parameter, or a layer, belongs to one of the modules.
bool belongs_to(std::string_view name, const std::vector<std::string>& modules) {
  return std::ranges::any_of(modules, [&](const std::string& module) {
    return name == module || (name.starts_with(module) && name[module.size()] == '.');
  });
}

/// The modules to adapt.
std::vector<AdaptedModule> targets_of(Model& model, const AdapterInfo& info) {
  std::vector<AdaptedModule> all = modules_of(model);
  std::erase_if(all, [&](const AdaptedModule& one) { return belongs_to(one.name, info.saved); });
  std::set<std::string> names;
  for (const AdaptedModule& one : all) names.insert(last_part(one.name));
  const std::string there = listed({names.begin(), names.end()});
  std::vector<std::string> targets = info.lora.targets;
  if (targets == std::vector<std::string>{kAllLinear}) {
    const std::int64_t vocabulary = model.config().integer("vocab_size", -1);
    std::erase_if(all, [&](const AdaptedModule& one) { return one.out() == vocabulary; });
    return all;
  }
  if (targets.empty()) {
    const auto usual = std::ranges::find_if(kQueriesAndValues, [&](const std::vector<std::string>& some) {
      return std::ranges::all_of(some, [&](const std::string& name) { return names.contains(name); });
    });
    if (usual == kQueriesAndValues.end())
      fail<InputError>("lora", "this model has no attention with queries and values: name the layers to adapt ",
                       "(--lora-targets): ", kAllLinear, ", or some of ", there);
    targets = *usual;
  }
  for (const std::string& target : targets)
    if (std::ranges::none_of(all, [&](const AdaptedModule& one) { return ends_with_name(one.name, target); }))
      fail<InputError>("lora", "no linear layer is named \"", target, "\", expected ", kAllLinear, ", or some of ",
                       there);
  std::erase_if(all, [&](const AdaptedModule& one) { return !matches_any(one.name, targets); });
  return all;
}

/// Gives the layers of a module its adapter. `b` is [sum of outputs, rank], one layer after the other.
void set_adapter(const AdaptedModule& module, const LowRank& whole) {
  std::int64_t first = 0;
  for (Linear* layer : module.layers) {
    LowRank part = whole;
    if (module.layers.size() > 1) part.b = whole.b.view_rows(first, first + layer->out());
    if (requires_grad(whole.b)) require_grad(part.b);
    first += layer->out();
    layer->adapter = std::make_shared<const LowRank>(std::move(part));
  }
}

/// B of all layers of a module, as PEFT stores it.   -> [sum of outputs, rank]
Tensor joined_b(const AdaptedModule& module) {
  if (module.layers.size() == 1) return module.layers.front()->adapter->b;
  Tensor whole = Tensor::empty({module.out(), module.layers.front()->adapter->b.dim(1)});
  float* to = whole.data();
  for (const Linear* layer : module.layers) to = std::ranges::copy(layer->adapter->b.span(), to).out;
  return module.row_groups == 1 ? whole : regrouped(whole, std::ssize(module.layers), module.row_groups);
}

}  // namespace

float LoraOptions::scale() const {
  const auto r = static_cast<double>(rank);
  return static_cast<float>(alpha / (stabilised ? std::sqrt(r) : r));
}

AdapterInfo AdapterInfo::of(const LoraOptions& lora, const fs::path& base, std::string task,
                            std::vector<std::string> saved) {
  const fs::path path = base.empty() ? base : fs::absolute(base).lexically_normal();
  return {lora, path.string(), std::move(task), std::move(saved)};
}

std::vector<NamedTensor> train_adapters(Model& model, const AdapterInfo& info, Generator& generator) {
  const LoraOptions& o = info.lora;
  if (o.rank < 1) fail<InputError>("lora", "the rank must be positive: got ", o.rank);
  std::vector<NamedTensor> trained;
  for (const AdaptedModule& module : targets_of(model, info)) {
    LowRank adapter{.a = Tensor::empty({o.rank, module.in()}),
                    .b = Tensor::zeros({module.out(), o.rank}),
                    .scale = o.scale(),
                    .dropout = o.dropout};
    init::uniform_fan_in(adapter.a, module.in(), generator);
    require_grad(adapter.a), require_grad(adapter.b);
    set_adapter(module, adapter);
    trained.push_back({module.name + std::string(kA), adapter.a});
    for (std::size_t i = 0; i < module.layers.size(); ++i)
      trained.push_back(
          {module.name + std::string(kB) + (i == 0 ? "" : "." + std::to_string(i)), module.layers[i]->adapter->b});
  }
  // The weights may be mapped, int8, or shared with other models.
  model.visit_linear_layers([&](const std::string& name, Linear& layer) {
    if (!belongs_to(name, info.saved) || !layer.scales.defined()) return;
    layer.weight = restore({layer.weight, layer.scales});
    layer.scales = {};
  });
  model.visit_parameters([&](const std::string& name, Tensor& tensor) {
    if (!belongs_to(name, info.saved)) return;
    tensor = tensor.copy();
    require_grad(tensor);
    trained.push_back({name, tensor});
  });
  return trained;
}

void save_adapter(Model& model, const AdapterInfo& info, const fs::path& folder) {
  const std::vector<AdaptedModule> all = modules_of(model);
  std::vector<NamedTensor> tensors;
  std::set<std::string> short_names, names;
  for (const AdaptedModule& one : all) {
    if (!one.adapted()) continue;
    short_names.insert(last_part(one.name)), names.insert(one.name);
    const std::string name = std::string(kPrefix) + one.name;
    tensors.push_back({name + std::string(kA), one.layers.front()->adapter->a});
    tensors.push_back({name + std::string(kB), joined_b(one)});
  }
  for (const NamedTensor& one : model.stored_parameters())
    if (belongs_to(one.name, info.saved)) tensors.push_back({std::string(kPrefix) + one.name, one.tensor});
  // PEFT adapts every layer whose name ends with a target. The short names serve if they select the same layers.
  const bool exact = std::ranges::none_of(all, [&](const AdaptedModule& one) {
    return !names.contains(one.name) && short_names.contains(last_part(one.name));
  });
  const std::set<std::string>& targets = exact ? short_names : names;

  const LoraOptions& o = info.lora;
  Config config;
  config.set("peft_type", "LORA");
  if (!info.task.empty()) config.set("task_type", info.task);
  config.set("base_model_name_or_path", info.base);
  config.set("r", o.rank);
  if (o.alpha == std::floor(o.alpha) && std::abs(o.alpha) < 1e9)
    config.set("lora_alpha", static_cast<std::int64_t>(o.alpha));
  else
    config.set("lora_alpha", o.alpha);
  config.set("lora_dropout", o.dropout);
  config.set("use_rslora", o.stabilised), config.set("bias", "none");
  config.set("fan_in_fan_out", std::ranges::any_of(kTransposed, [&](std::string_view name) {
               return short_names.contains(std::string(name));
             }));
  config.set("target_modules", std::vector<std::string>(targets.begin(), targets.end()));
  if (!info.saved.empty()) config.set("modules_to_save", info.saved);
  config.set("init_lora_weights", true), config.set("inference_mode", true);
  config.save(folder / kConfigFile);
  model.stored_config().save(folder / "config.json");
  save_safetensors(folder / kTensorFiles[0], tensors);
}

// ---- folders ----

namespace {

/// Settings that do not change the result of a trained adapter, whatever their value.
constexpr std::string_view kHarmless[] = {"peft_type",
                                          "auto_mapping",
                                          "peft_version",
                                          "base_model_name_or_path",
                                          "revision",
                                          "task_type",
                                          "inference_mode",
                                          "r",
                                          "lora_alpha",
                                          "lora_dropout",
                                          "target_modules",
                                          "exclude_modules",
                                          "modules_to_save",
                                          "fan_in_fan_out",
                                          "bias",
                                          "use_rslora",
                                          "init_lora_weights",
                                          "layers_pattern",
                                          "layers_to_transform",
                                          "megatron_core",
                                          "runtime_config",
                                          "loftq_config",
                                          "eva_config",
                                          "corda_config",
                                          "lora_ga_config",
                                          "qalora_group_size"};

bool is_empty(const JsonValue& value) {
  if (value.is_boolean()) return !value.boolean();
  return value.is_null() || ((value.is_array() || value.is_object()) && value.size() == 0);
}

std::vector<std::string> names_in(const JsonValue& config, std::string_view key) {
  std::vector<std::string> names;
  if (const auto list = config.find(key); list && list->is_array())
    list->each_element([&](const JsonValue& one) { names.emplace_back(one.string()); });
  return names;
}

/// Reads adapter_config.json. Throws InputError, naming the key, if a setting is not supported that changes the result.
AdapterInfo read_info(const fs::path& file, bool& complete) {
  const MappedFile bytes = map_file(file);
  const JsonDocument document({reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()}, file.string(),
                              "adapter");
  const JsonValue config = document.root();
  if (!config.is_object()) config.fail_kind("an object");
  const auto refuse = [&](std::string_view key, std::string_view expected) {
    config[key].fail("is not supported: got ", config[key].shown(), ", expected ", expected);
  };
  if (config.string("peft_type", "") != "LORA") config.fail("\"peft_type\" must be LORA");
  config.each_member([&](std::string_view key, const JsonValue& value) {
    if (std::ranges::find(kHarmless, key) == std::end(kHarmless) && !is_empty(value)) refuse(key, "none or false");
  });
  if (config.string("bias", "none") != "none") refuse("bias", "none");
  // Other ways of initialising A and B also change the weights of the base model.
  if (const auto start = config.find("init_lora_weights"); start && !start->is_boolean())
    if (const std::string_view way = start->string(); way != "gaussian" && way != "eva" && way != "orthogonal")
      refuse("init_lora_weights", "true, false, gaussian, eva or orthogonal");

  AdapterInfo info;
  LoraOptions& o = info.lora;
  constexpr std::int64_t kMostRank = 1 << 16;
  o.rank = config.find("r") ? config["r"].integer() : 8;
  if (o.rank < 1 || o.rank > kMostRank) refuse("r", "1 to 65536");
  o.alpha = config.find("lora_alpha") ? config["lora_alpha"].number() : 8;
  if (!std::isfinite(o.alpha)) refuse("lora_alpha", "a finite number");
  const double dropout = config.find("lora_dropout") ? config["lora_dropout"].number() : 0;
  if (!(dropout >= 0 && dropout < 1)) refuse("lora_dropout", "0 to 1");
  o.dropout = static_cast<float>(dropout);
  o.stabilised = config.boolean("use_rslora", false);
  o.targets = names_in(config, "target_modules");
  info.saved = names_in(config, "modules_to_save");
  info.base = config.string("base_model_name_or_path", "");
  info.task = config.string("task_type", "");
  for (const char* key : {"exclude_modules", "layers_to_transform"})
    if (const auto some = config.find(key)) complete &= is_empty(*some);
  return info;
}

fs::path tensor_file(const fs::path& folder) {
  std::error_code unreadable;
  for (const char* name : kTensorFiles)
    if (fs::exists(folder / name, unreadable)) return folder / name;
  fail<InputError>("adapter", folder.string(), ": has no ", kTensorFiles[0]);
}

/// Whether the names of two modules are equal, but for the prefix that a model without a head does not have.
bool same_module(std::string_view a, std::string_view b) { return ends_with_name(a, b) || ends_with_name(b, a); }

}  // namespace

bool holds_adapter(const fs::path& folder) {
  std::error_code unreadable;
  return fs::exists(current_folder(folder) / kConfigFile, unreadable);
}

AdapterFolder::AdapterFolder(fs::path folder)
    : path_(current_folder(folder)), info_(read_info(path_ / kConfigFile, complete_)), tensors_(tensor_file(path_)) {
  for (const std::string& name : tensors_.names()) {
    if (!name.starts_with(kPrefix))
      fail<InputError>("adapter", tensors_.name(), ": tensor \"", name, "\" is not one of PEFT: expected ", kPrefix,
                       "…");
    const std::string parameter = name.substr(kPrefix.size());
    if (parameter.ends_with(kA) || parameter.ends_with(kB)) continue;
    if (parameter.find(".lora_") != std::string::npos)
      fail<InputError>("adapter", tensors_.name(), ": tensor \"", name,
                       "\" is not supported: adapters of linear layers (lora_A, lora_B) are");
    saved_.emplace(parameter, name);
  }
}

fs::path AdapterFolder::base() const {
  if (info_.base.empty())
    fail<InputError>("adapter", path_.string(), ": does not name its base model; add it: --model BASE --adapter ",
                     path_.string());
  std::error_code unreadable;
  for (const fs::path& folder : {fs::path(info_.base), path_ / info_.base, path_.parent_path() / info_.base})
    if (fs::exists(current_folder(folder) / "config.json", unreadable)) return folder;
  fail<InputError>("adapter", path_.string(), ": its base model is not here: got \"", info_.base,
                   "\"; if it is in another folder: --model BASE --adapter ", path_.string());
}

void AdapterFolder::add_saved(Weights& weights) const { weights.add(tensors_, saved_); }

void AdapterFolder::attach(Model& model) const {
  const auto refuse = [&](const std::string& name, const auto&... why) {
    fail<InputError>("adapter", tensors_.name(), ": tensor \"", name, "\" ", why...);
  };
  constexpr const char* kHint = "; is it the right base model?";
  std::set<std::string> parameters;
  model.visit_parameters([&](const std::string& name, Tensor&) { parameters.insert(name); });
  for (const auto& [parameter, name] : saved_)
    if (!parameters.contains(parameter)) refuse(name, "belongs to no parameter of the base model", kHint);

  std::set<std::string> unused;
  for (const std::string& name : tensors_.names())
    if (!saved_.contains(name.substr(kPrefix.size()))) unused.insert(name);
  for (const AdaptedModule& module : modules_of(model)) {
    const auto there = std::ranges::find_if(unused, [&](const std::string& name) {
      return name.ends_with(kA) &&
             same_module(std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - kA.size()),
                         module.name);
    });
    if (there == unused.end()) {
      if (complete_ && matches_any(module.name, info_.lora.targets) && !belongs_to(module.name, info_.saved))
        fail<InputError>("adapter", tensors_.name(), ": has no tensors for the layer ", module.name, ", which is one ",
                         "of its target_modules", kHint);
      continue;
    }
    const std::string a = *there, b = a.substr(0, a.size() - kA.size()) + std::string(kB);
    if (!unused.contains(b)) refuse(a, "has no counterpart ", b);
    LowRank adapter{.a = tensors_.get_float32(a),
                    .b = tensors_.get_float32(b),
                    .scale = info_.lora.scale(),
                    .dropout = info_.lora.dropout};
    const Shape expected_a{info_.lora.rank, module.in()}, expected_b{module.out(), info_.lora.rank};
    if (adapter.a.shape() != expected_a)
      refuse(a, "has the wrong shape: got ", adapter.a.shape(), ", expected ", expected_a, kHint);
    if (adapter.b.shape() != expected_b)
      refuse(b, "has the wrong shape: got ", adapter.b.shape(), ", expected ", expected_b, kHint);
    if (module.layers.size() > 1 && module.row_groups > 1)
      adapter.b = regrouped(adapter.b, module.row_groups, std::ssize(module.layers));
    set_adapter(module, adapter);
    unused.erase(a), unused.erase(b);
  }
  if (!unused.empty()) refuse(*unused.begin(), "belongs to no linear layer of the base model", kHint);
}

void merge_adapters(Model& model) {
  model.visit_linear_layers([](const std::string& name, Linear& layer) {
    if (!layer.adapter) return;
    const DType precision = layer.weight.dtype();
    if (precision == DType::i8)
      fail<InputError>("adapter", "cannot be merged into the weights of ", name, ", which are int8: merge it into the ",
                       "folder that they were converted from");
    const LowRank& adapter = *layer.adapter;
    const std::int64_t R = adapter.a.dim(0);
    const Tensor scaled = adapter.b.copy();
    for (float& value : scaled.span()) value *= adapter.scale;
    layer.weight = precision == DType::f32 ? layer.weight.copy() : convert(layer.weight, DType::f32);
    kernels::matmul({.m = layer.out(), .n = layer.in(), .k = R, .accumulate = true}, scaled.data(), adapter.a.data(),
                    layer.weight.data());
    layer.weight = convert(layer.weight, precision);
    layer.adapter = nullptr;
  });
}

}  // namespace attend
