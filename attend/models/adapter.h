// Low-rank adapters (LoRA, Hu et al. 2021): every adapted linear layer adds (alpha / rank) · dropout(x) Aᵀ Bᵀ to its
// result. Only A, B and new heads are trained; the weights of the base model are frozen, and may be mapped or int8. The
// adapters belong to the layers (Linear::adapter), so they work for every model. Folders have the format of Hugging
// Face's PEFT: adapter_config.json and adapter_model.safetensors.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attend/core/random.h"
#include "attend/formats/weights.h"
#include "attend/models/model.h"

namespace attend {

struct LoraOptions {
  std::int64_t rank = 0;    ///< of the products B A; 0: no adapters
  double alpha = 16;        ///< the update is scaled by alpha / rank
  float dropout = 0.f;      ///< on the input of the adapters, in training
  bool stabilised = false;  ///< scale by alpha / √rank instead (Kalajdzievski 2023)
  /// The endings of the names of the layers to adapt, such as "q_proj", or "all-linear" alone: all but output layers;
  /// empty: the queries and values of attention.
  std::vector<std::string> targets = {};

  bool on() const { return rank > 0; }
  float scale() const;
  void visit(auto&& v) const {
    v("lora_rank", rank), v("lora_alpha", alpha), v("lora_dropout", dropout), v("lora_stabilised", stabilised);
    v("lora_targets", targets);
  }
};

/// What the folder of an adapter says besides its tensors.
struct AdapterInfo {
  LoraOptions lora;
  std::string base;                ///< "base_model_name_or_path"
  std::string task;                ///< "task_type" of PEFT: "CAUSAL_LM", "SEQ_CLS", …; empty: none
  std::vector<std::string> saved;  ///< "modules_to_save": names of modules that are trained fully, such as a new head

  /// For the model of a folder.
  static AdapterInfo of(const LoraOptions& lora, const std::filesystem::path& base, std::string task,
                        std::vector<std::string> saved = {});
};

/// Gives the targeted layers new adapters, and freezes everything else. A is uniform in ±1 / √in, B is 0, so the model
/// computes the same as before. The parameters in `saved` modules are trained fully. Returns what is to be trained, as
/// leaves of the tape. Throws InputError if a target matches no layer.
std::vector<NamedTensor> train_adapters(Model& model, const AdapterInfo& info, Generator& generator);
/// Writes adapter_config.json, adapter_model.safetensors, and config.json, which has the labels of a new head.
void save_adapter(Model& model, const AdapterInfo& info, const std::filesystem::path& folder);

/// Whether a folder holds an adapter.
bool holds_adapter(const std::filesystem::path& folder);

/// The folder of an adapter.
class AdapterFolder {
 public:
  /// Throws InputError if the folder holds no adapter, or one with settings that are not supported.
  explicit AdapterFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return path_; }
  const AdapterInfo& info() const { return info_; }
  /// The folder of the base model. Throws InputError if it does not exist.
  std::filesystem::path base() const;
  /// Adds the fully trained parameters to the weights of the base model, whose tensors they replace.
  void add_saved(Weights& weights) const;
  /// Gives the layers of the base model their adapters. Throws InputError if the tensors do not fit the model.
  void attach(Model& model) const;

 private:
  std::filesystem::path path_;
  AdapterInfo info_;
  bool complete_ = true;  // every layer that the targets name must have tensors
  Weights tensors_;
  std::map<std::string, std::string> saved_;  // the name of a parameter -> the name of its tensor
};

/// Adds the adapters to the weights and removes them. The result computes the same without them. Weights in float16 and
/// bfloat16 keep their precision: the sum is rounded to it. Throws InputError if a weight is int8.
void merge_adapters(Model& model);

}  // namespace attend
