// The instruction sets that the kernels use on this machine, and the versions of Highway and oneDNN.
#pragma once
#include <string>

namespace attend::kernels {

/// The instruction set that Attend's own kernels use: "AVX-512", "AVX2", "SSE2", "NEON", … as Highway names them.
std::string simd_instructions();
/// The newest instruction set that oneDNN uses: "AVX2", "AVX-512 VNNI", … It can be limited with ONEDNN_MAX_CPU_ISA.
std::string onednn_instructions();

/// true: limits Attend's own kernels to instructions that nearly every CPU has (SSE2 on x86). false: removes the limit.
/// For tests, and to find errors that depend on the instruction set. Do not call it while other threads compute.
void use_portable_instructions(bool portable);

std::string highway_version();  ///< of the headers at compile time
std::string onednn_version();   ///< of the loaded library

}  // namespace attend::kernels
