// Modules are plain structs of tensors and other modules. A function visit(v) names all of them:
//
//   struct FeedForward {
//     Linear up, down;
//     void visit(auto&& v) { v("up", up), v("down", down); }
//   };
//
// Saving, loading, optimising and counting parameters are free functions that call visit(). Tensors are handles, so a
// copy of a module shares its parameters.
#pragma once
#include <concepts>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/formats/safetensors.h"
#include "attend/formats/weights.h"

namespace attend {

/// Calls f(name, tensor) for every defined parameter of a module, in the order of visit(). A name has the form
/// "layers.0.attention.query.weight".
template <typename F>
class ParameterVisitor {
 public:
  ParameterVisitor(F& f, std::string prefix) : f_(f), prefix_(std::move(prefix)) {}

  void operator()(std::string_view name, Tensor& tensor) {
    if (tensor.defined()) f_(prefix_ + std::string(name), tensor);
  }
  template <typename Part>
  void operator()(std::string_view name, std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) (*this)(std::string(name) + "." + std::to_string(i), parts[i]);
  }
  template <typename Part>
  void operator()(std::string_view name, std::optional<Part>& part) {
    if (part) (*this)(name, *part);
  }
  /// A part with an empty name adds no prefix: its parameters are named like those of the module that contains it.
  template <typename Part>
  void operator()(std::string_view name, Part& part) requires requires(ParameterVisitor v) {
    part.visit(v);
  }
  {
    ParameterVisitor inner(f_, name.empty() ? prefix_ : prefix_ + std::string(name) + ".");
    part.visit(inner);
  }

 private:
  F& f_;
  std::string prefix_;
};

template <typename Module, typename F>
void for_each_parameter(Module& module, F&& f) {
  ParameterVisitor<std::remove_reference_t<F>> visitor(f, "");
  module.visit(visitor);
}

/// All parameters with their names. The tensors share memory with the module.
template <typename Module>
std::vector<NamedTensor> parameters(Module& module) {
  std::vector<NamedTensor> all;
  for_each_parameter(module, [&](std::string name, Tensor& tensor) { all.push_back({std::move(name), tensor}); });
  return all;
}

/// The number of elements of all parameters. Tied weights, which have several names, count once.
template <typename Module>
std::int64_t count_parameters(Module& module) {
  std::int64_t count = 0;
  std::set<const std::byte*> seen;
  for_each_parameter(module, [&](const std::string&, Tensor& tensor) {
    if (seen.insert(tensor.raw()).second) count += tensor.numel();
  });
  return count;
}

/// Implements train_parameters for one tensor; `seen` collects the leaves that exist so far.
void set_trainable(Tensor& tensor, bool on, std::vector<Tensor>& seen);
/// Makes every parameter a leaf of the tape, so that it gets a gradient; with `on` = false, makes it a constant again.
/// Tied weights, which have several names, become one leaf.
template <typename Module>
void train_parameters(Module& module, bool on = true) {
  std::vector<Tensor> seen;
  for_each_parameter(module, [&](const std::string&, Tensor& tensor) { set_trainable(tensor, on, seen); });
}

template <typename Module>
void save_parameters(Module& module, const std::filesystem::path& path) {
  save_safetensors(path, parameters(module));
}

struct LoadOptions {
  bool allow_missing = false;              ///< parameters that are not in the file keep their values
  bool allow_unused = false;               ///< tensors of the file that are no parameters are ignored
  std::vector<std::string> optional = {};  ///< names that may be missing or unused without an error
};
/// The missing and unused names of a load. Both lists are empty unless the options allow such names.
struct LoadReport {
  std::vector<std::string> missing, unused;
};
/// Copies tensors of a file to the parameters with the same names. Values are converted to the
/// parameter's dtype; int8 is not converted. For tied weights, one of the names is enough; if the file has several of
/// them, they must be equal. Throws if a name is missing or unused, with a list of such names, or if a tensor has the
/// wrong shape or dtype. No parameter has changed then.
LoadReport load_parameters(std::span<NamedTensor> parameters, const Weights& weights, const LoadOptions& options = {});
/// Loads the parameters of a module from a folder or a file (see Weights).
template <typename Module>
LoadReport load_parameters(Module& module, const std::filesystem::path& path, const LoadOptions& options = {}) {
  std::vector<NamedTensor> all = parameters(module);
  return load_parameters(all, Weights(path), options);
}

/// Like load_parameters, but for inference only: replaces each parameter with the tensor of the file, without a copy.
/// So float32 weights stay in the mapped file, are read on first access, and are shared with other processes. They are
/// read-only. Construct the model inside an init::Skipped scope, so that its own weights never use memory.
LoadReport borrow_parameters(std::span<NamedTensor> parameters, const Weights& weights,
                             const LoadOptions& options = {});
template <typename Module>
LoadReport borrow_parameters(Module& module, const std::filesystem::path& path, const LoadOptions& options = {}) {
  std::vector<NamedTensor> all = parameters(module);
  LoadReport report = borrow_parameters(all, Weights(path), options);
  auto next = all.begin();
  for_each_parameter(module, [&](const std::string&, Tensor& tensor) { tensor = (next++)->tensor; });
  return report;
}

}  // namespace attend
