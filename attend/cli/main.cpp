// The program: global flags, the verbs, and the handling of errors. Exit codes: 0 success, 1 failure at run time, 2
// wrong usage or bad input, 130 stopped by Ctrl-C.
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "attend/cli/shared/command_line.h"
#include "attend/cli/shared/help.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
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
  add_generate(program);
  add_chat(program);
  add_score(program);
  add_classify(program);
  add_embed(program);
  add_similar(program);
  add_fill_mask(program);
  add_answer(program);
  add_tag(program);
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
    std::cerr << "attend: " << error.what() << "\nSee: " << reached->command() << " --help\n";
  }
  return kWrongUsage;
}

}  // namespace
}  // namespace attend::cli

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  attend::cli::catch_signals();
  try {
    const int code = attend::cli::run(argc, argv);
    attend::check_mapped_files();
    if (std::cout.flush()) return code;
    if (errno != EPIPE) std::cerr << "attend: cannot write to standard output: " << std::strerror(errno) << '\n';
  } catch (const attend::cli::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const attend::cli::ClosedPipe&) {
  } catch (const attend::InputError& error) {
    std::cerr << "attend: " << error.what() << '\n';
    return attend::cli::kWrongUsage;
  } catch (const attend::Error& error) {
    std::cerr << "attend: " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "attend: unexpected: " << error.what() << '\n';
  }
  return attend::cli::kFailed;
}
