#include "attend/explain/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace attend {
namespace {

/// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string label_of(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

Axis::Axis(const std::vector<const std::vector<float>*>& values, bool logarithmic, bool widen)
    : logarithmic_(logarithmic) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::vector<float>* some : values)
    for (const float value : *some) {
      if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
      const double shown = logarithmic ? std::log10(value) : value;
      low = std::min(low, shown), high = std::max(high, shown);
    }
  if (low > high) low = 0, high = 1;                                      // nothing to show
  if (high - low < 1e-9 * (1 + std::abs(high))) low -= 0.5, high += 0.5;  // one value only
  const double step = logarithmic ? std::max(1.0, round_step((high - low) / 5)) : round_step((high - low) / 5);
  if (widen) low = std::floor(low / step) * step, high = std::ceil(high / step) * step;
  low_ = low, high_ = high;
  for (double tick = std::ceil(low / step - 1e-9) * step; tick <= high + 1e-9 * step; tick += step) {
    const double shown = std::abs(tick) < 1e-9 * step ? 0 : tick;
    ticks_.push_back(
        {static_cast<float>((tick - low) / (high - low)), label_of(logarithmic ? std::pow(10.0, shown) : shown)});
  }
}

Axis Axis::x_of(const LinePlot& plot) {
  std::vector<const std::vector<float>*> values;
  for (const Series& series : plot.series) values.push_back(&series.x);
  return {values, plot.log_x, false};
}

Axis Axis::y_of(const LinePlot& plot) {
  std::vector<const std::vector<float>*> values;
  for (const Series& series : plot.series) values.push_back(&series.y);
  return {values, plot.log_y, true};
}

float Axis::place(float value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(((logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_));
}

}  // namespace attend
