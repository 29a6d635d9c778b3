// Training of subword vocabularies, compared with the trainers of Hugging Face. Both use the same megabyte of text: the
// file ATTEND_BENCH_TEXT, or a synthetic text.
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/training/train_bpe.h"
#include "attend/text/training/train_wordpiece.h"
#include "bench/job.h"

namespace {

constexpr std::size_t kBytes = 1'000'000;

/// Words made of syllables. Few words are frequent and many are rare, as in natural text.
std::vector<std::string> invented_lines() {
  constexpr std::string_view kConsonants = "bcdfglmnprstv", kVowels = "aeiou";
  std::vector<std::string> lines;
  std::uint32_t state = 1;
  for (std::size_t bytes = 0; bytes < kBytes; bytes += lines.back().size() + 1) {
    std::string& line = lines.emplace_back();
    for (int word = 0; word < 12; ++word) {
      state = state * 1664525u + 1013904223u;
      const std::uint64_t draw = state >> 11;
      std::uint64_t rank = (draw * draw * draw) >> 48;
      if (word > 0) line += ' ';
      do {
        const std::uint64_t syllable = rank % 65;
        line += kConsonants[syllable / 5];
        line += kVowels[syllable % 5];
        rank /= 65;
      } while (rank > 0);
    }
  }
  return lines;
}

std::vector<std::string> text_lines() {
  const char* path = std::getenv("ATTEND_BENCH_TEXT");
  if (!path) return invented_lines();
  std::vector<std::string> lines;
  std::ifstream file(path);
  std::size_t bytes = 0;
  for (std::string line; bytes < kBytes && std::getline(file, line); bytes += line.size() + 1) lines.push_back(line);
  return lines;
}

attend::LineSource source_of(const std::vector<std::string>& lines) {
  return [&lines, next = std::size_t{0}](std::string& line) mutable {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
}

}  // namespace

int main(int argc, char** argv) {
  attend::bench::job("train_bpe.8000", /*bar=*/1, [] {
    return [lines = text_lines()] { attend::train_bpe(source_of(lines), {.vocab_size = 8000, .min_frequency = 0}); };
  });
  attend::bench::job("train_wordpiece.8000", /*bar=*/1, [] {
    return
        [lines = text_lines()] { attend::train_wordpiece(source_of(lines), {.vocab_size = 8000, .min_frequency = 0}); };
  });
  return attend::bench::serve(argc, argv);
}
