// Any bytes either are a recipe, whose values can be written and read again, or give an InputError.
#include "attend/formats/toml.h"

#include <cstdint>
#include <cstdlib>

#include "attend/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    std::string written;
    const auto entries = read_toml({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const TomlEntry& entry : entries) {
      written += "\"k" + std::to_string(&entry - entries.data()) + "\" = [";
      for (const std::string& value : entry.values) written += toml_value(value) + ", ";
      written += "]\n";
    }
    const auto again = read_toml(written, "written");
    if (again.size() != entries.size()) std::abort();
    for (std::size_t i = 0; i < again.size(); ++i)
      if (again[i].values != entries[i].values) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
