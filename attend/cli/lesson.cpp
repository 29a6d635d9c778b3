// attend lesson: explains one mechanism at a time, with numbers and figures.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "attend/cli/lessons/lesson.h"
#include "attend/cli/verbs.h"
#include "attend/core/file.h"
#include "attend/explain/html.h"
#include "attend/explain/svg.h"
#include "attend/explain/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

std::vector<Lesson>& enlisted() {
  static std::vector<Lesson> all;
  return all;
}

void list(std::ostream& out) {
  out << "Lessons (attend lesson NAME):\n\n";
  for (const Lesson& lesson : lessons())
    out << "  " << lesson.name << std::string(12 - std::min<std::size_t>(lesson.name.size(), 11), ' ') << lesson.summary
        << '\n';
}

void write(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void give(const Lesson& lesson, const fs::path& folder) {
  check_output_folder(folder);
  const Page page = lesson.give();
  std::cout << to_terminal(page, terminal_of_output());
  fs::create_directories(folder);
  std::string written = "Written: ";
  const fs::path html = folder / (lesson.name + ".html");
  write(html, to_html(page));
  written += html.string();
  int number = 0;
  for (const auto& block : page.blocks)
    if (const auto* figure = std::get_if<Figure>(&block)) {
      std::string name = lesson.name;
      if (++number > 1) name.append("-").append(std::to_string(number));
      const fs::path svg = folder / (name + ".svg");
      write(svg, to_svg(*figure));
      written += ", " + svg.string();
    }
  std::cout << written << '\n';
}

}  // namespace

const std::vector<Lesson>& lessons() {
  std::ranges::sort(enlisted(), {}, &Lesson::name);
  return enlisted();
}
Enlist::Enlist(Lesson lesson) { enlisted().push_back(std::move(lesson)); }

void add_lesson(Verb& program) {
  Verb* verb = program.add_subcommand("lesson", "Explain one mechanism of attention, with numbers and figures");
  verb->group(kLearn);
  struct Choices {
    std::string name;
    std::string folder = "lessons";
  };
  auto choices = std::make_shared<Choices>();
  verb->add_option("name", choices->name, "Name of the lesson")->type_name("NAME")->default_text("list all lessons");
  verb->add_option("--output", choices->folder, "Folder for the HTML page and the SVG figures")->type_name("FOLDER");
  verb->footer("Example: attend lesson pooling");
  verb->callback([choices] {
    if (choices->name.empty()) return list(std::cout);
    for (const Lesson& lesson : lessons())
      if (lesson.name == choices->name) return give(lesson, choices->folder);
    std::string names;
    for (const Lesson& lesson : lessons()) names += (names.empty() ? "" : ", ") + lesson.name;
    throw UsageError("there is no lesson \"" + choices->name + "\"; the lessons are " + names);
  });
}

}  // namespace attend::cli
