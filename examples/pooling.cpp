// The first steps: tensors, and a gradient through the tape.
#include <attend/attend.h>

#include <iostream>

int main() {
  attend::Tensor x = attend::Tensor::from({1, 2, 3, 4}, {2, 2});
  attend::require_grad(x);
  attend::Tensor y = x.reshape({4});
  attend::backward(y, attend::Tensor::from({1, 2, 3, 4}, {4}));
  std::cout << "attend " << attend::version() << ", gradient " << attend::grad(x).shape() << '\n';
}
