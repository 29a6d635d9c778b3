// Vectorised Philox4x32-10, and dropout multipliers. Compiled once for each instruction set. The numbers are those of
// attend::philox, for every vector length.
#if defined(ATTEND_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_PHILOX_INL_H_
#undef ATTEND_KERNELS_PHILOX_INL_H_
#else
#define ATTEND_KERNELS_PHILOX_INL_H_
#endif
#include <hwy/highway.h>

#include "attend/core/random.h"
#include "attend/kernels/dropout_rate.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // the code below needs pairs of lanes

/// One counter for each 64-bit lane; at most 8 lanes, because a dropout block uses 8 counters.
using PhiloxLanes = hn::CappedTag<std::uint64_t, 8>;
using PhiloxVector = hn::Vec<PhiloxLanes>;

/// The four words of each counter, each in the low half of a lane. The high halves are undefined.
struct PhiloxWords {
  PhiloxVector word0, word1, word2, word3;
};

/// The keys of the ten rounds, which all counters of a stream share. A PhiloxKey converts to it.
struct PhiloxStream {
  std::uint64_t keys0[10], keys1[10];
  std::uint64_t stream;
  PhiloxStream(PhiloxKey key) : stream(key.stream) {  // NOLINT(google-explicit-constructor)
    auto k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) keys0[round] = k0, keys1[round] = k1;
  }
};

/// The words at the counters first, first + 1, …, one counter for each lane.
HWY_INLINE PhiloxWords Philox(const PhiloxStream& stream, std::uint64_t first) {
  const PhiloxLanes d;
  const hn::Repartition<std::uint32_t, PhiloxLanes> d32;
  alignas(64) static constexpr std::uint64_t kLanes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  // Multiplications use only the low half of a lane, so the high half need not be cleared between the rounds.
  const auto product = [&](PhiloxVector x, std::uint64_t multiplier) {
    return hn::MulEven(hn::BitCast(d32, x), hn::BitCast(d32, hn::Set(d, multiplier)));
  };
  PhiloxVector c0 = hn::Add(hn::Set(d, first), hn::Load(d, kLanes));
  PhiloxVector c1 = hn::ShiftRight<32>(c0);
  PhiloxVector c2 = hn::Set(d, stream.stream);
  PhiloxVector c3 = hn::Set(d, stream.stream >> 32);
  for (int round = 0; round < 10; ++round) {
    const PhiloxVector p0 = product(c0, 0xD2511F53), p1 = product(c2, 0xCD9E8D57);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, stream.keys0[round]));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, stream.keys1[round]));
    c1 = p1, c3 = p0;
  }
  return {c0, c1, c2, c3};
}

/// multipliers[i] = 0 if element i of the block of 64 is dropped, otherwise rate.scale.
HWY_INLINE void DropoutMultipliers(const PhiloxStream& stream, DropoutRate rate, std::uint64_t block,
                                   float* HWY_RESTRICT multipliers) {
  const PhiloxLanes d;
  const hn::Repartition<std::int32_t, PhiloxLanes> di;
  const hn::Repartition<float, PhiloxLanes> df;
  const auto last_dropped = hn::Set(di, static_cast<std::int32_t>(rate.threshold) - 1);
  const auto scale = hn::Set(df, rate.scale);
  const auto put = [&](hn::Vec<decltype(di)> bits, float* to) {
    hn::StoreU(hn::IfThenElseZero(hn::RebindMask(df, hn::Gt(bits, last_dropped)), scale), df, to);
  };
  const std::size_t counters = hn::Lanes(d);
  for (std::size_t c = 0; c < 8; c += counters) {
    const PhiloxWords w = Philox(stream, 8 * block + c);
    const auto pair = [&](PhiloxVector even, PhiloxVector odd) {
      return hn::OddEven(hn::BitCast(di, hn::ShiftLeft<32>(odd)), hn::BitCast(di, even));
    };
    const auto words01 = pair(w.word0, w.word1), words23 = pair(w.word2, w.word3);
    const auto low = hn::Set(di, 0xffff);
    const auto high = [&](auto words) { return hn::And(hn::ShiftRight<16>(words), low); };
    put(hn::And(words01, low), multipliers + 2 * c);
    put(high(words01), multipliers + 16 + 2 * c);
    put(hn::And(words23, low), multipliers + 32 + 2 * c);
    put(high(words23), multipliers + 48 + 2 * c);
  }
}

#else

using PhiloxStream = PhiloxKey;

HWY_INLINE void DropoutMultipliers(PhiloxKey key, DropoutRate rate, std::uint64_t block,
                                   float* HWY_RESTRICT multipliers) {
  for (std::size_t c = 0; c < 8; ++c) {
    const auto words = philox(key, 8 * block + c);
    for (std::size_t e = 0; e < 8; ++e) {
      const std::size_t part = e / 2, odd = e % 2;
      const std::uint32_t bits = words[part / 2 * 2 + odd] >> (part % 2 * 16) & 0xffff;
      multipliers[16 * part + 2 * c + odd] = bits < rate.threshold ? 0.f : rate.scale;
    }
  }
}

#endif

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
