#include "attend/train/scores.h"

#include <cmath>

#include "attend/core/error.h"

namespace attend {

bool higher_is_better(const std::string& score) { return !score.ends_with("loss") && score != "perplexity"; }

double score_named(const Scores& scores, const std::string& name) {
  for (const auto& [key, value] : scores)
    if (key == name) return value;
  std::string all;
  for (const auto& score : scores) all += (all.empty() ? "" : ", ") + score.first;
  fail<InputError>("train", "there is no score \"", name, "\": expected one of ", all);
}

bool beats(const std::string& score, double one, double other) {
  if (std::isnan(one) || std::isnan(other)) return !std::isnan(one) && std::isnan(other);
  return higher_is_better(score) ? one > other : one < other;
}

bool better(const Scores& scores, const Scores& than, const std::string& metric) {
  for (const std::string& name : {metric, scores.front().first}) {
    if (name.empty()) continue;
    const double one = score_named(scores, name), other = score_named(than, name);
    if (beats(name, one, other)) return true;
    if (beats(name, other, one)) return false;
  }
  return false;
}

}  // namespace attend
