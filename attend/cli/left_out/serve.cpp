// attend serve in a build without the server: not in the help, and an error that says why.
#include <CLI/CLI.hpp>

#include "attend/cli/verbs.h"
#include "attend/core/error.h"

namespace attend::cli {

void add_serve(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("serve", "Left out of this build");
  verb->group("")->fallthrough(false)->allow_extras()->set_help_flag();
  verb->callback(
      [] { fail<InputError>("serve", "this build of Attend has no server; configure with -DATTEND_SERVER=ON"); });
}

}  // namespace attend::cli
