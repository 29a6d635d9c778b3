// The model folders of tests/golden/bert_uses.py and their expected results.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/core/json.h"
#include "tests/support/temp_folder.h"

namespace attend::test {

inline std::filesystem::path bert_fixture(const std::string& name) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/tasks/fixtures" / name;
}

/// The expected.json of a folder.
class Expected {
 public:
  explicit Expected(const std::string& name)
      : document_(contents(bert_fixture(name) / "expected.json"), name + "/expected.json", "test") {}
  JsonValue operator[](std::string_view key) const { return document_.root()[key]; }
  std::vector<std::string> texts(std::string_view key = "texts") const {
    std::vector<std::string> all;
    (*this)[key].each_element([&](JsonValue text) { all.emplace_back(text.string()); });
    return all;
  }

 private:
  JsonDocument document_;
};

inline std::vector<float> numbers(JsonValue array) {
  std::vector<float> all;
  array.each_element([&](JsonValue value) { all.push_back(static_cast<float>(value.number())); });
  return all;
}

}  // namespace attend::test
