// Small files of stories for the tests: people move between places, and a question asks where one of them is.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "attend/core/random.h"
#include "tests/support/temp_folder.h"

namespace attend::test {

inline void write_stories(const std::filesystem::path& file, int stories, std::uint64_t seed) {
  const std::string people[] = {"Mary", "John", "Sandra"}, places[] = {"kitchen", "garden", "hallway"};
  Generator generator(seed);
  std::ofstream out(file);
  for (int story = 0; story < stories; ++story) {
    const PhiloxKey key = generator.next();
    std::string at[3];
    int line = 0;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto random = philox(key, i);
      at[random[0] % 3] = places[random[1] % 3];
      out << ++line << ' ' << people[random[0] % 3] << " went to the " << at[random[0] % 3] << ".\n";
      const std::uint32_t asked = at[random[2] % 3].empty() ? random[0] % 3 : random[2] % 3;
      if (i % 2 == 1) out << ++line << " Where is " << people[asked] << "?\t" << at[asked] << "\t1\n";
    }
  }
}

/// A folder with the files of tasks 1 and 2.
struct StoryFolder : TempFolder {
  StoryFolder() {
    for (const int task : {1, 2}) {
      write_stories(*this / ("qa" + std::to_string(task) + "_moves_train.txt"), 150, static_cast<std::uint64_t>(task));
      write_stories(*this / ("qa" + std::to_string(task) + "_moves_test.txt"), 20,
                    static_cast<std::uint64_t>(task) + 9);
    }
  }
};

}  // namespace attend::test
