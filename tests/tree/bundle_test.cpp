// The scripts and styles in attend/explain/assets/ and attend/serve/assets/ are built from web/src and committed. They
// must be current. This test needs no npm: web/build.mjs writes the names and a digest of its inputs into each file.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The rest of the line after a word.
std::string line_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + word.size();
  return text.substr(begin, text.find_first_of("\n*", begin) - begin);
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// FNV-1a, as digest() in web/build.mjs.
void add(std::uint64_t& hash, const std::string& bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
}

TEST(Bundle, IsBuiltFromThePresentSources) {
  const fs::path root = ATTEND_SOURCE_DIR;
  for (const char* name :
       {"attend/explain/assets/attention.js", "attend/explain/assets/attention.css", "attend/explain/assets/style.css",
        "attend/serve/assets/app.js", "attend/serve/assets/app.css"}) {
    const std::string text = read(root / name);
    const std::vector<std::string> inputs = words_of(line_after(text, "inputs: "));
    EXPECT_GT(inputs.size(), 1u) << name;
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::string& input : inputs) add(hash, read(root / "web" / input));
    std::ostringstream digest;
    digest << std::hex;
    digest.width(16);
    digest.fill('0');
    digest << hash;
    EXPECT_EQ(words_of(line_after(text, "digest: ")), std::vector<std::string>{digest.str()})
        << name << " is not built from the present web/src: run \"npm run page\" in web/";
  }
}

}  // namespace
