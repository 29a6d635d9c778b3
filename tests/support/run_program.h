// Runs the built program as a user does: for the tests in tests/cli/.
#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace attend::test {

struct Outcome {
  int code;
  std::string output;
};

/// Runs a command of the shell. Returns standard output.
inline Outcome run_shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t read; (read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), read);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

/// Runs the program in a shell, so that a test can redirect streams and set variables. Returns standard output.
inline Outcome run_attend(const std::string& arguments, const std::string& environment = "") {
  return run_shell(environment + " " ATTEND_PROGRAM " " + arguments);
}

/// The same, but returns standard error.
inline Outcome run_for_errors(const std::string& arguments) { return run_attend(arguments + " 2>&1 >/dev/null"); }

/// The lines of an output, without line ends.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Whether an output contains `part`.
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace attend::test
