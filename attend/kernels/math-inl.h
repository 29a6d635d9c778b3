// Vector functions for kernels: exp, log, tanh, sigmoid, erf, and the activations with their derivatives. Compiled once
// for each instruction set. float32, without branches. The error of exp is at most 2 ulp. The relative error of the
// others is at most 1e-6, except for GELU at large negative x, where 1 + erf(x) loses precision. NaN gives NaN.
#if defined(ATTEND_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_MATH_INL_H_
#undef ATTEND_KERNELS_MATH_INL_H_
#else
#define ATTEND_KERNELS_MATH_INL_H_
#endif
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// c0 + c1 x + c2 x^2 + …, by Horner's rule.
template <class D, class V>
HWY_INLINE V Polynomial(D d, V /*x*/, float last) {
  return hn::Set(d, last);
}
template <class D, class V, typename... Rest>
HWY_INLINE V Polynomial(D d, V x, float first, Rest... rest) {
  return hn::MulAdd(Polynomial(d, x, rest...), x, hn::Set(d, first));
}

/// Whether Min(number, x) and Max(number, x) are NaN if x is NaN. This depends on the target: x86 returns the second
/// operand, ARM returns NaN, and the targets without vector instructions return the number.
constexpr bool kMinMaxKeepNaN = (HWY_ARCH_X86 || HWY_ARCH_ARM) && (HWY_TARGET & (HWY_SCALAR | HWY_EMU128)) == 0;

/// max(low, x) and min(high, x); NaN gives NaN.
template <class D, class V>
HWY_INLINE V AtLeast(D d, float low, V x) {
  const V limit = hn::Set(d, low);
  return kMinMaxKeepNaN ? hn::Max(limit, x) : hn::IfThenElse(hn::Lt(x, limit), limit, x);
}
template <class D, class V>
HWY_INLINE V AtMost(D d, float high, V x) {
  const V limit = hn::Set(d, high);
  return kMinMaxKeepNaN ? hn::Min(limit, x) : hn::IfThenElse(hn::Gt(x, limit), limit, x);
}

/// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2. The result is 0 instead of a denormal below e^-87, and
/// infinity above the largest float.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  const hn::Rebind<std::int32_t, D> di;
  x = AtMost(d, 89.f, AtLeast(d, -87.3f, x));
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits. 126 is the bias of the exponent minus one.
  const V magic = hn::Set(d, 0x1.8p23f + 126.f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);  // ln 2 is split in two, so that the first product is exact
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  // The polynomial is 2 e^r, because the scale is 2^(n-1). So the scale for 2^128 does not overflow, and 2^-126 becomes
  // 0.
  const V p = Polynomial(d, r, 2.f, 2.f, 2.f * 0.49999230f, 2.f * 0.16667115f, 2.f * 0.04189033f, 2.f * 0.00831250f);
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// ln x, with x = 2^n m and m in [sqrt(1/2), sqrt(2)). ln m is the polynomial of Cephes in m - 1. ln 0 is -infinity;
/// negative x gives NaN. Denormals are treated as the smallest normal number.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  const hn::Rebind<std::int32_t, D> di;
  const V smallest = hn::Set(d, std::numeric_limits<float>::min());
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto bits = hn::BitCast(di, hn::Max(smallest, x));
  // Shifts sqrt(1/2) to 1, so that the exponent field is n + 127 for the whole interval of m.
  const auto moved = hn::Add(bits, hn::Set(di, 0x3f800000 - 0x3f3504f3));
  const V n = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(moved), hn::Set(di, 127)));
  const V f = hn::Sub(hn::BitCast(d, hn::Add(hn::And(moved, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f3504f3))),
                      hn::Set(d, 1.f));
  const V f2 = hn::Mul(f, f);
  const V p = Polynomial(d, f, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f, -1.6668057665e-1f,
                         1.4249322787e-1f, -1.2420140846e-1f, 1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);
  V y = hn::Mul(hn::Mul(f, f2), p);
  y = hn::MulAdd(n, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), f2, y);
  y = hn::MulAdd(n, hn::Set(d, 0.693359375f), hn::Add(f, y));
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  return hn::IfThenElse(hn::Lt(x, infinity), y, hn::Add(x, y));  // infinity and NaN stay
}

/// 1 / (1 + e^-x).
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  return hn::Div(hn::Set(d, 1.f), hn::Add(hn::Set(d, 1.f), Exp(d, hn::Neg(x))));
}

/// The value and the derivative of a function; computing both together is cheaper.
template <class V>
struct WithDerivative {
  V value, derivative;
};

/// The sigmoid s and its derivative s (1 - s). 1 - s is computed as s e^-x, which is precise even if s is almost 1.
template <class D, class V>
HWY_INLINE WithDerivative<V> SigmoidWithDerivative(D d, V x) {
  const V e = Exp(d, AtMost(d, 80.f, hn::Neg(x)));
  const V s = hn::Div(hn::Set(d, 1.f), hn::Add(hn::Set(d, 1.f), e));
  return {s, hn::Mul(hn::Mul(s, s), e)};
}

