// A page as one HTML file that needs nothing else: no network, no script from elsewhere.
#pragma once
#include <string>

#include "attend/explain/page.h"

namespace attend {

/// Throws as check() does.
std::string to_html(const Page& page);

}  // namespace attend
