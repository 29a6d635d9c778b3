// Lessons: one mechanism each, computed on the spot. A lesson is one file of this folder that fills a page and enlists
// itself; `attend lesson` finds it, prints it and writes its pictures.
#pragma once
#include <string>
#include <vector>

#include "attend/explain/page.h"

namespace attend::cli {

struct Lesson {
  std::string name;
  std::string summary;  ///< one line, for the list
  Page (*give)();       ///< takes seconds, and gives the same page each time (measured times aside)
};

/// All lessons, by name.
const std::vector<Lesson>& lessons();

/// Made once in each lesson's file: adds the lesson to the list before main begins.
struct Enlist {
  explicit Enlist(Lesson lesson);
};

}  // namespace attend::cli
