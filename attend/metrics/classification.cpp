#include "attend/metrics/classification.h"

#include <map>
#include <string_view>

#include "attend/core/error.h"

namespace attend {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

double LabelScore::precision() const { return ratio(correct, predicted); }
double LabelScore::recall() const { return ratio(correct, expected); }
double LabelScore::f1() const { return ratio(2 * correct, expected + predicted); }

double ClassificationScores::accuracy() const { return ratio(correct, total); }

double ClassificationScores::macro_f1() const {
  double sum = 0;
  for (const LabelScore& label : labels) sum += label.f1();
  return labels.empty() ? 0 : sum / static_cast<double>(labels.size());
}

double ClassificationScores::micro_f1() const { return ratio(2 * correct, total + total); }

ClassificationScores classification_scores(std::span<const std::string> predictions,
                                           std::span<const std::string> references) {
  if (predictions.size() != references.size())
    fail<InputError>("classification", "the numbers of predictions and references differ: got ", predictions.size(),
                     " predictions and ", references.size(), " references");
  std::map<std::string_view, std::size_t> places;
  for (const std::string& label : references) places.emplace(label, 0);
  for (const std::string& label : predictions) places.emplace(label, 0);

  ClassificationScores scores;
  for (auto& [label, place] : places) {
    place = scores.labels.size();
    scores.labels.push_back({.label = std::string(label)});
  }
  scores.confusion.assign(places.size(), std::vector<std::int64_t>(places.size()));
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::size_t expected = places.at(references[i]), predicted = places.at(predictions[i]);
    ++scores.confusion[expected][predicted];
    ++scores.labels[expected].expected;
    ++scores.labels[predicted].predicted;
    ++scores.total;
    if (expected == predicted) ++scores.labels[expected].correct, ++scores.correct;
  }
  return scores;
}

}  // namespace attend
