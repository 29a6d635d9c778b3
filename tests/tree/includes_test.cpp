// The tree itself: includes point one way, libraries stay behind their door, and the umbrella header is complete.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The ladder of folders: a file may include its own folder and those on lower rungs. Folders on one rung do not know
/// each other.
const std::map<std::string, int> kRung = {
    {"core", 0},   {"kernels", 1}, {"ops", 2},   {"nn", 3},      {"attention", 4}, {"models", 5},
    {"decode", 6}, {"train", 6},   {"tasks", 7}, {"explain", 8}, {"serve", 9},     {"cli", 10},
};
/// Beside the ladder: these need core only (data and metrics read text too), and serve every rung above kernels.
const std::vector<std::string> kBeside = {"text", "data", "formats", "metrics"};

bool is_beside(const std::string& folder) { return std::ranges::find(kBeside, folder) != kBeside.end(); }
bool is_known(const std::string& folder) { return kRung.contains(folder) || is_beside(folder); }

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (is_beside(from)) return to == "core" || (to == "text" && (from == "data" || from == "metrics"));
  if (is_beside(to)) return kRung.at(from) > kRung.at("kernels");
  return kRung.at(to) < kRung.at(from);
}

/// The second part of a path: "ops" of attend/ops/linear.h; empty for attend/attend.h.
std::string folder_of(const fs::path& path) {
  return std::distance(path.begin(), path.end()) > 2 ? std::next(path.begin())->string() : "";
}

/// All sources under a folder of the repository, named from its root.
std::vector<fs::path> sources_under(const std::string& top) {
  std::vector<fs::path> sources;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(ATTEND_SOURCE_DIR) / top))
    if (const std::string extension = entry.path().extension(); extension == ".h" || extension == ".cpp")
      sources.push_back(fs::relative(entry.path(), ATTEND_SOURCE_DIR));
  std::ranges::sort(sources);
  return sources;
}

std::vector<std::string> includes_of(const fs::path& file) {
  std::vector<std::string> targets;
  std::ifstream in(fs::path(ATTEND_SOURCE_DIR) / file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t hash = line.find_first_not_of(' ');
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(' ', hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t begin = line.find_first_of("\"<", word), end = line.find_first_of("\">", begin + 1);
    if (end != std::string::npos) targets.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return targets;
}

TEST(Tree, EveryFolderHasItsRung) {
  for (const fs::path& file : sources_under("attend")) {
    if (file == fs::path("attend/attend.h")) continue;
    EXPECT_TRUE(is_known(folder_of(file))) << file << ": say in this test where its folder stands";
  }
}

TEST(Tree, IncludesPointDownTheLadder) {
  for (const fs::path& file : sources_under("attend"))
    for (const std::string& target : includes_of(file)) {
      const std::string from = folder_of(file), to = folder_of(target);
      if (!target.starts_with("attend/") || file == fs::path("attend/attend.h")) continue;
      const bool allowed = is_known(from) && is_known(to) && may_include(from, to);
      EXPECT_TRUE(allowed) << file << " includes " << target << ": an arrow that points back";
    }
}

/// The rungs that a folder's target links, as its CMakeLists.txt declares them: attend_rung(text NEEDS core LINKS …).
std::set<std::string> declared_needs(const std::string& folder) {
  std::ifstream in(fs::path(ATTEND_SOURCE_DIR) / "attend" / folder / "CMakeLists.txt");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::smatch call;
  EXPECT_TRUE(std::regex_search(text, call, std::regex("attend_rung\\(" + folder + "((?: NEEDS)?[a-z ]*)")))
      << "attend/" << folder << "/CMakeLists.txt declares no rung of that name";
  std::istringstream words(call[1]);
  std::set<std::string> needs;
  for (std::string word; words >> word;)
    if (word != "NEEDS") needs.insert(word);
  return needs;
}

/// With what those link in turn.
std::set<std::string> linked_by(const std::string& folder) {
  std::set<std::string> all = declared_needs(folder);
  for (const std::string& lower : declared_needs(folder)) all.merge(linked_by(lower));
  return all;
}

TEST(Tree, TargetsLinkWhatTheirFilesInclude) {
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(ATTEND_SOURCE_DIR) / "attend")) {
    const std::string folder = entry.path().filename();
    if (!entry.is_directory() || folder == "cli") continue;  // the program links all
    for (const std::string& lower : declared_needs(folder))
      EXPECT_TRUE(may_include(folder, lower)) << "the target of " << folder << " links " << lower << ", a higher rung";
    const std::set<std::string> linked = linked_by(folder);
    for (const fs::path& file : sources_under("attend/" + folder))
      for (const std::string& target : includes_of(file)) {
        const std::string to = folder_of(target);
        if (!target.starts_with("attend/") || to == folder) continue;
        EXPECT_TRUE(linked.contains(to)) << file << " includes " << target << ": add " << to << " to NEEDS in attend/"
                                         << folder << "/CMakeLists.txt";
      }
  }
}

TEST(Tree, OnlyKernelsKnowOneDnnAndHighway) {
  for (const char* top : {"attend", "tests", "bench", "examples"})
    for (const fs::path& file : sources_under(top)) {
      if (folder_of(file) == "kernels") continue;  // and their tests
      for (const std::string& target : includes_of(file)) {
        const bool theirs = target.starts_with("dnnl") || target.starts_with("oneapi/") || target.starts_with("hwy/");
        EXPECT_FALSE(theirs) << file << " includes " << target;
      }
    }
}

TEST(Tree, TheUmbrellaHeaderHasEveryPublicHeader) {
  const std::vector<std::string> listed = includes_of("attend/attend.h");
  for (const fs::path& file : sources_under("attend")) {
    const std::string folder = folder_of(file);
    if (file.extension() != ".h" || folder.empty() || folder == "kernels" || folder == "cli") continue;
    const bool for_our_sources =
        file == fs::path("attend/core/sanitizer.h") || file == fs::path("attend/explain/lettering.h") ||
        file.string().starts_with("attend/data/phrases/") || file.string().starts_with("attend/text/template/");
    if (for_our_sources || (folder == "serve" && file != fs::path("attend/serve/server.h"))) continue;
    EXPECT_TRUE(std::ranges::find(listed, file.string()) != listed.end())
        << "attend/attend.h lacks " << file << ": run make format";
  }
}

TEST(Tree, TestsMirrorTheLibrary) {
  const std::vector<std::string> own = {"faults", "tree", "support", "fuzz", "golden", "install"};
  for (const fs::path& file : sources_under("tests")) {
    const std::string folder = folder_of(file);
    EXPECT_TRUE(is_known(folder) || std::ranges::find(own, folder) != own.end()) << file << " mirrors no folder";
  }
}

/// Families write it. Tokenizers are of the kind that it names where their folder has no other hint.
TEST(Tree, OnlyTheRegistryComparesModelTypes) {
  const std::vector<fs::path> may = {"attend/models/registry.cpp", "attend/models/model.cpp"};
  for (const fs::path& file : sources_under("attend")) {
    if (folder_of(file) == "text" || std::ranges::find(may, file) != may.end()) continue;
    std::ifstream in(fs::path(ATTEND_SOURCE_DIR) / file);
    for (std::string line; std::getline(in, line);) {
      const std::size_t key = line.find("\"model_type\"");
      if (key == std::string::npos || line.find("//") < key) continue;
      const bool writes = line.find(".set(\"model_type\"") != std::string::npos;
      const bool quotes = line.find("\\\"model_type\\\"") != std::string::npos;  // in a message
      EXPECT_TRUE(writes || quotes) << file << ": " << line;
    }
  }
}

}  // namespace
