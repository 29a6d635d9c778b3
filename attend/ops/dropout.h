// Dropout (Srivastava et al. 2014), and the switch that turns it on: outside a Training scope it does nothing.
#pragma once
#include "attend/core/random.h"
#include "attend/core/tensor.h"

namespace attend {

/// Whether this thread is inside a Training scope. Off by default.
bool training();

/// While one lives, this thread trains: dropout acts. Training(false) switches it off again for a part of the work.
class Training {
 public:
  explicit Training(bool on = true);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

 private:
  bool before_;
};

/// Each element becomes 0 with probability p (in steps of 1/65536) and is divided by 1 - p otherwise.   x [...] ->
/// [...] Which ones is a function of the key and the element's index, so that the backward pass makes the mask again
/// instead of keeping it. Returns x itself when p is 0 or outside Training. Throws unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, float p, PhiloxKey key);
/// The same with the next stream of default_generator(), of which nothing is taken when nothing is dropped.
Tensor dropout(const Tensor& x, float p);

}  // namespace attend