/// tanh x as the odd rational function of Eigen. For x > 7.9 it is 1 in float32.
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  x = AtMost(d, 7.90531110763549805f, AtLeast(d, -7.90531110763549805f, x));
  const V x2 = hn::Mul(x, x);
  const V p = Polynomial(d, x2, 4.89352455891786e-03f, 6.37261928875436e-04f, 1.48572235717979e-05f,
                         5.12229709037114e-08f, -8.60467152213735e-11f, 2.00018790482477e-13f, -2.76076847742355e-16f);
  const V q =
      Polynomial(d, x2, 4.89352518554385e-03f, 2.26843463243900e-03f, 1.18534705686654e-04f, 1.19825839466702e-06f);
  return hn::Div(hn::Mul(x, p), q);
}

/// erf x as the odd rational function of Eigen. For x > 4 it is 1 in float32.
template <class D, class V>
HWY_INLINE V Erf(D d, V x) {
  x = AtMost(d, 4.f, AtLeast(d, -4.f, x));
  const V x2 = hn::Mul(x, x);
  const V p = Polynomial(d, x2, -1.60960333262415e-02f, -2.95459980854025e-03f, -7.34990630326855e-04f,
                         -5.69250639462346e-05f, -2.10102402082508e-06f, 2.77068142495902e-08f, -2.72614225801306e-10f);
  const V q = Polynomial(d, x2, -1.42647390514189e-02f, -7.37332916720468e-03f, -1.68282697438203e-03f,
                         -2.13374055278905e-04f, -1.45660718464996e-05f);
  return hn::Div(hn::Mul(x, p), q);
}

/// The distribution function of the normal distribution: Φ(x) = (1 + erf(x / sqrt 2)) / 2.
template <class D, class V>
HWY_INLINE V NormalCdf(D d, V x) {
  const V half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half);
}

// ---- Activations and their derivatives. The derivatives of ReLU, tanh and sigmoid are functions of the output y; the
// others are computed from the input x, together with the value. ----

template <class D, class V>
HWY_INLINE V Relu(D d, V x) {
  return AtLeast(d, 0.f, x);
}
template <class D, class V>
HWY_INLINE V ReluDerivative(D d, V y) {
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), hn::Set(d, 1.f));
}
template <class D, class V>
HWY_INLINE V TanhDerivative(D d, V y) {
  return hn::NegMulAdd(y, y, hn::Set(d, 1.f));
}
template <class D, class V>
HWY_INLINE V SigmoidDerivative(D /*d*/, V y) {
  return hn::NegMulAdd(y, y, y);
}

/// SiLU: x sigmoid(x); derivative s + x s (1 - s).
template <class D, class V>
HWY_INLINE V Silu(D d, V x) {
  return hn::Mul(x, Sigmoid(d, x));
}
template <class D, class V>
HWY_INLINE WithDerivative<V> SiluWithDerivative(D d, V x) {
  const WithDerivative<V> s = SigmoidWithDerivative(d, x);
  return {hn::Mul(x, s.value), hn::MulAdd(x, s.derivative, s.value)};
}

/// GELU (Hendrycks & Gimpel 2016): x Φ(x); derivative Φ(x) + x φ(x).
template <class D, class V>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(x, NormalCdf(d, x));
}
template <class D, class V>
HWY_INLINE WithDerivative<V> GeluWithDerivative(D d, V x) {
  const V cdf = NormalCdf(d, x), density = Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  return {hn::Mul(x, cdf), hn::MulAdd(hn::Mul(x, hn::Set(d, 0.39894228f)), density, cdf)};
}

/// GELU with the tanh approximation: x (1 + tanh(u)) / 2 with u = sqrt(2/π) (x + 0.044715 x^3). It is computed as x
/// sigmoid(2u), which is cheaper, and precise for large negative x.
template <class D, class V>
HWY_INLINE V GeluTanh(D d, V x) {
  const V x2 = hn::Mul(x, x);
  return hn::Mul(x, Sigmoid(d, hn::Mul(x, Polynomial(d, x2, 1.5957691f, 0.071354814f))));
}
template <class D, class V>
HWY_INLINE WithDerivative<V> GeluTanhWithDerivative(D d, V x) {
  const V x2 = hn::Mul(x, x);
  const WithDerivative<V> s = SigmoidWithDerivative(d, hn::Mul(x, Polynomial(d, x2, 1.5957691f, 0.071354814f)));
  const V slope = hn::Mul(x, Polynomial(d, x2, 1.5957691f, 3.f * 0.071354814f));  // x times the derivative of 2u
  return {hn::Mul(x, s.value), hn::MulAdd(slope, s.derivative, s.value)};
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
