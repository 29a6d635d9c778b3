// attend demo: the first two minutes. Trains a small model, evaluates it and shows it at work (demos/).
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "attend/cli/demos/demo.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/command_line.h"
#include "attend/cli/verbs.h"
#include "attend/core/folder.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

enum class DemoTask : std::uint8_t { translation, summary };

struct DemoFlags {
  DemoTask task = DemoTask::translation;
  std::string output;
  bool overwrite = false;
};

void train(const Demo& demo, const std::string& folder, bool overwrite) {
  // A run that was stopped continues with the same training file.
  if (!overwrite && fs::exists(folder + "/checkpoint.safetensors")) {
    std::cout << "Training continues where it was stopped; --overwrite starts again.\n";
  } else {
    std::cout << demo.about << " Ctrl-C stops it; the same command continues.\n\n";
    demo.make_data(folder);
  }
  std::vector<std::string> words = demo.training(folder);
  words.emplace_back(overwrite ? "--overwrite" : "--resume");
  demo_command(words);
}

void run(const DemoFlags& flags) {
  const Demo demo = flags.task == DemoTask::summary ? summary_demo() : translation_demo();
  const std::string folder = flags.output.empty() ? demo.folder : flags.output;
  fs::create_directories(folder);
  // Without validation the model is written once, when it is done.
  if (!flags.overwrite && fs::exists(current_folder(folder) / "model.safetensors"))
    std::cout << "The " << demo.model << " in " << folder << " exists; --overwrite trains it again.\n";
  else
    train(demo, folder, flags.overwrite);
  demo.show(folder);
  const fs::path page = fs::absolute(fs::path(folder) / "attention.html").lexically_normal();
  const std::string program = fs::exists("build/release/attend") ? "build/release/attend" : "attend";
  std::cout << "\nOpen the page:     " << page.string() << '\n';
  std::istringstream next(demo.next);
  for (std::string line; std::getline(next, line);) {
    for (const auto& [word, value] : {std::pair("PROGRAM", program), std::pair("FOLDER", folder)})
      if (const std::size_t at = line.find(word); at != std::string::npos)
        line.replace(at, std::string_view(word).size(), value);
    std::cout << line << '\n';
  }
}

}  // namespace

void demo_command(const std::vector<std::string>& words) {
  std::cout << "  $ attend";
  for (const std::string& word : words) std::cout << ' ' << word;
  std::cout << '\n' << std::flush;
  Verb program("attend", "");
  add_corpus(program);
  add_train(program);
  add_translate(program);
  add_summarize(program);
  const Verb* reached = nullptr;
  run_command(program, words, std::cout, reached);
}

std::vector<std::string> with_words(std::vector<std::string> command, const std::string& line) {
  std::istringstream stream(line);
  for (std::string word; stream >> word;) command.push_back(word);
  return command;
}

void add_demo(Verb& program) {
  Verb* verb =
      program.add_subcommand("demo", "Train a small translator or summarizer in two minutes, and show what it does");
  verb->group(kLearn);
  auto flags = std::make_shared<DemoFlags>();
  add_choice(*verb, "--task", flags->task, {{"translation", DemoTask::translation}, {"summary", DemoTask::summary}},
             "What the model learns: to translate from Italian to English, or to summarize the descriptions of "
             "software packages. One of");
  verb->add_option("-o,--output", flags->output, "Folder for the model")
      ->type_name("DIR")
      ->default_text("it-en or packages, after the task");
  verb->add_flag("--overwrite", flags->overwrite, "Train again even if the folder holds a model");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
