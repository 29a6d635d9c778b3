// Which instructions the kernels use on this machine, and the libraries they come from.
#pragma once
#include <string>

namespace attend::kernels {

/// The instruction set that our own kernels run with: "AVX-512", "AVX2", "SSE2", "NEON", … as Highway names them.
std::string simd_instructions();
/// The most that oneDNN will use here: "AVX2", "AVX-512 VNNI", … It can be lowered with ONEDNN_MAX_CPU_ISA.
std::string onednn_instructions();

/// Makes our own kernels run with what nearly every CPU has (true; SSE4 on x86), or with the best again (false). For
/// tests, and to find out whether a fault is an instruction set's. Not while other threads compute.
void use_portable_instructions(bool portable);

std::string highway_version();  ///< of the headers that we were built with
std::string onednn_version();   ///< of the library that was loaded

}  // namespace attend::kernels
