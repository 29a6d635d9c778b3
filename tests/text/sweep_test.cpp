// Compares all normalizers and pre-tokenizers with Hugging Face on every code point (text_sweep.py).
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "attend/text/aligned_text.h"
#include "attend/text/normalizer.h"
#include "attend/text/pre_tokenizer.h"
#include "attend/text/unicode.h"
#include "tests/text/golden_texts.h"

namespace attend::test {
namespace {

/// The hashes of one kind, by name.
std::map<std::string, std::string> expected(const std::string& kind) {
  std::map<std::string, std::string> hashes;
  std::ifstream file(fixture("sweep.tsv"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string own, name, hash;
    if (std::getline(columns, own, '\t') && std::getline(columns, name, '\t') && columns >> hash && own == kind)
      hashes[name] = hash;
  }
  return hashes;
}

/// The hash of the results of `change` for every code point, in a short context.
std::string hash_of_all(const std::function<std::string(const std::string&)>& change) {
  std::string all;
  const auto ask = [&](char32_t c) {
    std::string text;
    for (const char32_t each : std::u32string{c, U' ', U'a', c, U'b', U' ', U'1', c, c, U'e', c, 0x301})
      append_utf8(each, text);
    all += change(text) + '\n';
  };
  for (char32_t c = 0; c < 0x32400; ++c)
    if (c < 0xD800 || c > 0xDFFF) ask(c);
  for (char32_t c = 0xE0000; c < 0xE0200; ++c) ask(c);
  ask(0xF0000), ask(0x10FFFF);
  return hash(all);
}

TEST(Sweep, NormalizersAgreeWithHuggingFaceOnEveryCodePoint) {
  using namespace normalizer;
  const std::map<std::string, Step> steps = {
      {"bert", Bert{}},
      {"bert cased", Bert{.lowercase = false}},
      {"bert accents", Bert{.strip_accents = false}},
      {"nfc", Unicode{NormalForm::nfc}},
      {"nfd", Unicode{NormalForm::nfd}},
      {"nfkc", Unicode{NormalForm::nfkc}},
      {"nfkd", Unicode{NormalForm::nfkd}},
      {"lowercase", Lowercase{}},
      {"strip accents", StripAccents{}},
      {"strip", Strip{}},
      {"nmt", Nmt{}},
  };
  const std::map<std::string, std::string> hashes = expected("normalizer");
  EXPECT_EQ(hashes.size(), steps.size());
  for (const auto& [name, hash] : hashes) {
    const Normalizer normalizer = {steps.at(name)};
    EXPECT_EQ(hash_of_all([&](const std::string& text) { return normalized(normalizer, text); }), hash) << name;
  }
}

TEST(Sweep, PreTokenizersAgreeWithHuggingFaceOnEveryCodePoint) {
  using namespace pre_tokenizer;
  const std::map<std::string, Step> steps = {
      {"bert", Bert{}},
      {"gpt2", ByteLevel{.add_prefix_space = false}},
      {"whitespace", Whitespace{}},
      {"whitespace split", WhitespaceSplit{}},
      {"punctuation", Punctuation{}},
      {"digits", Digits{}},
      {"metaspace", Metaspace{}},
  };
  const std::map<std::string, std::string> hashes = expected("pre_tokenizer");
  EXPECT_EQ(hashes.size(), steps.size());
  for (const auto& [name, hash] : hashes) {
    const PreTokenizer pre_tokenizer = {steps.at(name)};
    const std::string ours = hash_of_all([&](const std::string& text) {
      AlignedText aligned(text);
      std::vector<Word> words = {{0, text.size()}};
      pre_tokenize(pre_tokenizer, aligned, words, 0, true);
      std::string joined;
      for (const Word& word : words) {
        if (!joined.empty()) joined += '\x1f';
        joined += aligned.text().substr(word.begin, word.end - word.begin);
      }
      return joined;
    });
    EXPECT_EQ(ours, hash) << name;
  }
}

}  // namespace
}  // namespace attend::test
