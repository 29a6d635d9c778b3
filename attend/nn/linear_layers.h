// Visits the linear layers of a module with their names: for adapters, which belong to layers and not to tensors.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/nn/linear.h"

namespace attend {

/// Calls f(name, layer) for every Linear, in the order of visit(). A name has the form "layers.0.attention.query".
template <typename F>
class LinearVisitor {
 public:
  LinearVisitor(F& f, std::string prefix) : f_(f), prefix_(std::move(prefix)) {}

  void operator()(std::string_view /*name*/, Tensor& /*not of a Linear*/) {}
  void operator()(std::string_view name, Linear& layer) {
    if (layer.defined()) f_(prefix_ + std::string(name), layer);
  }
  template <typename Part>
  void operator()(std::string_view name, std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) (*this)(std::string(name) + "." + std::to_string(i), parts[i]);
  }
  template <typename Part>
  void operator()(std::string_view name, std::optional<Part>& part) {
    if (part) (*this)(name, *part);
  }
  template <typename Part>
  void operator()(std::string_view name, Part& part) requires requires(LinearVisitor v) {
    part.visit(v);
  }
  {
    LinearVisitor inner(f_, name.empty() ? prefix_ : prefix_ + std::string(name) + ".");
    part.visit(inner);
  }

 private:
  F& f_;
  std::string prefix_;
};

template <typename Module, typename F>
void for_each_linear(Module& module, F&& f) {
  LinearVisitor<std::remove_reference_t<F>> visitor(f, "");
  module.visit(visitor);
}

}  // namespace attend
