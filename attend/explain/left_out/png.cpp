// Replaces png.cpp in a build without ATTEND_PICTURES.
#include "attend/explain/png.h"

#include "attend/core/error.h"

namespace attend {
namespace {

[[noreturn]] void refuse() {
  fail("png", "this build of Attend has no PNG support; write SVG or HTML, or configure with -DATTEND_PICTURES=ON");
}

}  // namespace

bool has_png() { return false; }
bool has_fonts() { return false; }
std::string encode_png(const Image& /*image*/) { refuse(); }
std::string to_png(const Figure& /*figure*/, const PngOptions& /*options*/) { refuse(); }

}  // namespace attend
