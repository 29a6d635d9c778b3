// The version of Attend, and how it was built.
#pragma once

namespace attend {

/// The version, for example "0.1.0".
const char* version();

struct BuildFacts {
  const char* compiler;   ///< "GCC 12.2.0"
  const char* type;       ///< "Release"
  const char* sanitizer;  ///< "address", "thread", or empty
  bool checked;           ///< whether assertions are enabled
  int openmp;             ///< the value of the macro _OPENMP: 201511 means OpenMP 4.5
};
BuildFacts build_facts();

}  // namespace attend
