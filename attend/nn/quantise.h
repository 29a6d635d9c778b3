// Models in int8: a visitor that finds the matrices of a module's linear layers and embeddings. Norms, biases and other
// tensors stay as they are.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"

namespace attend {

/// Calls f(weight, scales) for every matrix.
template <typename F>
class MatrixVisitor {
 public:
  explicit MatrixVisitor(F& f) : f_(f) {}

  void operator()(std::string_view /*name*/, Tensor& /*no matrix of a layer*/) {}
  void operator()(std::string_view /*name*/, Linear& layer) { f_(layer.weight, layer.scales); }
  void operator()(std::string_view /*name*/, Embedding& table) { f_(table.weight, table.scales); }
  template <typename Part>
  void operator()(std::string_view name, std::vector<Part>& parts) {
    for (Part& part : parts) (*this)(name, part);
  }
  template <typename Part>
  void operator()(std::string_view name, std::optional<Part>& part) {
    if (part) (*this)(name, *part);
  }
  template <typename Part>
  void operator()(std::string_view /*name*/, Part& part) requires requires(MatrixVisitor v) {
    part.visit(v);
  }
  { part.visit(*this); }

 private:
  F& f_;
};

template <typename Module, typename F>
void for_each_matrix(Module& module, F&& f) {
  MatrixVisitor<std::remove_reference_t<F>> visitor(f);
  module.visit(visitor);
}

/// Every matrix becomes int8 without values: to be loaded into.
template <typename Module>
void expect_int8(Module& module) {
  for_each_matrix(module, [](Tensor& weight, Tensor& scales) {
    if (!weight.defined()) return;
    weight = Tensor::empty(weight.shape(), DType::i8), scales = Tensor::empty({weight.dim(0)});
  });
}

}  // namespace attend
