// The program: global flags, the verbs, and the handling of errors. Exit codes: 0 success, 1 failure at run time, 2
// wrong usage or bad input, 130 stopped by Ctrl-C.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "attend/cli/shared/command_line.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/help.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"

namespace attend::cli {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kWrongUsage = 2 };

int run(int argc, char** argv) {
  Verb program("attend", "Attend trains, runs, explains and serves attention models on CPUs.");
  bool print_version = false;
  program.add_flag("--version", print_version, "Print the version and exit");
  program
      .add_flag_callback(
          "-h,--help", [] {}, "Print this help and exit")
      ->configurable(false)
      ->for_all_verbs();
  program.add_option_function<int>("--threads", set_threads, "Number of threads to use")
      ->type_name("N")
      ->check(between(1, 1024))
      ->default_text("one for each available CPU")
      ->configurable(false)
      ->for_all_verbs();
  add_translate(program);
  add_summarize(program);
  add_generate(program);
  add_chat(program);
  add_score(program);
  add_classify(program);
  add_embed(program);
  add_similar(program);
  add_fill_mask(program);
  add_answer(program);
  add_tag(program);
  add_run_algorithm(program);
  add_attention(program);
  add_tokenize(program);
  add_serve(program);
  add_evaluate(program);
  add_train(program);
  add_finetune(program);
  add_convert(program);
  add_corpus(program);
  add_demo(program);
  add_lesson(program);
  add_doctor(program);
  program.footer(
      "`attend help VERB` and `attend VERB --help` describe a verb.\n"
      "Exit codes: 0 success, 1 failure, 2 wrong usage or bad input.");
  program.callback([&] {
    if (!print_version) throw MissingVerb(help_of(program));
    std::cout << "attend " << version() << '\n';
  });

  const Verb* reached = nullptr;
  try {
    run_command(program, {argv + 1, argv + argc}, std::cout, reached);
    return kDone;
  } catch (const MissingVerb& error) {
    std::cerr << error.what();
  } catch (const UsageError& error) {
    tell(error.what());
    std::cerr << "See: " << reached->command() << " --help\n";
  }
  return kWrongUsage;
}

/// Limits how long OpenMP's threads spin while they wait for each other. By default they spin for milliseconds, which
/// makes two threads many times slower than one when other programs use the CPUs. OpenMP reads the limit before main(),
/// so the program starts itself again with it. A user who sets one of these variables decides instead.
void limit_spinning(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).filename();
  if (unknown || self.starts_with("ld-") || self == "ld.so") return;  // a loader would take argv for its own
  ::setenv("GOMP_SPINCOUNT", "1000", 1);  // some 20 microseconds, about what it takes to wake a thread
  ::execv("/proc/self/exe", argv);        // returns only if it fails; then the threads spin as long as before
}

}  // namespace
}  // namespace attend::cli

int main(int argc, char** argv) {
  attend::cli::limit_spinning(argv);
  std::ios::sync_with_stdio(false);
  attend::cli::catch_signals();
  try {
    const int code = attend::cli::run(argc, argv);
    if (std::cout.flush()) return code;
    if (errno != EPIPE) attend::cli::tell(std::string("cannot write to standard output: ") + std::strerror(errno));
  } catch (const attend::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const attend::cli::ClosedPipe&) {
  } catch (const attend::InputError& error) {
    attend::cli::tell(attend::cli::text_of(error));
    return attend::cli::kWrongUsage;
  } catch (const attend::ModelError& error) {
    attend::cli::tell(error.what());
    return attend::cli::kWrongUsage;
  } catch (const attend::Error& error) {
    attend::cli::tell(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    attend::cli::tell(error.path1().string() + ": " + error.code().message());
    for (const std::errc wrong :
         {std::errc::no_such_file_or_directory, std::errc::permission_denied, std::errc::operation_not_permitted,
          std::errc::not_a_directory, std::errc::is_a_directory, std::errc::file_exists, std::errc::directory_not_empty,
          std::errc::read_only_file_system, std::errc::filename_too_long, std::errc::too_many_symbolic_link_levels,
          std::errc::invalid_argument})
      if (error.code() == wrong) return attend::cli::kWrongUsage;
  } catch (const std::bad_alloc&) {
    attend::cli::tell("out of memory");
  } catch (const std::exception& error) {
    attend::cli::tell(std::string("unexpected: ") + error.what());
  }
  return attend::cli::kFailed;
}
