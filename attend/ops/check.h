// Checks of the inputs of ops. Each throws [op] with the actual and the expected value.
#pragma once
#include "attend/core/error.h"
#include "attend/core/tensor.h"

namespace attend {

inline void check_dtype(const char* op, const char* name, const Tensor& x, DType expected) {
  if (!x.defined()) fail(op, name, " is an undefined tensor, expected ", expected);
  if (x.dtype() != expected)
    fail(op, name, " has the wrong dtype: got ", x.dtype(), " ", x.shape(), ", expected ", expected);
}
inline void check_float(const char* op, const char* name, const Tensor& x) { check_dtype(op, name, x, DType::f32); }

/// Converts a dimension, which may be negative, to an index in [0, rank).
inline int check_dim(const char* op, const Tensor& x, int dim) {
  const int index = dim < 0 ? dim + x.rank() : dim;
  if (index < 0 || index >= x.rank()) fail(op, "there is no dimension ", dim, " in x ", x.shape());
  return index;
}

/// Checks that ids are int32 in [0, bound). Other ids are an InputError, since they come from a tokenizer or a caller.
inline void check_ids(const char* op, const Tensor& ids, std::int64_t bound, const char* hint = "") {
  check_dtype(op, "ids", ids, DType::i32);
  const std::int32_t* values = ids.data<std::int32_t>();
  for (std::int64_t i = 0, n = ids.numel(); i < n; ++i)
    if (values[i] < 0 || values[i] >= bound)
      fail<InputError>(op, "id ", values[i], " at position ", i, " of ids ", ids.shape(),
                       " is out of range, expected 0 to ", bound - 1, hint);
}

/// The hint for an id without an embedding.
constexpr const char* kUnknownId = "; does the tokenizer belong to this model?";

/// Checks that lengths are int32 [count], each between 0 and `most`.
inline void check_lengths(const char* op, const Tensor& lengths, std::int64_t count, std::int64_t most) {
  check_dtype(op, "lengths", lengths, DType::i32);
  if (lengths.rank() != 1 || lengths.dim(0) != count)
    fail(op, "lengths do not fit the batch: got ", lengths.shape(), ", expected [", count, "]");
  for (std::int64_t b = 0; b < count; ++b)
    if (const std::int32_t length = lengths.data<std::int32_t>()[b]; length < 0 || length > most)
      fail(op, "the length of sequence ", b, " is out of range: got ", length, ", expected 0 to ", most);
}

}  // namespace attend
