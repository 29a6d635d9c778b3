#include "attend/tasks/embedding/sentence_folder.h"

#include <functional>
#include <optional>
#include <set>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/core/json.h"
#include "attend/formats/weights.h"
#include "attend/models/bounds.h"

namespace attend {

namespace fs = std::filesystem;

const std::vector<std::pair<std::string, Pooling>> kPoolingNames = {{"cls", Pooling::cls},
                                                                    {"max", Pooling::max},
                                                                    {"mean", Pooling::mean},
                                                                    {"mean_sqrt_len_tokens", Pooling::mean_sqrt_length},
                                                                    {"weightedmean", Pooling::weighted_mean},
                                                                    {"lasttoken", Pooling::last}};

namespace {

/// Whether there is such a file, or a link. A link that leads nowhere counts, so that reading it is an error.
bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(path, unknown));
}

std::string text_of(const fs::path& path) {
  const MappedFile file = map_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

/// The last part of a Python name: "torch.nn.modules.activation.Tanh" -> "Tanh".
std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

const std::vector<std::pair<std::string, Activation>> kTorchActivations = {
    {"Tanh", Activation::tanh}, {"Identity", Activation::none}, {"ReLU", Activation::relu},
    {"GELU", Activation::gelu}, {"SiLU", Activation::silu},     {"Sigmoid", Activation::sigmoid}};

void read_pooling(const fs::path& folder, SentenceFolder& sentence) {
  const fs::path path = folder / "config.json";
  const Config config(path);
  sentence.pool_prompt = config.flag("include_prompt", true);
  sentence.pooling.clear();
  if (config.has("pooling_mode")) {
    sentence.pooling.push_back(config.choice("pooling_mode", kPoolingNames));
    return;
  }
  std::set<std::string, std::less<>> known;
  const auto asked = [&](const char* key, Pooling pooling, bool otherwise = false) {
    known.insert(key);
    if (config.flag(key, otherwise)) sentence.pooling.push_back(pooling);
  };
  asked("pooling_mode_cls_token", Pooling::cls);
  asked("pooling_mode_max_tokens", Pooling::max);
  asked("pooling_mode_mean_tokens", Pooling::mean, true);
  asked("pooling_mode_mean_sqrt_len_tokens", Pooling::mean_sqrt_length);
  asked("pooling_mode_weightedmean_tokens", Pooling::weighted_mean);
  asked("pooling_mode_lasttoken", Pooling::last);
  const JsonDocument document(text_of(path), path.string(), "embed");
  document.root().each_member([&](std::string_view key, const JsonValue& value) {
    if (key.starts_with("pooling_mode_") && !known.contains(key) && value.is_boolean() && value.boolean())
      fail<InputError>("embed", path.string(), ": \"", key, "\" is not supported");
  });
  if (sentence.pooling.empty()) fail<InputError>("embed", path.string(), ": has no pooling mode");
}

Dense read_dense(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  const Config config(path);
  const std::string name = last_part(config.text("activation_function", "Tanh"));
  Dense dense;
  bool known = false;
  for (const auto& [theirs, activation] : kTorchActivations)
    if (name == theirs) dense.activation = activation, known = true;
  if (!known)
    fail<InputError>("embed", path.string(), ": \"activation_function\" is ", name, ", which is not supported");
  const Weights weights(folder);
  dense.linear.weight = weights.get_float32("linear.weight");
  const Shape expected{config.integer_in("out_features", 1, bounds::kWidth),
                       config.integer_in("in_features", 1, bounds::kWidth)};
  if (dense.linear.weight.shape() != expected)
    fail<InputError>("embed", weights.name(), ": linear.weight is ", dense.linear.weight.shape(), ", expected ",
                     expected);
  if (config.flag("bias", true)) dense.linear.bias = weights.get_float32("linear.bias");
  if (dense.linear.bias.defined() && dense.linear.bias.shape() != Shape{expected[0]})
    fail<InputError>("embed", weights.name(), ": linear.bias is ", dense.linear.bias.shape(), ", expected [",
                     expected[0], "]");
  return dense;
}

Norm read_norm(const fs::path& folder) {
  const Weights weights(folder);
  Norm norm;
  norm.gain = weights.get_float32("norm.weight"), norm.bias = weights.get_float32("norm.bias");
  return norm;
}

/// The entries of modules.json; none if it is not a sentence-transformers folder.
std::vector<Config> modules_of(const fs::path& folder) {
  const fs::path path = folder / "modules.json";
  if (!is_there(path)) return {};
  // The file is a JSON array; Config needs an object.
  return Config::parse("{\"modules\": " + text_of(path) + "}", path.string()).objects("modules");
}

std::string type_of(const Config& module) { return last_part(module.text("type")); }

void read_modules(const fs::path& folder, SentenceFolder& sentence) {
  const fs::path path = folder / "modules.json";
  bool first = true;
  for (const Config& module : modules_of(folder)) {
    const std::string type = type_of(module);
    const fs::path inner = folder / module.text("path", "");
    if (first != (type == "Transformer"))
      fail<InputError>("embed", path.string(), ": has the module ", type, first ? " first" : " after another",
                       ", expected Transformer as the first module and nowhere else");
    first = false;
    if (type == "Transformer") continue;
    if (type == "Pooling")
      read_pooling(inner, sentence);
    else if (type == "Normalize")
      sentence.layers.emplace_back(UnitLength{});
    else if (type == "Dense")
      sentence.layers.emplace_back(read_dense(inner));
    else if (type == "LayerNorm")
      sentence.layers.emplace_back(read_norm(inner));
    else if (type != "Dropout")  // dropout is for training only
      fail<InputError>("embed", path.string(), ": has the module ", type,
                       ", expected Transformer, Pooling, Dense, LayerNorm, Normalize or Dropout");
  }
}

}  // namespace

fs::path transformer_in(const fs::path& path) {
  fs::path folder = current_folder(path);
  for (const Config& module : modules_of(folder))
    if (type_of(module) == "Transformer") return folder / module.text("path", "");
  return folder;
}

SentenceFolder SentenceFolder::read(const fs::path& path) {
  const fs::path folder = current_folder(path);
  SentenceFolder sentence{.model = transformer_in(folder)};
  read_modules(folder, sentence);
  // The file name depends on the model type.
  for (const char* type : {"bert", "roberta", "distilbert", "camembert", "xlm-roberta", "albert"}) {
    const fs::path file = sentence.model / ("sentence_" + std::string(type) + "_config.json");
    if (!is_there(file)) continue;
    const Config config(file);
    sentence.max_tokens = config.integer("max_seq_length", 0);
    sentence.lower_case = config.flag("do_lower_case", false);
    break;
  }
  if (const fs::path file = folder / "config_sentence_transformers.json"; is_there(file)) {
    const Config config(file);
    sentence.prompts = config.object("prompts");
    if (config.has("default_prompt_name"))
      sentence.default_prompt = sentence.prompts.text(config.text("default_prompt_name"));
  }
  return sentence;
}

}  // namespace attend
