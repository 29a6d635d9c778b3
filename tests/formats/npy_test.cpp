#include "attend/formats/npy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class Npy : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) {
    std::ofstream(folder_ / "x.npy", std::ios::binary) << bytes;
    return folder_ / "x.npy";
  }
  /// Writes a file with this header, as NumPy does.
  std::filesystem::path with_header(std::string header, const std::string& data) {
    header += '\n';
    return write(std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data);
  }
  static std::string bytes(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
  }
  test::TempFolder folder_;
};

TEST_F(Npy, ReadsMatricesOfAnyShape) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(npy_header(2, 3).size(), static_cast<std::size_t>(kNpyHeader));
  EXPECT_EQ(npy_header(1'000'000'000'000, 4096).size(), static_cast<std::size_t>(kNpyHeader));
  const Tensor read = read_npy(write(npy_header(2, 3) + bytes(numbers)));
  EXPECT_EQ(read.shape(), (Shape{2, 3}));
  EXPECT_EQ(read.to_vector(), numbers);
  EXPECT_EQ(read_npy(write(npy_header(0, 3))).shape(), (Shape{0, 3}));
  EXPECT_EQ(read_npy(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", bytes(numbers))).dim(0),
            3);
}

TEST_F(Npy, RefusesEverythingButFloat32Matrices) {
  const std::string data = bytes({1, 2, 3, 4});
  EXPECT_ERROR(read_npy(write("")), "is not a .npy file");
  EXPECT_ERROR(read_npy(write("\x93NUMPY and more text")), "is truncated");
  EXPECT_ERROR(read_npy(write(npy_header(2, 3) + data)), "has 16 bytes of numbers, expected 24");
  EXPECT_ERROR(read_npy(write(npy_header(std::int64_t{1} << 62, 8) + data)), "too large");
  EXPECT_ERROR(read_npy(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}", data)), "'<f8'");
  EXPECT_ERROR(read_npy(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", data)), "Fortran");
  for (const char* shape : {"(4,)", "(2, 2, 1)", "(-2, -2)", "(,)", "4", "(2"})
    EXPECT_ERROR(
        read_npy(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + "}", data)),
        "expected (rows, columns)");
}

}  // namespace
}  // namespace attend
