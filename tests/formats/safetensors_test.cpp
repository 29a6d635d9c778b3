#include "attend/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "attend/core/file.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}
/// A file with this header and `data` bytes of data.
std::string file_of(const std::string& header, std::size_t data) {
  return with_length(header.size(), header + std::string(data, '\1'));
}

/// Opens the bytes and reads every tensor in them.
SafetensorsFile open(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  SafetensorsFile file("x.safetensors", std::as_bytes(std::span(*owner)), owner);
  for (const std::string& name : file.names()) file.get_float32(name);
  return file;
}

TEST(Safetensors, TensorsSurviveARoundTrip) {
  const test::TempFolder folder;
  const std::vector<NamedTensor> tensors = {
      {"flags", Tensor::from(std::span<const std::int8_t>(std::vector<std::int8_t>{1, 0, -3}), {3})},
      {"weight", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3})},
      {"scalar", Tensor::scalar(2.5f)},
      {"ids ü", Tensor::ids({-1, 7}, {2, 1})},
      {"nothing", Tensor::empty({0, 4})}};
  save_safetensors(folder / "x.safetensors", tensors, {{"format", "pt"}, {"step", "12"}});

  const SafetensorsFile file(folder / "x.safetensors");
  EXPECT_EQ(file.names(), (std::vector<std::string>{"flags", "ids ü", "nothing", "scalar", "weight"}));
  EXPECT_EQ(file.metadata().at("step"), "12");
  for (const auto& [name, written] : tensors) {
    const Tensor read = file.get(name);
    EXPECT_EQ(read.shape(), written.shape()) << name;
    EXPECT_EQ(read.dtype(), written.dtype()) << name;
    EXPECT_EQ(std::memcmp(read.raw(), written.raw(), written.bytes()), 0) << name;
  }
  EXPECT_FALSE(file.contains("bias"));
  EXPECT_TRUE(file.warnings().empty());
}

TEST(Safetensors, TensorsBorrowTheAlignedMappingAndOutliveTheFile) {
  const test::TempFolder folder;
  save_safetensors(folder / "x", {{{"a", Tensor::from({1, 2}, {2})}}});
  Tensor a;
  {
    const SafetensorsFile file(folder / "x");
    a = file.get("a");
    EXPECT_EQ(file.get("a").raw(), a.raw()) << "no copy";
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.raw()) % 64, 0u);
  EXPECT_EQ(a.to_vector(), (std::vector<float>{1, 2}));
  save_safetensors(folder / "x", {{{"a", Tensor::from({3, 4}, {2})}}});
  EXPECT_EQ(a.to_vector(), (std::vector<float>{1, 2})) << "replacing the file does not change loaded tensors";
}

TEST(Safetensors, OtherDtypesAreConverted) {
  const double f64 = 0.1;
  const std::int64_t i64 = -5;
  std::string header =
      R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"u":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[3,5]},"d":{"dtype":"F64","shape":[],"data_offsets":[5,13]},)"
      R"("i":{"dtype":"I64","shape":[1,1],"data_offsets":[13,21]},"w":{"dtype":"BF16","shape":[1],"data_offsets":[21,23]}})";
  std::string data("\1\2\3\0\x3C", 5);  // unaligned on purpose
  data.append(reinterpret_cast<const char*>(&f64), 8);
  data.append(reinterpret_cast<const char*>(&i64), 8);
  data.append("\x80\xBF", 2);
  const SafetensorsFile file = open(with_length(header.size(), header + data));
  EXPECT_EQ(file.get("b").dtype(), DType::i8);
  EXPECT_EQ(file.get("u").data<std::int8_t>()[1], 3);
  EXPECT_EQ(file.get("h").dtype(), DType::f16);
  EXPECT_EQ(file.get_float32("h").item(), 1.f);
  EXPECT_EQ(file.get("d").item(), 0.1f);
  EXPECT_EQ(file.get("i").data<std::int32_t>()[0], -5);
  EXPECT_EQ(file.get_float32("w").item(), -1.f);
  ASSERT_EQ(file.warnings().size(), 1u);
  EXPECT_NE(file.warnings()[0].find("tensor \"d\" is F64"), std::string::npos);
}

