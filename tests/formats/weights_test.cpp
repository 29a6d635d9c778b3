#include "attend/formats/weights.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/formats/safetensors.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// Saves two files, each with one tensor of one element.
void save_two(const test::TempFolder& folder) {
  save_safetensors(folder / "model-1.safetensors", {{{"a", Tensor::scalar(1)}}});
  save_safetensors(folder / "model-2.safetensors", {{{"b", Tensor::scalar(2)}}});
}

TEST(Weights, AFolderMayContainOneFileOrSeveralWithAnIndex) {
  const test::TempFolder folder;
  save_two(folder);
  write(folder / "model.safetensors.index.json",
        R"({"metadata": {"total_size": 8}, "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  for (const auto& path : {folder.path(), folder / "model.safetensors.index.json"}) {
    const Weights weights(path);
    EXPECT_EQ(weights.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(weights.get("a").item(), 1.f);
    EXPECT_EQ(weights.get_float32("b").item(), 2.f);
    EXPECT_FALSE(weights.contains("c"));
    EXPECT_ERROR(weights.get("c"), path.string() + ": has no tensor \"c\" among its 2");
  }
  save_safetensors(folder / "model.safetensors", {{{"c", Tensor::scalar(3)}}});
  EXPECT_EQ(Weights(folder.path()).names(), std::vector<std::string>{"c"}) << "a single file has priority";
}

TEST(Weights, AnEmptyFolderIsAnErrorWithTheExpectedFiles) {
  const test::TempFolder folder;
  EXPECT_ERROR(Weights(folder.path()),
               folder.path().string() + ": contains no weights, expected one of model.safetensors,");
  EXPECT_ERROR(Weights(folder / "x"), "cannot open");
}

TEST(Weights, AnIndexMustMatchItsFiles) {
  const test::TempFolder folder;
  save_two(folder);
  const auto refuses = [&](const std::string& index, const std::string& why) {
    write(folder / "model.safetensors.index.json", index);
    EXPECT_ERROR(Weights(folder.path()), why);
  };
  refuses("", "model.safetensors.index.json: is not valid JSON");
  refuses("{", "is not valid JSON");
  refuses(R"({"weight_map": )" + std::string(100'000, '['), "nested too deep");
  refuses("[]", "is not an index of weights");
  refuses(R"({"weight_map": []})", "is not an index of weights");
  refuses(R"({"weight_map": {}})", "the weight_map is empty");
  refuses(R"({"weight_map": {"a": 1}})", "the entry \"a\" of the weight_map is not the name of a file");
  for (const char* elsewhere : {"", "..", ".", "../model-1.safetensors", "/etc/passwd", "x/y", "x/"})
    refuses(R"({"weight_map": {"a": ")" + std::string(elsewhere) + "\"}}",
            "is not the name of a file in the same folder");
  refuses(R"({"weight_map": {"a": "model-3.safetensors"}})", "model-3.safetensors: cannot open");
  refuses(R"({"weight_map": {"a": "model-2.safetensors"}})", "lists tensor \"a\" in \"model-2.safetensors\"");
  save_safetensors(folder / "model-1.safetensors", {{{"a", Tensor::scalar(1)}, {"c", Tensor::scalar(1)}}});
  refuses(R"({"weight_map": {"a": "model-1.safetensors"}})", "does not list tensor \"c\"");
}

}  // namespace
}  // namespace attend
