// Lessons: each explains one mechanism with numbers that it computes. A lesson is one file of this folder that fills a
// page and registers itself; `attend lesson` prints it and writes its figures.
#pragma once
#include <string>
#include <vector>

#include "attend/explain/page.h"

namespace attend::cli {

struct Lesson {
  std::string name;
  std::string summary;  ///< one line, for the list
  Page (*give)();       ///< takes seconds; the page is the same each time, except for measured times
};

/// All lessons, by name.
const std::vector<Lesson>& lessons();

/// Registers a lesson before main begins; each lesson's file has one such object.
struct Enlist {
  explicit Enlist(Lesson lesson);
};

}  // namespace attend::cli
