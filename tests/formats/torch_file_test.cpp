// PyTorch files, written by tests/golden/torch_files.py. Some tests corrupt them.
#include "attend/formats/torch_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "attend/formats/weights.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(ATTEND_SOURCE_DIR) / "tests/fuzz/seeds/torch_file" / name;
}

/// Opens the bytes and reads every tensor in them.
TorchFile open(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  TorchFile file("x.bin", std::as_bytes(std::span(*owner)), owner);
  for (const std::string& name : file.names()) file.get_float32(name);
  return file;
}

/// Replaces the first occurrence of a text with another one of the same length.
std::string with(std::string bytes, const std::string& old, const std::string& now) {
  const std::size_t at = bytes.find(old);
  EXPECT_NE(at, bytes.npos) << old;
  EXPECT_EQ(old.size(), now.size());
  return bytes.replace(at, old.size(), now);
}

TEST(TorchFile, EveryFileFormatGivesTheSameTensors) {
  const SafetensorsFile golden = test::golden("torch_files");
  for (const char* name : {"zip", "protocol4", "old", "old_protocol4", "big_endian", "no_byteorder"}) {
    const TorchFile file(fixture(name));
    EXPECT_EQ(file.names(), golden.names()) << name;
    for (const std::string& tensor : golden.names())
      EXPECT_TRUE(test::close(file.get_float32(tensor), golden.get(tensor), {0.f, 0.f})) << name << ": " << tensor;
    EXPECT_EQ(file.get("half").dtype(), DType::f16);
    EXPECT_EQ(file.get("bfloat16").dtype(), DType::bf16);
    EXPECT_EQ(file.get("long").dtype(), DType::i32);
    EXPECT_EQ(file.get("bool").dtype(), DType::i8);
    ASSERT_EQ(file.warnings().size(), 1u);
    EXPECT_NE(file.warnings()[0].find("tensor \"double\" is F64"), std::string::npos);
    EXPECT_ERROR(file.get("none"), "has no tensor \"none\" among its 19");
  }
}

TEST(TorchFile, TensorsBorrowTheMappingAndTiedOnesShareMemory) {
  Tensor plain, again;
  {
    const TorchFile file(fixture("zip"));
    plain = file.get("plain"), again = file.get("plain");
    EXPECT_EQ(file.get("tied.a").raw(), file.get("tied.b").raw());
    EXPECT_EQ(file.get("rows").raw(), file.get("one.row").raw()) << "views of one storage";
    EXPECT_NE(file.get("transposed").raw(), file.get("transposed").raw()) << "has to be copied";
  }
  EXPECT_EQ(plain.raw(), again.raw()) << "no copy";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plain.raw()) % 64, 0u);
  EXPECT_TRUE(test::close(plain, test::golden("torch_files").get("plain"), {0.f, 0.f})) << "outlives the file";
}

TEST(TorchFile, AFolderMayContainOneFileOrSeveralWithAnIndex) {
  const test::TempFolder folder;
  std::filesystem::copy(fixture("zip"), folder / "pytorch_model.bin");
  EXPECT_EQ(Weights(folder.path()).names().size(), 19u);
  std::filesystem::rename(folder / "pytorch_model.bin", folder / "pytorch_model-00001-of-00001.bin");
  std::string map;
  for (const std::string& name : TorchFile(fixture("zip")).names())
    map += (map.empty() ? "\"" : ", \"") + name + "\": \"pytorch_model-00001-of-00001.bin\"";
  std::ofstream(folder / "pytorch_model.bin.index.json") << "{\"weight_map\": {" << map << "}}";
  EXPECT_EQ(Weights(folder.path()).get("columns").shape(), (Shape{3, 3}));
}

TEST(TorchFile, OnlyTheFunctionsThatTensorsNeedAreAccepted) {
  EXPECT_ERROR(TorchFile(fixture("command")), "uses \"posix.system\", which a file of weights does not need");
  EXPECT_ERROR(TorchFile(fixture("checkpoint")), "\"epoch\" is not a tensor; is the file a training checkpoint?");
  EXPECT_ERROR(TorchFile(fixture("list")), "does not contain a dictionary of tensors");
  EXPECT_ERROR(TorchFile(fixture("expanded")), "of shape [1000] has more elements than its storage, which has 1");
  EXPECT_ERROR(open(""), "the file is empty");
  EXPECT_ERROR(open("{\"a\": 1}"), "is not a file written by torch.save()");
  const std::string zip = test::contents(fixture("zip"));
  EXPECT_ERROR(open(with(zip, "_rebuild_tensor_v2", "_rebuild_tensor_v9")), "\"torch._utils._rebuild_tensor_v9\"");
  EXPECT_ERROR(open(with(zip, "FloatStorage", "FlobtStorage")), "uses \"torch.FlobtStorage\"");
}

TEST(TorchFile, EveryTruncatedFileIsRefused) {
  for (const char* name : {"zip", "old"}) {
    const std::string whole = test::contents(fixture(name));
    open(whole);
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50)
      EXPECT_THROW(open(whole.substr(0, size)), InputError) << name << ", " << size << " bytes";
  }
}

TEST(TorchFile, ACorruptByteGivesAnErrorOrOtherNumbers) {
  for (const char* name : {"zip", "old"}) {
    const std::string whole = test::contents(fixture(name));
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (const int change : {0x01, 0xFF}) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(bytes[i] ^ change);
        test::error_of([&] { open(bytes); });  // an Error is fine; any other exception fails the test
      }
  }
}

