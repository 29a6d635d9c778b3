// Loops over a row in vectors, once per instruction set. The body is a lambda that gets a place: a whole vector, or the
// last few elements, which are read as zeros beyond the end and never written there.
#if defined(ATTEND_KERNELS_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_LOOP_INL_H_
#undef ATTEND_KERNELS_LOOP_INL_H_
#else
#define ATTEND_KERNELS_LOOP_INL_H_
#endif
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// A loop's body has two callers, the whole vectors and the rest, which is one too many for compilers to inline it
// unasked.
#ifndef ATTEND_BODY
#define ATTEND_BODY __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Floats>;

/// Elements [index, index + lanes).
struct Whole {
  std::int64_t index;
  HWY_INLINE FloatVector Load(const float* p) const { return hn::LoadU(Floats(), p + index); }
  HWY_INLINE void Store(FloatVector v, float* p) const { hn::StoreU(v, Floats(), p + index); }
  /// v where there are elements, `other` beyond the end.
  HWY_INLINE FloatVector Or(FloatVector v, float /*other*/) const { return v; }
};

/// Elements [index, index + count) with count < lanes.
struct Rest {
  std::int64_t index;
  std::size_t count;
  HWY_INLINE FloatVector Load(const float* p) const {
    HWY_ALIGN float buffer[hn::MaxLanes(Floats())] = {};
    std::memcpy(buffer, p + index, count * sizeof(float));
    return hn::Load(Floats(), buffer);
  }
  HWY_INLINE void Store(FloatVector v, float* p) const {
    HWY_ALIGN float buffer[hn::MaxLanes(Floats())];
    hn::Store(v, Floats(), buffer);
    std::memcpy(p + index, buffer, count * sizeof(float));
  }
  HWY_INLINE FloatVector Or(FloatVector v, float other) const {
    return hn::IfThenElse(hn::FirstN(Floats(), count), v, hn::Set(Floats(), other));
  }
};

/// body(place) for all of [0, n).
template <class Body>
HWY_INLINE void ForVectors(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(Whole{i});
  if (i < n) body(Rest{i, static_cast<std::size_t>(n - i)});
}

/// body(place, k) for all of [0, n), with k in 0..3 in turn: for sums in four independent chains, as one chain would
/// wait for the adder.
template <class Body>
HWY_INLINE void ForVectorsByFour(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    body(Whole{i}, 0);
    body(Whole{i + lanes}, 1);
    body(Whole{i + 2 * lanes}, 2);
    body(Whole{i + 3 * lanes}, 3);
  }
  for (; i + lanes <= n; i += lanes) body(Whole{i}, 0);
  if (i < n) body(Rest{i, static_cast<std::size_t>(n - i)}, 1);
}

/// Four running sums and their total.
struct Sums {
  FloatVector part[4];
  HWY_INLINE Sums() : part{hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats())} {}
  HWY_INLINE float Total() const {
    return hn::GetLane(hn::SumOfLanes(Floats(), hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]))));
  }
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
