// The results of `attend evaluate`, as text and as JSON.
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

/// The result of one metric for one system.
struct MetricResult {
  std::string key;             ///< in JSON: "bleu"
  std::string name;            ///< in text: "BLEU"; the signature follows after a bar
  std::string signature = {};  ///< how it was computed; may be empty
  double value = 0;
  std::string details = {};                                        ///< printed after the value
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< further fields of the JSON object
  std::vector<double> sentences = {};  ///< the score of each line; empty if the metric has none
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

/// Whether this is "accuracy" or "f1", which are from 0 to 1.
bool is_of_labels(const std::string& metric);

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// One system: one line per metric, with its signature.
std::string as_text(const ScoredSystem& system, int digits);
/// Several systems: one row per system, one column per metric; the signatures follow below.
std::string as_table(const std::vector<ScoredSystem>& systems, int digits);
std::string as_json(const ScoredSystem& system);

/// The scores of each line, as columns or as JSON objects.
std::string by_sentence(const ScoredSystem& system, int digits);
std::string by_sentence_as_json(const ScoredSystem& system);

/// A group of lines whose sources have from `least` to `most` words.
struct LengthGroup {
  std::int64_t least = 0, most = 0;
  std::vector<std::uint32_t> lines;
};
/// Groups by the number of words between spaces: up to the first of `limits`, up to the next, …, and the rest. Without
/// limits, five groups of about as many lines each. Groups without lines are left out.
std::vector<LengthGroup> groups_by_length(const std::vector<std::string>& sources, std::vector<std::int64_t> limits);
/// One row per group, one column per system (and metric, if there are several). The last row is for all lines.
std::string by_length(const std::vector<ScoredSystem>& systems, const std::vector<LengthGroup>& groups, int digits);
std::string by_length_as_json(const ScoredSystem& system, const std::vector<LengthGroup>& groups);

}  // namespace attend::cli
