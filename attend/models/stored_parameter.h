// Parameters in the form of a folder's tensors. Some families store several matrices as one: the projections of
// queries, keys and values (GPT-2, ModernBERT), or both matrices of a gated network (ModernBERT).
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attend/nn/module.h"

namespace attend {

/// A tensor of a folder and the parameters that it holds, joined along the first dimension.
struct StoredParameter {
  std::string name;
  std::vector<Tensor*> parts;

  Shape shape() const;
  /// The tensor for the folder: a copy, unless there is only one part.
  Tensor joined() const;
  /// Makes the parts views of a tensor of this shape.
  void assign(const Tensor& whole) const;
};

/// Exchanges two levels of the rows: group j of part i becomes group i of part j.
Tensor regrouped(const Tensor& from, std::int64_t parts, std::int64_t groups);

/// The parameters of a module, in the order of visit(). Those to which name_of(name) gives the same name are parts of
/// one tensor. The pointers are valid as long as the module is not moved.
template <typename Module, typename NameOf>
std::vector<StoredParameter> stored_parameters_of(Module& module, NameOf&& name_of) {
  std::vector<StoredParameter> all;
  for_each_parameter(module, [&](const std::string& name, Tensor& tensor) {
    std::string stored = name_of(name);
    auto found = std::ranges::find(all, stored, &StoredParameter::name);
    if (found == all.end()) found = all.insert(all.end(), {std::move(stored), {}});
    found->parts.push_back(&tensor);
  });
  return all;
}

}  // namespace attend
