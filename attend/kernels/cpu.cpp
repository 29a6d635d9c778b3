#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cpu.cpp"
#include "attend/kernels/foreach_target.h"  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// Called through dynamic dispatch, so that the result is the target that the kernels use.
const char* ThisTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstdint>
#include <dnnl.hpp>
#include <sstream>

namespace attend::kernels {

HWY_EXPORT(ThisTarget);

std::string simd_instructions() {
  const std::string name = HWY_DYNAMIC_DISPATCH(ThisTarget)();
  return name.starts_with("AVX3") ? "AVX-512" + name.substr(4) : name;  // Highway calls AVX-512 "AVX3"
}

void use_portable_instructions(bool portable) {
  hwy::DisableTargets(portable ? std::int64_t{HWY_AVX2} * 2 - 1 : 0);  // AVX2 and newer, which have lower bits
}

std::string onednn_instructions() {
  using dnnl::cpu_isa;
  switch (const cpu_isa isa = dnnl::get_effective_cpu_isa()) {
    case cpu_isa::sse41:
      return "SSE4.1";
    case cpu_isa::avx:
      return "AVX";
    case cpu_isa::avx2:
      return "AVX2";
    case cpu_isa::avx2_vnni:
      return "AVX2 VNNI";
    case cpu_isa::avx512_core:
      return "AVX-512";
    case cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case cpu_isa::avx512_core_bf16:
      return "AVX-512 BF16";
    case cpu_isa::avx512_core_amx:
      return "AVX-512 AMX";
    default: {
      std::ostringstream code;  // newer than this list, or not x86
      code << "set 0x" << std::hex << static_cast<unsigned>(isa);
      return code.str();
    }
  }
}

std::string highway_version() {
  std::ostringstream text;
  text << HWY_MAJOR << '.' << HWY_MINOR << '.' << HWY_PATCH;
  return text.str();
}

std::string onednn_version() {
  const dnnl::version_t* version = dnnl::version();
  std::ostringstream text;
  text << version->major << '.' << version->minor << '.' << version->patch;
  return text.str();
}

}  // namespace attend::kernels
#endif
