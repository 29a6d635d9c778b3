#include "attend/nn/norm.h"

#include <gtest/gtest.h>

#include "attend/nn/module.h"
#include "tests/support/gradcheck.h"

namespace attend {
namespace {

std::vector<std::string> names_of(Norm norm) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(norm)) names.push_back(parameter.name);
  return names;
}

TEST(Norm, NamesItsParameters) {
  EXPECT_EQ(names_of(Norm(3)), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(names_of(Norm(3, {.bias = false})), std::vector<std::string>{"weight"});
  EXPECT_EQ(names_of(Norm(3, {.kind = NormKind::rms_norm})), std::vector<std::string>{"weight"});
}

TEST(Norm, EqualsTheOpOfItsKind) {
  const Tensor x = test::normal({2, 5}, 1), residual = test::normal({2, 5}, 2);
  Norm layer(5, {.eps = 0.1f}), rms(5, {.kind = NormKind::rms_norm, .eps = 0.1f});
  layer.gain = rms.gain = test::normal({5}, 3), layer.bias = test::normal({5}, 4);
  EXPECT_EQ(layer(x).to_vector(), layer_norm(x, layer.gain, layer.bias, 0.1f).to_vector());
  EXPECT_EQ(rms(x).to_vector(), rms_norm(x, rms.gain, 0.1f).to_vector());
  EXPECT_EQ(layer(x, residual).normed.to_vector(),
            add_layer_norm(x, residual, layer.gain, layer.bias, 0.1f).normed.to_vector());
  EXPECT_EQ(rms(x, residual).normed.to_vector(), add_rms_norm(x, residual, rms.gain, 0.1f).normed.to_vector());
  EXPECT_EQ(rms(x, residual).sum.to_vector(), layer(x, residual).sum.to_vector());
}

}  // namespace
}  // namespace attend