TEST(TorchFile, MaliciousArchivesAreRefused) {
  const std::string zip = test::contents(fixture("zip"));
  EXPECT_ERROR(open(with(zip, "little", "middle")), "the byteorder is \"middle\"");
  // In an entry of the directory, the method is at offset 10, and the offset of the local header at 42.
  const std::size_t entry = zip.find("PK\1\2");
  std::string compressed = zip;
  compressed[entry + 10] = 8;
  EXPECT_ERROR(open(compressed), "entry \"zip/data.pkl\" of the zip archive is compressed");
  std::string elsewhere = zip;
  elsewhere[entry + 42] = 1;
  EXPECT_ERROR(open(elsewhere), "is not at the offset of the directory");
  std::string beyond = zip;
  beyond[entry + 45] = 0x7F;
  EXPECT_ERROR(open(beyond), "is the download complete?");
}

/// A file in the old format with this pickle as dictionary, and a storage "0" of `count` floats if count > 0.
std::string old_file(const std::string& dictionary, std::uint64_t count) {
  const std::string whole = test::contents(fixture("old")), none = "\x80\x02N.";
  std::string size(8, '\0');
  std::memcpy(size.data(), &count, 8);
  const std::string storages = count ? "]U\x01"
                                       "0a." +
                                           size + std::string(4 * count, '\0')
                                     : "].";
  return whole.substr(0, whole.find('.') + 1) + none + none + "\x80\x02" + dictionary + ".\x80\x02" + storages;
}
/// The pickle of {"x": tensor} with these sizes, strides, offset and storage size, each given as instructions.
std::string tensor(const std::string& sizes, const std::string& strides, const std::string& offset,
                   const std::string& count) {
  return std::string("}U\x01xctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01") + "0U\x03" +
         "cpu" + count + "tQ" + offset + "(" + sizes + "t(" + strides + "t\x89}tRs";
}

TEST(TorchFile, MaliciousTensorsAreRefused) {
  const auto k = [](int value) { return std::string("K") + static_cast<char>(value); };
  const std::string zero("K\0", 2), huge = std::string("\x8a\x08") + std::string(7, '\xFF') + "\x7F";
  EXPECT_EQ(open(old_file(tensor(k(2) + k(3), k(3) + k(1), zero, k(6)), 6)).get("x").shape(), (Shape{2, 3}));
  EXPECT_EQ(open(old_file(tensor("", "", k(5), k(6)), 6)).get("x").item(), 0.f);

  const auto refuses = [](const std::string& dictionary, const std::string& why) {
    EXPECT_ERROR(open(old_file(dictionary, 6)), why);
  };
  refuses(tensor(k(2) + k(3), k(3) + k(1), k(1), k(6)), "of shape [2, 3] with strides [3, 1] from element 1 on ends");
  refuses(tensor(k(2), k(6), zero, k(6)), "ends beyond its storage, which has 6 elements");
  refuses(tensor(k(2), huge, zero, k(6)), "ends beyond its storage");
  refuses(tensor(k(2), k(1), huge, k(6)), "ends beyond its storage");
  refuses(tensor(huge + huge, k(1) + k(1), zero, k(6)), "has more elements than its storage");
  refuses(tensor(k(7), zero, zero, k(6)), "has more elements than its storage");
  refuses(tensor("J\xFF\xFF\xFF\xFF", k(1), zero, k(6)), "has an impossible shape");
  refuses(tensor(k(2), "J\xFF\xFF\xFF\xFF", zero, k(6)), "has an impossible shape");
  refuses(tensor(k(2), k(1), "J\xFF\xFF\xFF\xFF", k(6)), "has an invalid description");
  refuses(tensor(k(2), "", zero, k(6)), "has 1 sizes and 0 strides");
  refuses(tensor(k(2), k(1), zero, huge), "is too large");
  refuses(tensor(k(2), k(1), zero, k(5)), "does not match its description");
  refuses(tensor("N", k(1), zero, k(6)), "has an impossible shape");
}

TEST(TorchFile, MaliciousPicklesAreRefused) {
  const auto refuses = [](const std::string& pickle, const std::string& why) {
    EXPECT_ERROR(open(old_file(pickle, 0)), why);
  };
  refuses("", "the stack is empty");
  refuses("t", "a mark is missing");
  refuses("(0R", "the stack is empty");
  refuses("NNR", "calls something that is not a function");
  refuses("N)R", "calls something that is not a function");
  refuses("NNa", "expected a list on the stack");
  refuses("N(NNu", "expected a dictionary on the stack");
  refuses("}(Nu", "a key has no value");
  refuses("}NNs", "the name of a tensor is not a string");
  refuses("h\x05", "a memo entry is missing");
  refuses("i", "instruction 105 is not supported");
  refuses("X\xFF\xFF\xFF\xFF", "ends too early");
  refuses("\x8a\x09" + std::string(9, '1'), "a number has 9 bytes");
  refuses("cos\nsystem\n", "uses \"os.system\"");
  refuses("U\x02osU\x06system\x93", "uses \"os.system\"");
  refuses("}U\x01xh\x01s", "a memo entry is missing");
  refuses("}q\x01U\x01xh\x01s", "\"x\" is not a tensor");  // a dictionary that contains itself
  refuses("}U\x01xctorch._utils\n_rebuild_parameter\n)Rs", "is a parameter without a tensor");
  refuses("}U\x01xctorch._utils\n_rebuild_tensor_v2\n)Rs", "has an invalid description");
  refuses("NQ0}", "the id of a storage is not a tuple of five");
}

}  // namespace
}  // namespace attend
