// The axis of a plot: its range, its ticks, and the place of a value on it.
#pragma once
#include <string>
#include <vector>

#include "attend/explain/page.h"

namespace attend {

class Axis {
 public:
  struct Tick {
    float at;  ///< in [0, 1]
    std::string label;
  };

  /// The range covers all finite values (only positive ones if logarithmic); that of y is widened to round numbers.
  static Axis x_of(const LinePlot& plot);
  static Axis y_of(const LinePlot& plot);

  /// The place of a value on the axis, in [0, 1]; NaN if it cannot be shown.
  float place(float value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  Axis(const std::vector<const std::vector<float>*>& values, bool logarithmic, bool widen);

  double low_ = 0, high_ = 1;
  bool logarithmic_ = false;
  std::vector<Tick> ticks_;
};

}  // namespace attend
