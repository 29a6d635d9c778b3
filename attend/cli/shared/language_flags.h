// The flags --source-lang and --target-lang, for the languages of a multilingual translator.
#pragma once
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// Adds --source-lang and --target-lang, in a group of the help if one is named. A language that is not given stays
/// empty. Without `aliases` there are no --from and --to.
void add_language_flags(Verb& verb, std::string& source, std::string& target, const char* group = nullptr,
                        bool aliases = true);

}  // namespace attend::cli
