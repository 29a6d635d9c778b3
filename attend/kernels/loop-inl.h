// Loops over the vectors of a row. Compiled once for each instruction set. The body is a lambda with a parameter of
// type Whole (a whole vector) or Rest (the last elements). Rest reads zeros beyond the end, and does not write there.
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

// A loop calls its body for whole vectors and for the rest. With two callers, compilers do not inline it by themselves.
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
using Bytes = hn::Rebind<std::int8_t, Floats>;          // one for each float of a vector
using BytesOfShorts = hn::Rebind<std::int8_t, Shorts>;  // one for each short of a vector

HWY_INLINE FloatVector ToFloats(hn::Vec<Bytes> v) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(hn::Rebind<std::int32_t, Floats>(), v));
}

using HalfBits = hn::Rebind<std::uint16_t, Floats>;
HWY_INLINE FloatVector ToFloats(hn::Vec<HalfBits> bits, hwy::bfloat16_t /*kind*/) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<std::uint32_t, Floats>(), bits)));
}
HWY_INLINE FloatVector ToFloats(hn::Vec<HalfBits> bits, hwy::float16_t /*kind*/) {
  return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), bits));
}

/// Elements [index, index + lanes). Load() converts bytes and shorts to shorts; a vector has twice as many shorts as
/// floats.
struct Whole {
  std::int64_t index;
  HWY_INLINE FloatVector Load(const float* p) const { return hn::LoadU(Floats(), p + index); }
  HWY_INLINE ShortVector Load(const std::int16_t* p) const { return hn::LoadU(Shorts(), p + index); }
  HWY_INLINE ShortVector Load(const std::int8_t* p) const {
    return hn::PromoteTo(Shorts(), hn::LoadU(BytesOfShorts(), p + index));
  }
  HWY_INLINE FloatVector Load(const hwy::bfloat16_t* p) const { return LoadHalf(p); }
  HWY_INLINE FloatVector Load(const hwy::float16_t* p) const { return LoadHalf(p); }
  HWY_INLINE FloatVector LoadFloats(const std::int8_t* p) const { return ToFloats(hn::LoadU(Bytes(), p + index)); }
  HWY_INLINE void Store(FloatVector v, float* p) const { hn::StoreU(v, Floats(), p + index); }
  HWY_INLINE void Store(IntVector v, std::int16_t* p) const {
    hn::StoreU(hn::DemoteTo(ShortsOfInts(), v), ShortsOfInts(), p + index);
  }
  /// v, with the lanes beyond the end replaced by `other`.
  HWY_INLINE FloatVector Or(FloatVector v, float /*other*/) const { return v; }

 private:
  template <class Half>
  HWY_INLINE FloatVector LoadHalf(const Half* p) const {
    return ToFloats(hn::LoadU(HalfBits(), reinterpret_cast<const std::uint16_t*>(p) + index), Half());
  }
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
  HWY_INLINE FloatVector Load(const hwy::bfloat16_t* p) const { return LoadHalf(p); }
  HWY_INLINE FloatVector Load(const hwy::float16_t* p) const { return LoadHalf(p); }
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
  template <class Half>
  HWY_INLINE FloatVector LoadHalf(const Half* p) const {
    return ToFloats(LoadFirst(HalfBits(), reinterpret_cast<const std::uint16_t*>(p)), Half());
  }
  template <class D>
  HWY_INLINE hn::Vec<D> LoadFirst(D d, const hn::TFromD<D>* p) const {
    HWY_ALIGN hn::TFromD<D> buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, p + index, count * sizeof(buffer[0]));
    return hn::Load(d, buffer);
  }
};

/// Calls body(place) for all of [0, n).
template <class Body>
HWY_INLINE void ForVectors(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(Whole{i});
  if (i < n) body(Rest{i, static_cast<std::size_t>(n - i)});
}

/// Calls body(place, k) for all of [0, n), in vectors of D. k cycles through 0 … kTurns - 1.
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

/// ForVectorsInTurns with k in 0 … 3, for sums in four independent accumulators. A single one would be limited by the
/// latency of additions.
template <class Body>
HWY_INLINE void ForVectorsByFour(std::int64_t n, const Body& body) {
  ForVectorsInTurns<Floats, 4>(n, body);
}

/// Four accumulators, and their total.
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
