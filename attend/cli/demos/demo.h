// The demos of `attend demo`: each trains a small model in about two minutes and shows what it does, with the commands
// that a user would type.
#pragma once
#include <string>
#include <vector>

namespace attend::cli {

struct Demo {
  const char* model;   ///< "translator"
  const char* folder;  ///< for the model, unless the user names another
  const char* about;   ///< what is trained, in a line or two
  /// Writes the training data to the folder.
  void (*make_data)(const std::string& folder);
  /// The command that trains a model from them, without --resume and --overwrite.
  std::vector<std::string> (*training)(const std::string& folder);
  void (*show)(const std::string& folder);
  const char* next;  ///< commands to type next, where FOLDER stands for the model's folder
};

Demo summary_demo();
Demo translation_demo();

/// Prints a command, and runs it.
void demo_command(const std::vector<std::string>& words);

/// Appends the words of a line to a command.
std::vector<std::string> with_words(std::vector<std::string> command, const std::string& line);

}  // namespace attend::cli
