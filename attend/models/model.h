// The base class of all models: it lists the weight matrices and saves the model to a folder. What a model can do is
// declared by further interfaces (GenerativeModel, Seq2SeqModel, …). The registry says which of them a folder provides.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/formats/config.h"
#include "attend/formats/weights.h"
#include "attend/nn/linear_layers.h"
#include "attend/nn/module.h"
#include "attend/nn/quantise.h"

namespace attend {

class Model {
 public:
  virtual ~Model() = default;

  /// Calls `take` for every weight matrix and its int8 scales; the scales are undefined in a float32 model.
  virtual void visit_matrices(FunctionRef<void(Tensor& weight, Tensor& scales)> take) = 0;
  /// Calls `take` for every linear layer, with the name of its module in `transformers`. Layers that are one module
  /// there, such as the projections of queries, keys and values in GPT-2, have the same name.
  virtual void visit_linear_layers(FunctionRef<void(const std::string& name, Linear& layer)> take) = 0;
  /// In how many groups the rows of layers alternate that are one module in `transformers`: the number of heads if
  /// those of head 0 of all layers come first (GPT-NeoX); 1 if one layer follows the other.
  virtual std::int64_t row_groups() const { return 1; }
  /// Calls `take` for every parameter, with its name in model.safetensors. Parameters that are stored as one have the
  /// same name.
  virtual void visit_parameters(FunctionRef<void(const std::string& name, Tensor& parameter)> take) = 0;
  /// A copy that shares all parameters, and can have other adapters (see adapter.h).
  virtual std::shared_ptr<Model> share() const = 0;

  /// The contents of config.json, in the format of the model's family.
  virtual Config config() const = 0;
  /// The same, and how the matrices are quantised, as save() writes it.
  Config stored_config();
  /// "model_type" in config.json.
  std::string type() const;
  /// The parameters with the names and shapes that they have in model.safetensors.
  virtual std::vector<NamedTensor> stored_parameters() = 0;

  /// Writes config.json and model.safetensors. An int8 matrix is stored as [out, in], with its scales beside it as
  /// "….weight_scale". Only Attend can read such a folder. `vocabulary` is a digest of the tokenizer's tokens, which
  /// the weights record (see save_model()); empty: none. float32 parameters are stored as `floats`, which may be
  /// float16 or bfloat16.
  void save(const std::filesystem::path& folder, const std::string& vocabulary = {}, DType floats = DType::f32);

 protected:
  Model() = default;
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
};

/// In the metadata of model.safetensors: the vocabulary of the tokenizer that belongs to the weights.
inline constexpr const char* kVocabularyKey = "attend.vocabulary";

/// Implements Model, or an interface that extends it, for a struct that has a visit(v) over all of its parts. A struct
/// whose parameters have other names in folders also has stored_name().
template <typename Self, typename Interface = Model>
class ModelOf : public Interface {
 public:
  void visit_matrices(FunctionRef<void(Tensor&, Tensor&)> take) override { for_each_matrix(self(), take); }
  void visit_linear_layers(FunctionRef<void(const std::string&, Linear&)> take) override {
    constexpr std::string_view kWeight = ".weight";
    for_each_linear(self(), [&](const std::string& name, Linear& layer) {
      std::string stored = self().stored_name(name + std::string(kWeight));
      stored.resize(stored.size() - kWeight.size());
      take(stored, layer);
    });
  }
  void visit_parameters(FunctionRef<void(const std::string&, Tensor&)> take) override {
    for_each_parameter(self(),
                       [&](const std::string& name, Tensor& tensor) { take(self().stored_name(name), tensor); });
  }
  std::shared_ptr<Model> share() const override { return std::make_shared<Self>(static_cast<const Self&>(*this)); }
  std::vector<NamedTensor> stored_parameters() override { return parameters(self()); }

  /// The name in model.safetensors of a parameter that visit() names.
  std::string stored_name(std::string name) const { return name; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

/// Converts every weight matrix to int8 (see quantise() of a tensor). Other tensors that share the float32 weights are
/// not changed.
void quantise(Model& model);

/// Whether the weight matrices of a folder are int8. Throws InputError, prefixed with `op`, if they are quantised by
/// another method.
bool holds_int8(const char* op, const Config& config);
/// Throws InputError if they are int8, since an int8 model can be run but not trained.
void refuse_int8(const char* op, const Config& config);
/// Prepares a new model for the weights of a folder: if these are int8, the model's matrices become int8 tensors
/// without values. Throws InputError for int8 weights unless `mapped`.
template <typename M>
void expect_precision(const char* op, const Config& config, bool mapped, M& model) {
  if (!holds_int8(op, config)) return;
  if (!mapped) refuse_int8(op, config);
  expect_int8(model);
}

}  // namespace attend
