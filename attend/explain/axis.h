// The scale of a plot's axis: which range it shows, where its ticks are, and where a value falls on it.
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

  /// Covers all finite values that it is given (positive ones, if logarithmic), widened to round numbers.
  static Axis x_of(const LinePlot& plot);
  static Axis y_of(const LinePlot& plot);

  /// Where on the axis a value is, in [0, 1]; NaN when it cannot be shown.
  float place(float value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  Axis(const std::vector<const std::vector<float>*>& values, bool logarithmic, bool widen);

  double low_ = 0, high_ = 1;
  bool logarithmic_ = false;
  std::vector<Tick> ticks_;
};

}  // namespace attend
