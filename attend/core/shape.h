// The sizes of a tensor's dimensions: at most four, outermost first.
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
  /// Throws on more than four dimensions, a negative size, or more elements than memory could hold (2^60).
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const { return rank_; }
  std::int64_t numel() const;
  /// The size of a dimension; negative ones count from the end, so [-1] is the last. Throws when there is none.
  std::int64_t operator[](int dim) const { return dims_[static_cast<std::size_t>(index(dim))]; }
  /// The dimension as a non-negative index, checked.
  int index(int dim) const;
  /// The product of all sizes but the last: how many rows of [-1] there are. A scalar is one row.
  std::int64_t rows() const;

  Shape with(int dim, std::int64_t size) const;      ///< the same with one size replaced
  Shape without(int dim) const;                      ///< the same with one dimension removed
  Shape inserted(int dim, std::int64_t size) const;  ///< the same with one dimension more, at index dim

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
