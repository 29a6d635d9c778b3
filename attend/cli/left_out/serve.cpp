// attend serve in a build without the server: hidden in the help, and an error that names the CMake option.

#include "attend/cli/verbs.h"
#include "attend/core/error.h"

namespace attend::cli {

void add_serve(Verb& program) {
  Verb* verb = program.add_subcommand("serve", "Left out of this build");
  verb->group("")->allow_extras();
  verb->callback(
      [] { fail<InputError>("serve", "this build of Attend has no server; configure with -DATTEND_SERVER=ON"); });
}

}  // namespace attend::cli
