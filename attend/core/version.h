// Which Attend this is, and how it was built.
#pragma once

namespace attend {

/// "0.1.0".
const char* version();

struct BuildFacts {
  const char* compiler;   ///< "GCC 12.2.0"
  const char* type;       ///< "Release"
  const char* sanitizer;  ///< "address", "thread", or empty
  bool checked;           ///< internal invariants are asserted
  int openmp;             ///< the date of the OpenMP standard that the compiler follows: 201511 is 4.5
};
BuildFacts build_facts();

}  // namespace attend
