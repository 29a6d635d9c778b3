// The help of a verb: what it does, how it is called, its flags with their defaults.
#pragma once
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

std::string help_of(const Verb& verb);

}  // namespace attend::cli
