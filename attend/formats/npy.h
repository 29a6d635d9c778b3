// NumPy's .npy files: matrices of float32, which is how vectors travel between programs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "attend/core/tensor.h"

namespace attend {

/// What stands before the numbers of a matrix [rows, cols]. Always kNpyHeader bytes, so that the number of rows can be
/// written when all of them are there.
std::string npy_header(std::int64_t rows, std::int64_t cols);
constexpr std::int64_t kNpyHeader = 128;

/// A matrix of float32 in C's order, which stays in the mapped file. Throws InputError [load] for anything else.
Tensor read_npy(const std::filesystem::path& path);

}  // namespace attend
