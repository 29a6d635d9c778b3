// The program's verbs, one a file. Each adds itself to the command line; its callback does the work. A verb reports
// what the user got wrong by throwing CLI::ValidationError (exit code 2), and leaves attend::Error (exit code 1) to
// main.
#pragma once

namespace CLI {
class App;
}

namespace attend::cli {

void add_doctor(CLI::App& program);

}  // namespace attend::cli
