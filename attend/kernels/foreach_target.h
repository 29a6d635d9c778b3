// Highway's foreach_target.h, for the instruction sets that we build: AVX-512, AVX2, SSE4 and what every x86-64 has; on
// ARM, NEON (register tiles are arrays of vectors, and SVE's vectors have no size that an array could use). Each more
// costs compile time and size. In Highway a newer set has a lower bit, so HWY_AVX3 - 1 stands for all beyond AVX-512,
// whatever this Highway knows of them. No #pragma once: each kernel includes it once, and Highway includes the kernel
// again for each target.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | (HWY_AVX3 - 1) | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#include <hwy/foreach_target.h>  // IWYU pragma: export
