// GGUF files, written by tests/golden/gguf_blocks.py with llama.cpp's own package. Some tests corrupt them.
#include "attend/formats/gguf_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "attend/formats/gguf.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::filesystem::path path() { return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/golden/gguf_blocks.gguf"; }

std::string bytes_of_file() { return (std::stringstream() << std::ifstream(path()).rdbuf()).str(); }

GgufFile read(std::string bytes) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  return {"m.gguf", std::as_bytes(std::span(owner->data(), owner->size())), owner};
}

TEST(GgufFile, EveryFormatIsDecodedAsLlamaCppDoes) {
  const GgufFile file(path());
  const SafetensorsFile golden = test::golden("gguf_blocks");
  EXPECT_EQ(file.names(), golden.names());
  for (const std::string& name : golden.names())
    EXPECT_TRUE(test::close(file.get_float32(name), golden.get(name), {1e-6f, 1e-9f})) << name;
}

TEST(GgufFile, MetadataOfAllTypesAreRead) {
  const GgufFile file(path());
  const GgufMetadata& metadata = file.metadata();
  EXPECT_EQ(metadata.integer("large"), std::int64_t{1} << 40);
  EXPECT_EQ(metadata.integer("negative"), -7);
  EXPECT_EQ(metadata.number("exact"), 0.1);
  EXPECT_EQ(metadata.numbers("scores"), (std::vector{0.5, -1.5}));
  EXPECT_EQ(metadata.integers("kinds"), (std::vector<std::int64_t>{1, -3}));
  EXPECT_EQ(metadata.integers("flags"), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(metadata.text("name"), "a model");
  EXPECT_EQ(metadata.text("other", "none"), "none");
  EXPECT_TRUE(metadata.texts("other").empty());
}

TEST(GgufFile, WrongTypesAndMissingKeysAreNamed) {
  const GgufFile file(path());
  const GgufMetadata& metadata = file.metadata();
  EXPECT_ERROR(metadata.integer("name"), "the key \"name\" has the wrong type, expected an integer");
  EXPECT_ERROR(metadata.texts("kinds"), "the key \"kinds\" has the wrong type, expected a list of texts");
  EXPECT_ERROR(metadata.number("other"), "has no key \"other\"");
}

TEST(GgufFile, WhatTheWriterWritesIsReadBack) {
  const test::TempFolder folder;
  GgufWriter writer;
  std::vector<float> values(3 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 191.f * 127.f;
  const Tensor matrix = Tensor::from(values, {3, 64});
  writer.set("words", std::vector<std::string>{"a", "bé"});
  writer.add("whole", matrix, GgufType::f32);
  writer.add("half", matrix, GgufType::f16);
  writer.add("bytes", matrix, GgufType::q8_0);
  writer.save(folder / "m.gguf");
  const GgufFile file(folder / "m.gguf");
  EXPECT_EQ(file.metadata().texts("words"), (std::vector<std::string>{"a", "bé"}));
  EXPECT_TRUE(test::close(file.get_float32("whole"), matrix, {0.f, 0.f}));
  EXPECT_TRUE(test::close(file.get_float32("half"), matrix, {1e-3f, 0.f}));
  EXPECT_TRUE(test::close(file.get_float32("bytes"), matrix, {0.f, 0.51f}));
  EXPECT_EQ(file.elements(), 3u * 3 * 64);
}

TEST(GgufFile, AFileThatIsCutAnywhereIsAnError) {
  const std::string whole = bytes_of_file();
  for (std::size_t size = 0; size + 32 < whole.size(); size += size < 700 ? 1 : 97)
    EXPECT_THROW(read(whole.substr(0, size)), InputError) << size;
}

TEST(GgufFile, AChangedByteOfTheHeaderNeverCrashes) {
  const std::string whole = bytes_of_file();
  for (std::size_t at = 0; at < 1000; ++at) {
    for (const int change : {1, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try {
        const GgufFile file = read(changed);
        for (const std::string& name : file.names()) file.get(name);
      } catch (const InputError&) {
      }
    }
  }
}

TEST(GgufFile, AnUnknownFormatIsNamed) {
  std::string bytes = bytes_of_file();
  const std::size_t at = bytes.find("Q4_0") + 4 + sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);
  bytes[at] = 19;  // IQ1_S
  EXPECT_ERROR(read(bytes), "stores tensor \"Q4_0\" in the format with number 19, which is not supported");
}

}  // namespace
}  // namespace attend
