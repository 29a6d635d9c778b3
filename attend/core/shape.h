// The shape of a tensor: the sizes of at most four dimensions, outermost first.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>

namespace attend {

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;  ///< rank 0: a scalar, one element
  /// Throws for more than four dimensions, a negative size, or more than 2^60 elements.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const { return rank_; }
  std::int64_t numel() const;
  /// The size of a dimension. Negative indices count from the end: [-1] is the last dimension. Throws if there is no
  /// such dimension.
  std::int64_t operator[](int dim) const { return dims_[static_cast<std::size_t>(index(dim))]; }
  /// Converts a dimension, which may be negative, to an index in [0, rank). Throws if there is no such dimension.
  int index(int dim) const;
  /// The number of rows: the product of all sizes except the last. A scalar has one row.
  std::int64_t rows() const;

  Shape with(int dim, std::int64_t size) const;      ///< a copy with the size of one dimension replaced
  Shape without(int dim) const;                      ///< a copy with one dimension removed
  Shape inserted(int dim, std::int64_t size) const;  ///< a copy with a dimension inserted at index dim

  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + rank_; }
  bool operator==(const Shape& other) const = default;

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// Prints "[32, 25, 512]".
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace attend