TEST(Safetensors, AFileWithoutTensorsIsValid) {
  EXPECT_TRUE(open(file_of("{}", 0)).names().empty());
  EXPECT_TRUE(open(file_of(R"({"__metadata__":null}   )", 0)).metadata().empty());
}

TEST(Safetensors, UnsupportedTensorsAreErrorsOnlyWhenTheyAreRead) {
  const std::string deep = R"({"a":{"dtype":"U8","shape":[1,1,1,1,1],"data_offsets":[0,1]},)"
                           R"("b":{"dtype":"C64","shape":[1],"data_offsets":[1,9]},)"
                           R"("c":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}})";
  const std::string bytes = file_of(deep, 10);
  const SafetensorsFile file("x", std::as_bytes(std::span(bytes)), nullptr);
  EXPECT_EQ(file.get("c").numel(), 1);
  EXPECT_ERROR(file.get("a"), R"([load] x: tensor "a" has 5 dimensions, expected at most 4: [1, 1, 1, 1, 1])");
  EXPECT_ERROR(file.get("b"), R"(tensor "b" is stored as C64, which is not supported)");
  EXPECT_ERROR(file.get("d"), R"(has no tensor "d" among its 3)");
}

TEST(Safetensors, NumbersOutOfRangeAreReported) {
  const std::string header = R"({"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})";
  std::string data(16, '\0');
  data[12] = 1;  // 2^32
  EXPECT_ERROR(open(with_length(header.size(), header + data)), "holds 4294967296 at element 1");
  EXPECT_ERROR(open(with_length(55, R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}  )"
                                    "\xFF")),
               "holds 255");
}

