// CLI11's classes by name, so that only sources include the library.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
}  // namespace CLI
