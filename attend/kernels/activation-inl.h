// Maps an Activation to its vector functions. Compiled once for each instruction set.
#if defined(ATTEND_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ACTIVATION_INL_H_
#undef ATTEND_KERNELS_ACTIVATION_INL_H_
#else
#define ATTEND_KERNELS_ACTIVATION_INL_H_
#endif
#include <hwy/highway.h>

#include "attend/kernels/activation.h"
#include "attend/kernels/loop-inl.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

/// Calls use(forward, derivative, both) with the functions of the activation. forward(d, x) is the value. derivative(d,
/// v) is the derivative, where v is the output if derivative_from_output(activation), otherwise the input. both(d, x)
/// returns a WithDerivative.
template <class Use>
HWY_INLINE void WithActivation(Activation activation, const Use& use) {
  const auto of_input = [&](const auto& forward, const auto& both) ATTEND_BODY {
    use(
        forward, [&](auto d, auto x) ATTEND_BODY { return both(d, x).derivative; }, both);
  };
  const auto of_output = [&](const auto& forward, const auto& derivative) ATTEND_BODY {
    use(forward, derivative, [&](auto d, auto x) ATTEND_BODY {
      const auto y = forward(d, x);
      return WithDerivative<decltype(x)>{y, derivative(d, y)};
    });
  };
#define ATTEND_FUNCTION(name) [](auto d, auto v) ATTEND_BODY { return name(d, v); }
  switch (activation) {
    case Activation::none:
      return of_output([](auto, auto v) ATTEND_BODY { return v; },
                       [](auto d, auto) ATTEND_BODY { return hn::Set(d, 1.f); });
    case Activation::relu:
      return of_output(ATTEND_FUNCTION(Relu), ATTEND_FUNCTION(ReluDerivative));
    case Activation::gelu:
      return of_input(ATTEND_FUNCTION(Gelu), ATTEND_FUNCTION(GeluWithDerivative));
    case Activation::gelu_tanh:
      return of_input(ATTEND_FUNCTION(GeluTanh), ATTEND_FUNCTION(GeluTanhWithDerivative));
    case Activation::silu:
      return of_input(ATTEND_FUNCTION(Silu), ATTEND_FUNCTION(SiluWithDerivative));
    case Activation::tanh:
      return of_output(ATTEND_FUNCTION(Tanh), ATTEND_FUNCTION(TanhDerivative));
    case Activation::sigmoid:
      return of_output(ATTEND_FUNCTION(Sigmoid), ATTEND_FUNCTION(SigmoidDerivative));
  }
#undef ATTEND_FUNCTION
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