TEST(Safetensors, EveryKindOfMalformedFileIsReported) {
  const auto tensor = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  const std::string good = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
  ASSERT_NO_THROW(open(file_of(tensor(good), 4)));

  // The file as a whole.
  EXPECT_ERROR(open(""), "[load] x.safetensors: the file is empty");
  EXPECT_ERROR(open("abc"), "3 bytes, too short");
  EXPECT_ERROR(open(with_length(1'000'000, "{}")),
               "the header ends at byte 1,000,008, but the file has 10; is the download");
  EXPECT_ERROR(open(with_length(~0ull, "{}")), "the header has 18,446,744,073,709,551,615 bytes");
  EXPECT_ERROR(open(with_length(0, "")), "the header is not valid JSON");
  // The JSON.
  EXPECT_ERROR(open(file_of("{\"a\":", 0)), "the header is not valid JSON, at byte 6");
  EXPECT_ERROR(open(file_of("{} x", 0)), "not valid JSON");
  EXPECT_ERROR(open(file_of("{\"a\xFF\":{}}", 0)), "not valid JSON");
  EXPECT_ERROR(open(file_of("[]", 0)), "the header is a list, expected an object that names the tensors");
  EXPECT_ERROR(open(file_of("7", 0)), "the header is a number");
  EXPECT_ERROR(open(file_of(std::string(1'000'000, '['), 0)), "the header is a list");
  EXPECT_ERROR(open(file_of(R"({"a":)" + std::string(1'000'000, '['), 0)), "\"a\" is a list, expected an object");
  // The entries.
  EXPECT_ERROR(open(file_of(R"({"a":3})", 0)), "\"a\" is a number, expected an object");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1])"), 4)), "tensor \"a\" has no data_offsets");
  EXPECT_ERROR(open(file_of(tensor(good + R"(,"more":1)"), 4)), "tensor \"a\" has the key \"more\"");
  EXPECT_ERROR(open(file_of(tensor(good + R"(,"shape":[1])"), 4)), "tensor \"a\" has shape twice");
  EXPECT_ERROR(open(file_of("{\"a\":{" + good + "},\"a\":{" + good + "}}", 4)), "the header has \"a\" twice");
  EXPECT_ERROR(open(file_of(R"({"__metadata__":{"k":"v","k":"w"}})", 0)), "the metadata has \"k\" twice");
  EXPECT_ERROR(open(file_of(R"({"__metadata__":{},"__metadata__":{}})", 0)), "the header has \"__metadata__\" twice");
  EXPECT_ERROR(open(file_of(R"({"__metadata__":{"k":1}})", 0)), "the metadata's \"k\" is a number, expected a string");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), 4)),
               "the unknown dtype \"F31\"");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":4,"shape":[1],"data_offsets":[0,4])"), 4)), "a number as its dtype");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4)),
               "negative number in its shape: -1");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,4])"), 4)),
               "a floating-point number in its shape");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), 4)), "a list in its shape");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":"1","data_offsets":[0,4])"), 4)), "a string as its shape");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"), 4)),
               "negative number in its data_offsets");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4)),
               "has 1 data_offsets, expected 2");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4)),
               "more than two data_offsets");
  // The layout.
  EXPECT_ERROR(open(file_of(tensor(good), 3)),
               "tensor \"a\" ends at byte 66, but the file has 65; is the download complete?");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])"), 4)),
               "ends at byte 18,446,744,073,709,551,615, but the file has");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4)), "ends before it begins");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4)),
               "has 4 bytes, but shape [2] of F32 needs 8");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), 0)),
               "an impossible shape");
  EXPECT_ERROR(open(file_of(tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0])"), 0)),
               "an impossible shape");
  EXPECT_ERROR(open(file_of(tensor(good), 8)), "4 bytes at the end belong to no tensor");
  const std::string second = R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)";
  EXPECT_ERROR(open(file_of(tensor(good + second + "[2,6]"), 6)), "tensors \"a\" and \"b\" overlap");
  EXPECT_ERROR(open(file_of(tensor(good + second + "[8,12]"), 12)), "4 bytes before tensor \"b\" belong to no tensor");
}

TEST(Safetensors, AShapeWithAZeroIsEmpty) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[0,9223372036854775807,9],"data_offsets":[0,0]}})";
  EXPECT_ERROR(open(file_of(header, 0)), "too many elements");
  EXPECT_EQ(open(file_of(R"({"a":{"dtype":"F32","shape":[3,0],"data_offsets":[0,0]}})", 0)).get("a").numel(), 0);
}

TEST(Safetensors, EveryTruncatedFileIsAnError) {
  const test::TempFolder folder;
  save_safetensors(folder / "x", {{{"a", Tensor::from({1, 2, 3}, {3})}, {"b", Tensor::ids({4}, {1})}}});
  const MappedFile file = map_file(folder / "x");
  const std::string whole(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  ASSERT_NO_THROW(open(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(test::error_of([&] { open(whole.substr(0, length)); }), "") << length;
}

TEST(Safetensors, InvalidTensorsAreReportedAndNothingIsWritten) {
  const test::TempFolder folder;
  const Tensor one = Tensor::scalar(1);
  EXPECT_ERROR(save_safetensors(folder / "x", {{{"a", one}, {"a", one}}}), "[save] ");
  EXPECT_ERROR(save_safetensors(folder / "x", {{{"a", Tensor()}}}), "tensor \"a\" is undefined");
  EXPECT_ERROR(save_safetensors(folder / "x", {{{"\xFF", one}}}), "not valid UTF-8");
  EXPECT_ERROR(save_safetensors(folder / "x", {{{"__metadata__", one}}}), "__metadata__");
  EXPECT_ERROR(SafetensorsFile(folder / "x"), "cannot open");
}

}  // namespace
}  // namespace attend
