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
using Shorts = hn::ScalableTag<std::int16_t>;
using ShortVector = hn::Vec<Shorts>;
using IntVector = hn::Vec<hn::Rebind<std::int32_t, Floats>>;
using ShortsOfInts = hn::Rebind<std::int16_t, Floats>;
using Bytes = hn::Rebind<std::int8_t, Floats>;          // as many as there are floats in a vector
using BytesOfShorts = hn::Rebind<std::int8_t, Shorts>;  // as many as there are shorts in a vector

HWY_INLINE FloatVector ToFloats(hn::Vec<Bytes> v) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), v));
}

/// Elements [index, index + lanes). Bytes and shorts are loaded as shorts, of which a vector has twice as many.
struct Whole {
  std::int64_t index;
  HWY_INLINE FloatVector Load(const float* p) const { return hn::LoadU(Floats(), p + index); }
  HWY_INLINE ShortVector Load(const std::int16_t* p) const { return hn::LoadU(Shorts(), p + index); }
  HWY_INLINE ShortVector Load(const std::int8_t* p) const {
    return hn::PromoteTo(Shorts(), hn::LoadU(BytesOfShorts(), p + index));
  }
  HWY_INLINE FloatVector LoadFloats(const std::int8_t* p) const { return ToFloats(hn::LoadU(Bytes(), p + index)); }
  HWY_INLINE void Store(FloatVector v, float* p) const { hn::StoreU(v, Floats(), p + index); }
  HWY_INLINE void Store(IntVector v, std::int16_t* p) const {
    hn::StoreU(hn::DemoteTo(ShortsOfInts(), v), ShortsOfInts(), p + index);
  }
  /// v where there are elements, `other` beyond the end.
  HWY_INLINE FloatVector Or(FloatVector v, float /*other*/) const { return v; }
};

/// Elements [index, index + count) with count < lanes.
struct Rest {
  std::int64_t index;
  std::size_t count;
  HWY_INLINE FloatVector Load(const float* p) const { return LoadFirst(Floats(), p); }
  HWY_INLINE ShortVector Load(const std::int16_t* p) const { return LoadFirst(Shorts(), p); }
  HWY_INLINE ShortVector Load(const std::int8_t* p) const {
    return hn::PromoteTo(Shorts(), LoadFirst(BytesOfShorts(), p));
  }
  HWY_INLINE FloatVector LoadFloats(const std::int8_t* p) const { return ToFloats(LoadFirst(Bytes(), p)); }
  HWY_INLINE void Store(FloatVector v, float* p) const {
    HWY_ALIGN float buffer[hn::MaxLanes(Floats())];
    hn::Store(v, Floats(), buffer);
    std::memcpy(p + index, buffer, count * sizeof(float));
  }
  HWY_INLINE void Store(IntVector v, std::int16_t* p) const {
    HWY_ALIGN std::int16_t buffer[hn::MaxLanes(Floats())];
    hn::Store(hn::DemoteTo(ShortsOfInts(), v), ShortsOfInts(), buffer);
    std::memcpy(p + index, buffer, count * sizeof(std::int16_t));
  }
  HWY_INLINE FloatVector Or(FloatVector v, float other) const {
    return hn::IfThenElse(hn::FirstN(Floats(), count), v, hn::Set(Floats(), other));
  }

 private:
  template <class D>
  HWY_INLINE hn::Vec<D> LoadFirst(D d, const hn::TFromD<D>* p) const {
    HWY_ALIGN hn::TFromD<D> buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, p + index, count * sizeof(buffer[0]));
    return hn::Load(d, buffer);
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

/// body(place, k) for all of [0, n), in vectors of D, with k in 0 … kTurns - 1 in turn.
template <class D, int kTurns, class Body>
HWY_INLINE void ForVectorsInTurns(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  std::int64_t i = 0;
  for (; i + kTurns * lanes <= n; i += kTurns * lanes) {
    _Pragma("GCC unroll 4") for (int k = 0; k < kTurns; ++k) body(Whole{i + k * lanes}, k);
  }
  for (; i + lanes <= n; i += lanes) body(Whole{i}, 0);
  if (i < n) body(Rest{i, static_cast<std::size_t>(n - i)}, 1);
}

/// By four: for sums in four independent chains, as one chain would wait for the adder.
template <class Body>
HWY_INLINE void ForVectorsByFour(std::int64_t n, const Body& body) {
  ForVectorsInTurns<Floats, 4>(n, body);
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
