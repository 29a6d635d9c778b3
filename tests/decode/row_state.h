// A GenerationState for tests: one value for each row.
#pragma once
#include <vector>

#include "attend/models/generative_model.h"

namespace attend::test {

template <typename T>
struct RowState : GenerationState {
  std::vector<T> values;

  std::int64_t rows() const override { return std::ssize(values); }
  std::int64_t length(std::int64_t) const override { return 0; }
  void select(std::span<const std::int64_t> rows) override {
    std::vector<T> selected;
    for (const std::int64_t row : rows) selected.push_back(values[static_cast<std::size_t>(row)]);
    values = std::move(selected);
  }
  void join(GenerationState&& other) override {
    const auto& more = static_cast<const RowState&>(other).values;
    values.insert(values.end(), more.begin(), more.end());
  }
};

}  // namespace attend::test
