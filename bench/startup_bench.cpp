// The start-up time of the program, which every call in a script needs.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "attend/core/error.h"
#include "bench/job.h"

namespace {

/// Runs `attend --version` and discards its output.
void run_version(const std::string& program) {
  std::string name = program, flag = "--version";
  char* arguments[] = {name.data(), flag.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status == 0) waitpid(child, &status, 0);
  if (status != 0) attend::fail("startup", program, " --version did not succeed");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "attend";
  attend::bench::figure("startup.version", "ms", 50,
                        [=] { return 1e3 * attend::bench::best_seconds([&] { run_version(program); }); });
  return attend::bench::serve(argc, argv);
}
