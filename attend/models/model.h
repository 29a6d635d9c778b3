// What every model offers, whichever family it is of: its parameters, its matrices, and a folder to be saved in. What
// it can be used for are further interfaces (GenerativeModel, Seq2SeqModel …); the registry tells which a folder has.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/formats/config.h"
#include "attend/formats/weights.h"
#include "attend/nn/module.h"
#include "attend/nn/quantise.h"

namespace attend {

class Model {
 public:
  virtual ~Model() = default;

  virtual void visit_parameters(FunctionRef<void(const std::string& name, Tensor& tensor)> take) = 0;
  virtual void visit_matrices(FunctionRef<void(Tensor& weight, Tensor& scales)> take) = 0;

  /// config.json as the family's folders have it.
  virtual Config config() const = 0;
  /// Its "model_type".
  std::string type() const;
  /// The parameters as the family's folders hold them.
  virtual std::vector<NamedTensor> stored_parameters() = 0;

  /// Writes config.json and model.safetensors. A model with int8 matrices is for Attend alone: they are stored as they
  /// lie in memory, [out, in], each with its scales as "….weight_scale".
  void save(const std::filesystem::path& folder);

 protected:
  Model() = default;
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
};

/// Implements the visits of a struct that has one visit(v) for all of its parts.
template <typename Self>
class ModelOf : public Model {
 public:
  void visit_parameters(FunctionRef<void(const std::string&, Tensor&)> take) override {
    for_each_parameter(static_cast<Self&>(*this), take);
  }
  void visit_matrices(FunctionRef<void(Tensor&, Tensor&)> take) override {
    for_each_matrix(static_cast<Self&>(*this), take);
  }
  std::vector<NamedTensor> stored_parameters() override { return parameters(static_cast<Self&>(*this)); }
};

/// Every matrix becomes int8 (see quantise() of a tensor); other handles on its weights keep them.
void quantise(Model& model);

/// Whether a folder's matrices are int8. Throws InputError, in the name of `op`, where they are quantised in a way that
/// is not supported.
bool holds_int8(const char* op, const Config& config);
/// The same for a model in the making: its matrices become int8 without values, to be loaded into. Throws InputError
/// unless the model is only to be run (mapped).
template <typename M>
void expect_precision(const char* op, const Config& config, bool mapped, M& model) {
  if (!holds_int8(op, config)) return;
  if (!mapped)
    fail<InputError>(op, "the folder holds weights of int8, which can be run, but not trained or converted; ",
                     "take the folder that they were made from");
  expect_int8(model);
}

}  // namespace attend
