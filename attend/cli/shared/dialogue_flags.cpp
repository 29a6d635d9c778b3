#include "attend/cli/shared/dialogue_flags.h"

namespace attend::cli {

Flag* add_turn_separator_flag(Verb& verb, DialogueFormat& format) {
  return verb
      .add_option_function<std::string>(
          "--turn-separator", [&format](const std::string& given) { format.separator = given == "tab" ? "\t" : given; },
          "Text files: what stands between two turns of a line; tab means a tab, and otherwise what follows a tab is "
          "ignored")
      ->type_name("TEXT")
      ->default_value(format.separator);
}

}  // namespace attend::cli
