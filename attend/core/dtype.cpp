#include "attend/core/dtype.h"

#include <ostream>

namespace attend {

const char* name_of(DType type) {
  switch (type) {
    case DType::f32:
      return "float32";
    case DType::i32:
      return "int32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i8:
      return "int8";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, DType type) { return out << name_of(type); }

}  // namespace attend
