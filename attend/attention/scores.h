// How well a key answers a query: the scoring functions, as values. Each has
//   keys(k)        what can be computed once for all queries; a decoder does it once a sentence
//   operator()     queries [B, T, Dq] against such keys -> scores [B, T, S]
// and visit, for those that learn. Score holds any of them.
#pragma once
#include <variant>

#include "attend/nn/linear.h"

namespace attend {

/// score = q · k (Luong et al. 2015, "dot").   Dq = Dk
struct Dot {
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&&) {}
};

/// score = q · k / √D: the variance of a dot product grows with D, and a softmax of large numbers has no gradient
/// (Vaswani et al. 2017, eq. 1).   Dq = Dk
struct ScaledDot {
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&&) {}
};

/// score = v · tanh(Wq q + Wk k): a small network (Bahdanau et al. 2015, appendix A.1.2).
struct Additive {
  Linear query, key;  // [hidden, Dq] and [hidden, Dk], no biases
  Tensor v;           // [hidden]

  Additive() = default;
  Additive(std::int64_t Dq, std::int64_t Dk, std::int64_t hidden, Generator& generator = default_generator());
  Tensor keys(const Tensor& k) const { return key(k); }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& visitor) { visitor("query", query), visitor("key", key), visitor("v", v); }
};

/// score = qᵀ W k, bilinear (Luong et al. 2015, "general").
struct General {
  Linear key;  // [Dq, Dk]: W k is computed once, and then it is a dot product

  General() = default;
  General(std::int64_t Dq, std::int64_t Dk, Generator& generator = default_generator())
      : key(Dk, Dq, false, generator) {}
  Tensor keys(const Tensor& k) const { return key(k); }
  Tensor operator()(const Tensor& q, const Tensor& keys) const { return Dot()(q, keys); }
  void visit(auto&& v) { v("key", key); }
};

/// score of position j = (W q)_j: where to look is read off the query alone; the keys only say how many positions there
/// are (Luong et al. 2015, "location"). Throws beyond the positions it has learned.
struct Location {
  Linear position;  // [most positions, Dq]

  Location() = default;
  Location(std::int64_t Dq, std::int64_t most, Generator& generator = default_generator())
      : position(Dq, most, false, generator) {}
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("position", position); }
};

/// score = β cos(q, k): by content, whatever its size; β sharpens (Graves et al. 2014, eq. 5).   Dq = Dk
struct Content {
  Tensor sharpness = Tensor::scalar(1.f);  // β: a scalar that may be learned, or [B, T, 1] from a controller

  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("sharpness", sharpness); }
};

/// score = -½ ‖(q - k) w‖²: with the softmax, the Gaussian kernel of Nadaraya–Watson regression. w is one over the
/// kernel's width, and may be learned.   Dq = Dk
struct Gaussian {
  Tensor inverse_width = Tensor::scalar(1.f);  // w: a scalar, or [D] for a width in each dimension

  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("inverse_width", inverse_width); }
};

/// score = 0: every key counts the same, and pooling is a plain average.
struct Uniform {
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&&) {}
};

/// Any of them.
struct Score : std::variant<ScaledDot, Dot, Additive, General, Location, Content, Gaussian, Uniform> {
  using variant::variant;

  Tensor keys(const Tensor& k) const {
    return std::visit([&](const auto& score) { return score.keys(k); }, base());
  }
  Tensor operator()(const Tensor& q, const Tensor& keys) const {
    return std::visit([&](const auto& score) { return score(q, keys); }, base());
  }
  void visit(auto&& v) {
    std::visit([&](auto& score) { score.visit(v); }, static_cast<variant&>(*this));
  }
  const variant& base() const { return *this; }
};

}  // namespace attend
