// int8 quantisation of models: finds the weight matrices of all linear layers and embeddings of a module. Norms, biases
// and other tensors are not quantised.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"

namespace attend {

/// Calls f(weight, scales) for the weight of every Linear and Embedding.
template <typename F>
class MatrixVisitor {
 public:
  explicit MatrixVisitor(F& f) : f_(f) {}

  void operator()(std::string_view /*name*/, Tensor& /*not the weight of a Linear or Embedding*/) {}
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

/// Replaces every matrix with an uninitialised int8 one, and allocates its scales. Load the values afterwards.
template <typename Module>
void expect_int8(Module& module) {
  for_each_matrix(module, [](Tensor& weight, Tensor& scales) {
    if (!weight.defined()) return;
    weight = Tensor::empty(weight.shape(), DType::i8), scales = Tensor::empty({weight.dim(0)});
  });
}

}  // namespace attend
