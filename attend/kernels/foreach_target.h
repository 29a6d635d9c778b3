// Includes Highway's foreach_target.h for a selection of instruction sets: AVX-512, AVX2 and the x86-64 baseline; on
// ARM, NEON. SVE is excluded because its vectors have no compile-time size, and register tiles are arrays of
// vectors. Each further target costs compile time and binary size. In Highway, a newer target has a lower bit, so
// HWY_AVX3 - 1 is the set of all targets beyond AVX-512. There is no #pragma once: each kernel includes this file once,
// and Highway includes the kernel again for each target.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | (HWY_AVX3 - 1) | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // IWYU pragma: export
