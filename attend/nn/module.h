// Modules are plain structs of tensors and modules, with one visit(v) that names them all:
//
//   struct FeedForward {
//     Linear up, down;
//     void visit(auto&& v) { v("up", up), v("down", down); }
//   };
//
// Saving, loading, optimising and counting are functions over that visit; a module knows of none of them. Tensors are
// handles, so a copy of a module shares its parameters.
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

/// Walks a module and calls f(name, tensor) for every parameter that is there, in the order of the visits, with names
/// like "layers.0.attention.query.weight".
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
  /// A part with an empty name adds no level: its parameters are named as if they were the whole's own.
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

/// Handles on all parameters, with their names.
template <typename Module>
std::vector<NamedTensor> parameters(Module& module) {
  std::vector<NamedTensor> all;
  for_each_parameter(module, [&](std::string name, Tensor& tensor) { all.push_back({std::move(name), tensor}); });
  return all;
}

/// How many numbers there are to learn; weights that stand under several names (tied ones) count once.
template <typename Module>
std::int64_t count_parameters(Module& module) {
  std::int64_t count = 0;
  std::set<const std::byte*> seen;
  for_each_parameter(module, [&](const std::string&, Tensor& tensor) {
    if (seen.insert(tensor.raw()).second) count += tensor.numel();
  });
  return count;
}

/// The step of train_parameters for one tensor; `seen` collects the leaves made so far.
void set_trainable(Tensor& tensor, bool on, std::vector<Tensor>& seen);
/// Makes every parameter a leaf of the tape (or, with false, an ordinary tensor): what is to be trained. A tensor that
/// appears under several names (tied weights) is one leaf.
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
  bool allow_missing = false;              ///< parameters that the file lacks keep their values
  bool allow_unused = false;               ///< tensors of the file that no parameter wants are passed over
  std::vector<std::string> optional = {};  ///< names that the file may have or lack, whether parameters or not
};
/// What a load left undone; both lists are empty unless the options allow it.
struct LoadReport {
  std::vector<std::string> missing, unused;
};
/// Replaces each parameter's values by the file's tensor of its name, converted to float32 unless the parameter is one
/// of int8. Of tied weights, which
/// share their memory, one name is enough; where there are more, they must agree. Throws, with all names, when one is
/// missing or unused, has another shape, or is neither of both here; then no parameter has changed.
LoadReport load_parameters(std::span<NamedTensor> parameters, const Weights& weights, const LoadOptions& options = {});
/// The same from a folder, or from a file (see Weights).
template <typename Module>
LoadReport load_parameters(Module& module, const std::filesystem::path& path, const LoadOptions& options = {}) {
  std::vector<NamedTensor> all = parameters(module);
  return load_parameters(all, Weights(path), options);
}

/// The same for models that are only run: each parameter becomes the file's tensor itself, so that float32 weights stay
/// in the mapped file, are read when they are first needed, and are shared with other processes. They must not be
/// written to. A model that was made inside init::Skipped never had any of its own.
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
