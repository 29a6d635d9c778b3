// Results of Hugging Face's trainers (tests/golden/tokenizer_training.py), and line sources for trainers.
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/text/tokenizer_parts.h"
#include "attend/text/training/word_counts.h"

namespace attend::test {

inline LineSource source_of(std::vector<std::string> lines) {
  return [lines = std::move(lines), next = std::size_t{0}](std::string& line) mutable {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
}

struct TrainingGolden {
  nlohmann::json json = nlohmann::json::parse(std::ifstream(ATTEND_SOURCE_DIR "/tests/golden/tokenizer_training.json"));

  LineSource lines() const { return source_of(json.at("lines").get<std::vector<std::string>>()); }
  std::vector<std::string> tokens(const char* name) const {
    return json.at(name).at("tokens").get<std::vector<std::string>>();
  }
  std::vector<std::pair<std::string, std::string>> merges(const char* name) const {
    return json.at(name).at("merges").get<std::vector<std::pair<std::string, std::string>>>();
  }
};

inline std::vector<std::string> tokens_of(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) tokens.push_back(tokenizer.token(id));
  return tokens;
}

inline std::vector<std::string> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : tokenizer.encode(text).ids) tokens.push_back(tokenizer.token(id));
  return tokens;
}

inline std::vector<std::pair<std::string, std::string>> merges_of(const Tokenizer& tokenizer) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const BpeMerge& merge : std::get<Bpe>(tokenizer.parts().model).merges())
    merges.emplace_back(tokenizer.token(merge.left), tokenizer.token(merge.right));
  return merges;
}

}  // namespace attend::test
