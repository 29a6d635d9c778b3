#include "attend/core/version.h"

#include "attend/core/sanitizer.h"

namespace attend {

const char* version() { return ATTEND_VERSION; }

BuildFacts build_facts() {
  return {
#if defined(__clang__)
    .compiler = "Clang " __clang_version__,
#else
    .compiler = "GCC " __VERSION__,
#endif
    .type = ATTEND_BUILD_TYPE,
    .sanitizer = ATTEND_ASAN   ? "address"
                 : ATTEND_TSAN ? "thread"
                               : "",
#ifdef NDEBUG
    .checked = false,
#else
    .checked = true,
#endif
    .openmp = _OPENMP,
  };
}

}  // namespace attend
