// Attention scoring functions: how well a key matches a query. Each is a struct with
//   keys(k)           transforms the keys; a decoder calls it once for each sentence, not once for each query
//   operator()        scores of queries [B, T, Dq] and such keys -> [B, T, S]
//   visit(v)          names its parameters, if any
// Score holds any of them.
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

/// score = q · k / √D (Vaswani et al. 2017, eq. 1). Without the scale, the variance of the scores grows with D, and the
/// gradient of the softmax vanishes.   Dq = Dk
struct ScaledDot {
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&&) {}
};

/// score = v · tanh(Wq q + Wk k), a network with one hidden layer (Bahdanau et al. 2015, appendix A.1.2).
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
  Linear key;  // [Dq, Dk]: keys() computes W k, and the score is then a dot product

  General() = default;
  General(std::int64_t Dq, std::int64_t Dk, Generator& generator = default_generator())
      : key(Dk, Dq, false, generator) {}
  Tensor keys(const Tensor& k) const { return key(k); }
  Tensor operator()(const Tensor& q, const Tensor& keys) const { return Dot()(q, keys); }
  void visit(auto&& v) { v("key", key); }
};

/// score of key j = (W q)_j (Luong et al. 2015, "location"). The scores depend on the query and the position of the
/// key, not on the content of the keys. Throws if there are more keys than learned positions.
struct Location {
  Linear position;  // [maximum number of positions, Dq]

  Location() = default;
  Location(std::int64_t Dq, std::int64_t most, Generator& generator = default_generator())
      : position(Dq, most, false, generator) {}
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("position", position); }
};

/// score = β cos(q, k): content-based addressing (Graves et al. 2014, eq. 5). A larger β gives a sharper distribution.
///   Dq = Dk
struct Content {
  Tensor sharpness = Tensor::scalar(1.f);  // β: a scalar, which can be trained, or [B, T, 1] from a controller

  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("sharpness", sharpness); }
};

/// score = -½ ‖(q - k) w‖². With a softmax, this is the Gaussian kernel of Nadaraya–Watson regression; w is the inverse
/// of the kernel's width, and can be trained.   Dq = Dk
struct Gaussian {
  Tensor inverse_width = Tensor::scalar(1.f);  // w: a scalar, or [D] for a width in each dimension

  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&& v) { v("inverse_width", inverse_width); }
};

/// score = 0: all keys have the same weight, and pooling is the mean of the values.
struct Uniform {
  Tensor keys(const Tensor& k) const { return k; }
  Tensor operator()(const Tensor& q, const Tensor& keys) const;
  void visit(auto&&) {}
};

/// Any of the scoring functions.
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
