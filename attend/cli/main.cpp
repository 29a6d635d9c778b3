// The program: global flags, the verbs, and what becomes of errors. Exit codes: 0 done, 1 failed at run time, 2 wrong
// usage or bad input, 130 stopped by Ctrl-C.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "attend/cli/shared/arguments.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/core/version.h"

namespace attend::cli {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kWrongUsage = 2 };

/// How many letters must be inserted, removed or replaced to make one word the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The verb that was probably meant, or nothing when none is near.
std::string nearest_verb(const CLI::App& app, const std::string& word) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(word.size() / 2, 1) + 1;
  for (const CLI::App* verb : verbs_of(app)) {
    const std::string& name = verb->get_name();
    const std::size_t distance = name.starts_with(word) ? 0 : edit_distance(word, name);
    if (distance < least) least = distance, nearest = name;
  }
  return nearest;
}

/// What the command line got wrong, in one line, and where to look.
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* reached = &program;
  std::string words, parent;  // the words that led there, each with a space behind it, and the command before the last
  while (!reached->get_subcommands().empty()) {
    parent = "attend " + words;
    reached = reached->get_subcommands().front();
    words += reached->get_name() + ' ';
  }
  if (!parent.empty()) parent.pop_back();
  const std::vector<std::string> unknown = program.remaining(true);
  const bool lacks_verb = !verbs_of(*reached).empty();
  if (lacks_verb && unknown.empty() && dynamic_cast<const CLI::RequiredError*>(&error)) {
    std::cerr << reached->help(parent);
    return kWrongUsage;
  }
  if (lacks_verb && !unknown.empty() && !unknown.front().starts_with('-')) {
    std::cerr << "attend: there is no verb \"" << words << unknown.front() << '"';
    if (const std::string verb = nearest_verb(*reached, unknown.front()); !verb.empty())
      std::cerr << "; did you mean \"" << words << verb << "\"?";
    std::cerr << '\n';
  } else {
    std::cerr << "attend: " << error.what() << '\n';
  }
  std::cerr << "See: attend " << words << "--help\n";
  return kWrongUsage;
}

int run(int argc, char** argv) {
  CLI::App program("Attend trains, runs and explains attention models on ordinary CPUs.", "attend");
  program.get_formatter()->label("SUBCOMMAND", "VERB");
  program.fallthrough()->require_subcommand(1);
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.set_version_flag("--version", std::string("attend ") + version(), "Print the version and exit");
  program
      .add_option_function<int>("--threads", set_threads, "Threads to use; otherwise as many as this process has CPUs")
      ->type_name("N")
      ->check(between(1, 1024));
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
      "attend VERB --help tells what a verb takes. Exit codes: 0 done, 1 failed, 2 wrong usage or bad input.");

  take_hidden_lists(program);
  std::vector<std::string> arguments;
  while (--argc > 0) arguments.push_back(hide_list(argv[argc]));  // the last first, as CLI11 wants them
  try {
    program.parse(std::move(arguments));
    return kDone;
  } catch (const CLI::Success& request) {  // --help and --version end the parse this way
    return program.exit(request);
  } catch (const CLI::ParseError& error) {
    return report_usage(program, error);
  }
}

}  // namespace
}  // namespace attend::cli

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  attend::cli::catch_signals();
  try {
    const int code = attend::cli::run(argc, argv);
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
