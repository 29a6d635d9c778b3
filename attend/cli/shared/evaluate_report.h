// What `attend evaluate` found, in the forms it is printed in.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "attend/metrics/bootstrap.h"

namespace attend::cli {

/// What one metric says of one system.
struct MetricResult {
  std::string key;             ///< in JSON: "bleu"
  std::string name;            ///< in text: "BLEU", with its signature behind a bar
  std::string signature = {};  ///< empty: there is nothing to tell
  double value = 0;
  std::string details = {};                                        ///< printed behind the value
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< printed beside the value
  std::vector<double> sentences = {};                              ///< the value of each line; empty: it has none
  std::function<double(std::span<const std::uint32_t>)> of_sample = {};
  std::optional<Confidence> confidence = {};
  std::optional<double> p_value = {};  ///< against the first system
};

/// A file of hypotheses, and the results so far.
struct ScoredSystem {
  std::string name;
  std::vector<std::string> lines;
  std::vector<MetricResult> results;
};

/// "accuracy" and "f1": shares of 1.
bool is_of_labels(const std::string& metric);

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// One system: a line a metric, with its signature.
std::string as_text(const ScoredSystem& system, int digits);
/// Several: one row a system, one column a metric; the signatures below.
std::string as_table(const std::vector<ScoredSystem>& systems, int digits);
std::string as_json(const ScoredSystem& system);

/// The scores of each line: columns under their names, or JSON objects.
std::string by_sentence(const ScoredSystem& system, int digits);
std::string by_sentence_as_json(const ScoredSystem& system);

/// Lines by their sources: the shortest has `least` words, the longest `most`.
struct LengthGroup {
  std::int64_t least = 0, most = 0;
  std::vector<std::uint32_t> lines;
};
/// Groups by the number of words between spaces: up to the first of `limits`, up to the next, …, and the rest. Without
/// limits, five groups of about as many lines each. Groups without lines are left out.
std::vector<LengthGroup> groups_by_length(const std::vector<std::string>& sources, std::vector<std::int64_t> limits);
/// One row a group, one column a system (and metric, if there are several); last all lines together.
std::string by_length(const std::vector<ScoredSystem>& systems, const std::vector<LengthGroup>& groups, int digits);
std::string by_length_as_json(const ScoredSystem& system, const std::vector<LengthGroup>& groups);

}  // namespace attend::cli
