// Flags of files with dialogues.
#pragma once
#include "attend/cli/shared/flags.h"
#include "attend/tasks/dialogue/dialogues.h"

namespace attend::cli {

/// --turn-separator TEXT
Flag* add_turn_separator_flag(Verb& verb, DialogueFormat& format);

}  // namespace attend::cli
