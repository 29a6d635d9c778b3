#include "attend/core/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"

namespace attend {
namespace {

TEST(Convert, EveryHalfIsUnchangedByARoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_f16(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(value))));
    else
      ASSERT_EQ(f16_from_float(value), half) << bits;
    const float brain = float_from_bf16(half);
    if (std::isnan(brain))
      EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(brain))));
    else
      ASSERT_EQ(bf16_from_float(brain), half) << bits;
  }
}

TEST(Convert, KnownValuesAreConverted) {
  EXPECT_EQ(float_from_f16(0x3C00), 1.f);
  EXPECT_EQ(float_from_f16(0xC000), -2.f);
  EXPECT_EQ(float_from_f16(0x7BFF), 65504.f);
  EXPECT_EQ(float_from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(float_from_f16(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float_from_bf16(0x3F80), 1.f);
}

TEST(Convert, RoundsToTheNearestWithTiesToEven) {
  EXPECT_EQ(f16_from_float(1.f + 0x1p-11f), 0x3C00);             // a tie, down to even
  EXPECT_EQ(f16_from_float(1.f + 0x3p-11f), 0x3C02);             // a tie, up to even
  EXPECT_EQ(f16_from_float(1.f + 0x1p-11f + 0x1p-20f), 0x3C01);  // just above the tie
  EXPECT_EQ(f16_from_float(0x1p-25f), 0);                        // a tie between zero and the smallest subnormal
  EXPECT_EQ(f16_from_float(0x3p-26f), 1);
  EXPECT_EQ(f16_from_float(65519.f), 0x7BFF);
  EXPECT_EQ(f16_from_float(65520.f), 0x7C00);
  EXPECT_EQ(f16_from_float(-1e9f), 0xFC00);
  EXPECT_EQ(bf16_from_float(1.f + 0x1p-8f), 0x3F80);
  EXPECT_EQ(bf16_from_float(1.f + 0x3p-8f), 0x3F82);
}

TEST(Convert, TensorsAreConvertedInBothDirections) {
  const Tensor x = Tensor::from({0.5f, -3.f, 1024.f}, {3});
  EXPECT_EQ(convert(convert(x, DType::f16), DType::f32).to_vector(), x.to_vector());
  EXPECT_EQ(convert(convert(x, DType::bf16), DType::f32).to_vector(), x.to_vector());
  EXPECT_EQ(convert(Tensor::ids({-7, 9}, {2}), DType::f32).to_vector(), (std::vector<float>{-7.f, 9.f}));
  EXPECT_ERROR(convert(x, DType::i8), "[convert] no conversion from float32 to int8");
}

}  // namespace
}  // namespace attend
