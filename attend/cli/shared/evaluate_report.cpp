#include "attend/cli/shared/evaluate_report.h"

#include <algorithm>
#include <iomanip>

#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/progress.h"
#include "attend/explain/page.h"
#include "attend/text/unicode.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Scores from 0 to 100 have the given number of digits, scores from 0 to 1 two more.
int digits_of(const MetricResult& result, int digits) { return is_of_labels(result.key) ? digits + 2 : digits; }

std::string value_text(const MetricResult& result, int digits) {
  digits = digits_of(result, digits);
  std::string value = fixed(result.value, digits);
  if (result.confidence)
    value += text(" (μ = ", fixed(result.confidence->mean, digits), " ± ", fixed(result.confidence->half_width, digits),
                  result.p_value ? ", p = " + fixed(*result.p_value, 4) : "", ')');
  return value;
}

/// Aligns the columns.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::string table;
  const auto width = [](const std::string& cell) { return static_cast<std::size_t>(count_code_points(cell)); };
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::size_t widest = 0;
      for (const std::vector<std::string>& other : rows) widest = std::max(widest, width(other[c]));
      table += row[c];
      table.append(c + 1 < row.size() ? widest - width(row[c]) + 2 : 0, ' ');
    }
    table += '\n';
  }
  return table;
}

std::string signatures_of(const ScoredSystem& system) {
  std::string lines;
  for (const MetricResult& result : system.results)
    if (!result.signature.empty()) lines += text(result.name, '|', result.signature, '\n');
  return lines;
}

std::string dumped(const Json& json) { return as_line(json); }

/// "1 to 8"
std::string range_of(const LengthGroup& group) {
  return group.least == group.most ? std::to_string(group.least) : text(group.least, " to ", group.most);
}

std::int64_t count_words(const std::string& line) {
  std::istringstream words(line);
  std::int64_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

}  // namespace

bool is_of_labels(const std::string& metric) { return metric == "accuracy" || metric == "f1"; }

std::string as_text(const ScoredSystem& system, int digits) {
  std::string lines;
  for (const MetricResult& result : system.results)
    lines += text(result.name, result.signature.empty() ? "" : "|", result.signature, " = ", value_text(result, digits),
                  result.details.empty() ? "" : " ", result.details, '\n');
  return lines;
}

std::string as_table(const std::vector<ScoredSystem>& systems, int digits) {
  std::vector<std::vector<std::string>> rows{{"system"}};
  for (const MetricResult& result : systems.front().results) rows[0].push_back(result.name);
  for (const ScoredSystem& system : systems) {
    rows.push_back({system.name});
    for (const MetricResult& result : system.results) rows.back().push_back(value_text(result, digits));
  }
  return aligned(rows) + signatures_of(systems.front());
}

std::string as_json(const ScoredSystem& system) {
  Json json = {{"system", system.name}, {"lines", system.lines.size()}};
  for (const MetricResult& result : system.results) json[result.key] = result.value;
  for (const MetricResult& result : system.results) {
    Json more = result.more;
    if (!result.signature.empty()) more["signature"] = result.signature;
    if (result.confidence)
      more["confidence"] = {{"mean", result.confidence->mean}, {"half_width", result.confidence->half_width}};
    if (result.p_value) more["p_value"] = *result.p_value;
    if (!more.empty()) json[result.key + "_details"] = more;
  }
  return dumped(json);
}

std::string by_sentence(const ScoredSystem& system, int digits) {
  std::string lines;
  const auto end_of = [&](const MetricResult& result) { return &result == &system.results.back() ? '\n' : '\t'; };
  for (const MetricResult& result : system.results) lines += result.name + end_of(result);
  for (std::size_t i = 0; i < system.lines.size(); ++i)
    for (const MetricResult& result : system.results) lines += fixed(result.sentences[i], digits) + end_of(result);
  return lines;
}

std::string by_sentence_as_json(const ScoredSystem& system) {
  std::string lines;
  for (std::size_t i = 0; i < system.lines.size(); ++i) {
    Json json = {{"line", i + 1}};
    for (const MetricResult& result : system.results) json[result.key] = result.sentences[i];
    lines += dumped(json);
  }
  return lines;
}

std::vector<LengthGroup> groups_by_length(const std::vector<std::string>& sources, std::vector<std::int64_t> limits) {
  std::vector<std::int64_t> lengths(sources.size());
  std::ranges::transform(sources, lengths.begin(), count_words);
  if (limits.empty()) {
    constexpr std::size_t kGroups = 5;
    std::vector<std::int64_t> sorted = lengths;
    std::ranges::sort(sorted);
    for (std::size_t g = 1; g < kGroups; ++g) limits.push_back(sorted[(sorted.size() - 1) * g / kGroups]);
  }
  std::ranges::sort(limits);
  limits.push_back(std::max(limits.back(), *std::ranges::max_element(lengths)));
  std::vector<LengthGroup> groups;
  for (std::int64_t below = -1; const std::int64_t limit : limits) {
    LengthGroup group{.least = limit, .most = 0, .lines = {}};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] <= below || lengths[i] > limit) continue;
      group.least = std::min(group.least, lengths[i]), group.most = std::max(group.most, lengths[i]);
      group.lines.push_back(static_cast<std::uint32_t>(i));
    }
    if (!group.lines.empty()) groups.push_back(std::move(group));
    below = limit;
  }
  return groups;
}

std::string by_length(const std::vector<ScoredSystem>& systems, const std::vector<LengthGroup>& groups, int digits) {
  std::vector<std::vector<std::string>> rows{{"words", "lines"}};
  for (const ScoredSystem& system : systems)
    for (const MetricResult& result : system.results)
      rows[0].push_back(systems.size() == 1          ? result.name
                        : system.results.size() == 1 ? system.name
                                                     : text(system.name, ' ', result.name));
  const auto add = [&](const std::string& range, std::size_t lines, auto&& score) {
    rows.push_back({range, grouped(static_cast<std::int64_t>(lines))});
    for (const ScoredSystem& system : systems)
      for (const MetricResult& result : system.results)
        rows.back().push_back(fixed(score(result), digits_of(result, digits)));
  };
  for (const LengthGroup& group : groups)
    add(range_of(group), group.lines.size(), [&](const MetricResult& result) { return result.of_sample(group.lines); });
  add("all", systems.front().lines.size(), [](const MetricResult& result) { return result.value; });
  return aligned(rows) + signatures_of(systems.front());
}

std::string by_length_as_json(const ScoredSystem& system, const std::vector<LengthGroup>& groups) {
  std::string lines;
  for (const LengthGroup& group : groups) {
    Json json = {{"system", system.name},
                 {"least_words", group.least},
                 {"most_words", group.most},
                 {"lines", group.lines.size()}};
    for (const MetricResult& result : system.results) json[result.key] = result.of_sample(group.lines);
    lines += dumped(json);
  }
  return lines + as_json(system);
}

}  // namespace attend::cli
