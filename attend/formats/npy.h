// NumPy's .npy files: float32 matrices, for example of embeddings.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "attend/core/tensor.h"

namespace attend {

/// The header of a .npy file with a matrix [rows, cols]. It always has kNpyHeader bytes, so that it can be overwritten
/// once the number of rows is known.
std::string npy_header(std::int64_t rows, std::int64_t cols);
constexpr std::int64_t kNpyHeader = 128;

/// Reads a float32 matrix in C order; it stays in the mapped file. Throws InputError [load] for anything else.
Tensor read_npy(const std::filesystem::path& path);

}  // namespace attend
