// The scores of tests/golden/attention.py, with the same names and parameters.
#pragma once
#include <map>
#include <string>

#include "attend/attention/scores.h"
#include "attend/formats/safetensors.h"

namespace attend::test {

inline std::map<std::string, Score> golden_scores(const SafetensorsFile& file) {
  Additive additive;
  additive.query.weight = file.get("wq"), additive.key.weight = file.get("wk"), additive.v = file.get("wv");
  General general;
  general.key.weight = file.get("bilinear");
  Location location;
  location.position.weight = file.get("location");
  return {{"dot", Dot()},
          {"scaled_dot", ScaledDot()},
          {"additive", additive},
          {"general", general},
          {"location", location},
          {"content", Content{file.get("beta")}},
          {"gaussian", Gaussian{file.get("width")}},
          {"uniform", Uniform()}};
}

}  // namespace attend::test
