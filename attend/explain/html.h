// A page as one HTML file. It needs no network and no other file.
#pragma once
#include <string>

#include "attend/explain/page.h"

namespace attend {

/// Throws as check() does.
std::string to_html(const Page& page);

}  // namespace attend
