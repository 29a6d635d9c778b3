// The texts and the tokenizers of tests/text/fixtures, which tests/golden/tokenizer_folders.py made with Hugging Face's
// libraries.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "attend/core/json.h"
#include "attend/text/tokenizer.h"
#include "attend/text/unicode.h"

namespace attend::test {

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/text/fixtures" / name;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::string> strings_of(const std::filesystem::path& path, const char* key) {
  const JsonDocument document(read_file(path), path.string(), "test");
  std::vector<std::string> strings;
  document.root()[key].each_element([&](const JsonValue& value) { strings.emplace_back(value.string()); });
  return strings;
}

/// Difficult texts.
inline const std::vector<std::string>& golden_texts() {
  static const std::vector<std::string> texts = strings_of(fixture("texts.json"), "texts");
  return texts;
}

/// A long text by the formula of the script.
inline std::string long_text(std::size_t size, const std::string& separator) {
  static const std::vector<std::string> words = strings_of(fixture("texts.json"), "long_words");
  std::uint32_t state = 12345;
  std::string text;
  while (text.size() < size) {
    state = state * 1664525u + 1013904223u;
    text += words[(state >> 16) % words.size()] + separator;
  }
  return text;
}

/// FNV-1a with 64 bits, in hexadecimal.
inline std::string hash(std::span<const unsigned char> bytes) {
  std::uint64_t value = 0xCBF29CE484222325u;
  for (const unsigned char byte : bytes) value = (value ^ byte) * 0x100000001B3u;
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 15];
  return text;
}
inline std::string hash(const std::string& text) {
  return hash({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}
inline std::string hash(const std::vector<std::int32_t>& numbers) {
  std::vector<unsigned char> bytes;
  for (const std::int32_t number : numbers)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<unsigned char>(static_cast<std::uint32_t>(number) >> shift));
  return hash(std::span<const unsigned char>(bytes));
}

inline std::vector<std::int32_t> numbers(const JsonValue& list) {
  std::vector<std::int32_t> values;
  list.each_element([&](const JsonValue& value) { values.push_back(static_cast<std::int32_t>(value.integer())); });
  return values;
}

/// Starts and ends of spans in a list, counted in characters as in Python.
inline std::vector<std::int32_t> character_spans(const Encoding& encoding, std::span<const std::string_view> texts) {
  std::vector<std::int32_t> edges;
  for (std::size_t i = 0; i < encoding.spans.size(); ++i) {
    const std::string_view text = texts[texts.size() > 1 && encoding.types[i] == 1 ? 1 : 0];
    for (const std::int64_t edge : {encoding.spans[i].begin, encoding.spans[i].end})
      edges.push_back(static_cast<std::int32_t>(count_code_points(text.substr(0, static_cast<std::size_t>(edge)))));
  }
  return edges;
}

}  // namespace attend::test
