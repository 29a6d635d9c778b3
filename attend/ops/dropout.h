// Dropout (Srivastava et al. 2014), and the Training scope that enables it.
#pragma once
#include "attend/core/random.h"
#include "attend/core/tensor.h"

namespace attend {

/// Whether this thread is inside a Training scope.
bool training();

/// Enables dropout on this thread while the object lives. Training(false) disables it within an outer scope.
class Training {
 public:
  explicit Training(bool on = true);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

 private:
  bool before_;
};

/// Sets each element to 0 with probability p (in steps of 1/65536), and divides the others by 1 - p.   x [...] -> [...]
/// The mask is a function of the key and the element's index, so the backward pass recomputes it instead of storing it.
/// Returns x itself if p is 0 or outside a Training scope. Throws unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, float p, PhiloxKey key);
/// Dropout with the next stream of default_generator(). If dropout is disabled or p is 0, no stream is used.
Tensor dropout(const Tensor& x, float p);

}  // namespace attend
