#include "attend/formats/gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "attend/core/convert.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

/// Reads the file according to the specification of the format.
struct Reader {
  std::string bytes;
  std::size_t at = 0;

  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    return bytes.substr(std::exchange(at, at + size), size);
  }
};

TEST(Gguf, KeysAndTensorsFollowTheSpecification) {
  const test::TempFolder folder;
  GgufWriter writer;
  writer.set("general.architecture", std::string("gpt2"));
  writer.set("count", std::uint32_t{7});
  writer.set("epsilon", 0.5f);
  writer.set("flag", true);
  writer.set("words", std::vector<std::string>{"a", "bé"});
  writer.set("kinds", std::vector<std::int32_t>{1, -3});
  std::vector<float> values(3 * 32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 40.f;
  const Tensor matrix = Tensor::from(values, {3, 32}), odd = Tensor::from({1, 2, 3}, {3, 1});
  writer.add("whole", matrix, GgufType::f32);
  writer.add("bytes", matrix, GgufType::q8_0);
  writer.add("half", odd, GgufType::q8_0);
  writer.add("vector", Tensor::from({1, 2}, {2}), GgufType::f16);
  writer.save(folder / "m.gguf");

  Reader in{(std::stringstream() << std::ifstream(folder / "m.gguf").rdbuf()).str()};
  EXPECT_EQ(in.number<std::uint32_t>(), 0x46554747u);
  EXPECT_EQ(in.number<std::uint32_t>(), 3u);
  EXPECT_EQ(in.number<std::uint64_t>(), 4u);
  EXPECT_EQ(in.number<std::uint64_t>(), 6u);
  const auto key = [&](const char* name, std::uint32_t kind) {
    EXPECT_EQ(in.text(), name);
    EXPECT_EQ(in.number<std::uint32_t>(), kind) << name;
  };
  key("general.architecture", 8);
  EXPECT_EQ(in.text(), "gpt2");
  key("count", 4);
  EXPECT_EQ(in.number<std::uint32_t>(), 7u);
  key("epsilon", 6);
  EXPECT_EQ(in.number<float>(), 0.5f);
  key("flag", 7);
  EXPECT_EQ(in.number<std::uint8_t>(), 1);
  key("words", 9);
  EXPECT_EQ(in.number<std::uint32_t>(), 8u);
  EXPECT_EQ(in.number<std::uint64_t>(), 2u);
  EXPECT_EQ(in.text(), "a");
  EXPECT_EQ(in.text(), "bé");
  key("kinds", 9);
  EXPECT_EQ(in.number<std::uint32_t>(), 5u);
  EXPECT_EQ(in.number<std::uint64_t>(), 2u);
  EXPECT_EQ(in.number<std::int32_t>(), 1);
  EXPECT_EQ(in.number<std::int32_t>(), -3);

  std::vector<std::uint64_t> offsets;
  const auto tensor = [&](const char* name, std::vector<std::uint64_t> shape, std::uint32_t type) {
    EXPECT_EQ(in.text(), name);
    EXPECT_EQ(in.number<std::uint32_t>(), shape.size());
    for (const std::uint64_t size : shape) EXPECT_EQ(in.number<std::uint64_t>(), size) << name;
    EXPECT_EQ(in.number<std::uint32_t>(), type) << name;
    offsets.push_back(in.number<std::uint64_t>());
    EXPECT_EQ(offsets.back() % 32, 0u);
  };
  tensor("whole", {32, 3}, 0), tensor("bytes", {32, 3}, 8), tensor("half", {1, 3}, 1), tensor("vector", {2}, 0);
  const std::size_t data = (in.at + 31) / 32 * 32;
  EXPECT_EQ(in.bytes.size() % 32, 0u);
  in.at = data + offsets[0];
  for (const float value : values) EXPECT_EQ(in.number<float>(), value);
  in.at = data + offsets[1];
  for (std::size_t i = 0; i < values.size(); i += 32) {
    const float scale = float_from_f16(in.number<std::uint16_t>());
    for (std::size_t j = 0; j < 32; ++j)
      EXPECT_NEAR(scale * static_cast<float>(in.number<std::int8_t>()), values[i + j], 0.51f * scale);
  }
  in.at = data + offsets[2];
  for (const float value : {1.f, 2.f, 3.f}) EXPECT_EQ(float_from_f16(in.number<std::uint16_t>()), value);
}

TEST(Gguf, OtherDtypesThanFloat32AreRefused) {
  GgufWriter writer;
  EXPECT_ERROR(writer.add("ids", Tensor::ids({1}, {1}), GgufType::f32), "\"ids\" has the wrong dtype: got int32");
}

}  // namespace
}  // namespace attend
