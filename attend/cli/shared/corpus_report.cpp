#include "attend/cli/shared/corpus_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/progress.h"

namespace attend::cli {
namespace {

/// "  name      12,345  note", with the numbers in a column.
void print_row(std::ostream& out, const std::string& name, std::int64_t count, const std::string& note = "") {
  constexpr std::size_t kNameWidth = 26, kCountWidth = 12;
  std::string number = grouped(count);
  number.insert(0, kCountWidth - std::min(kCountWidth, number.size()), ' ');
  out << name << std::string(kNameWidth - std::min(kNameWidth, name.size()), ' ') << number;
  out << (note.empty() ? "" : "  ") << note << '\n';
}

std::string percent(std::int64_t part, std::int64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%5.1f %%",
                whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0);
  return text;
}

}  // namespace

std::int64_t CorpusReport::read() const {
  std::int64_t sum = 0;
  for (const File& file : files) sum += file.read;
  return sum;
}

std::int64_t CorpusReport::kept() const {
  std::int64_t sum = 0;
  for (const File& file : files) sum += file.kept;
  return sum;
}

void CorpusReport::add_skipped(const CorpusReader& reader) {
  for (const Skipped& entry : reader.skipped()) {
    const auto found = std::ranges::find(skipped, entry.reason, &Passed::reason);
    if (found != skipped.end())
      found->count += entry.count;
    else
      skipped.push_back({entry.reason, reader.name() + ':' + std::to_string(entry.first_line), entry.count});
  }
}

void CorpusReport::print_table(std::ostream& out, bool by_file) const {
  if (by_file) {
    constexpr std::size_t kShown = 20;
    std::vector<File> sorted = files;
    std::ranges::stable_sort(sorted, std::ranges::greater(), &File::kept);
    out << "     read      kept  file\n";
    File rest;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i >= kShown && sorted.size() > kShown + 1) {
        rest.read += sorted[i].read, rest.kept += sorted[i].kept;
        continue;
      }
      char line[64];
      std::snprintf(line, sizeof line, "%9s %9s  ", grouped(sorted[i].read).c_str(), grouped(sorted[i].kept).c_str());
      out << line << sorted[i].name << '\n';
    }
    if (sorted.size() > kShown + 1) {
      char line[64];
      std::snprintf(line, sizeof line, "%9s %9s  ", grouped(rest.read).c_str(), grouped(rest.kept).c_str());
      out << line << sorted.size() - kShown << " others\n";
    }
    out << '\n';
  }
  for (const Passed& entry : skipped) print_row(out, "skipped: " + entry.reason, entry.count, "first: " + entry.first);
  for (const std::string& file : unreadable) out << "not read: " << file << '\n';
  print_row(out, "read", read(), files.size() == 1 ? files[0].name : std::to_string(files.size()) + " files");
  for (const auto& [reason, count] : dropped) print_row(out, "  dropped: " + reason, count, percent(count, read()));
  print_row(out, "kept", kept(), percent(kept(), read()));
  for (const Written& part : written)
    if (!part.part.empty() || !part.path.empty())
      print_row(out, part.part.empty() ? "  written" : "  " + part.part, part.records, part.path);
  if (flattened > 0) out << grouped(flattened) << " texts had line breaks or tabs, which became spaces\n";
}

void CorpusReport::print_json(std::ostream& out) const {
  using Json = nlohmann::ordered_json;
  Json json = {{"read", read()}, {"kept", kept()}};
  Json& passed = json["skipped"] = Json::object();
  for (const Passed& entry : skipped) passed[entry.reason] = entry.count;
  Json& drops = json["dropped"] = Json::object();
  for (const auto& [reason, count] : dropped) drops[reason] = count;
  Json& outputs = json["written"] = Json::array();
  for (const Written& part : written)
    outputs.push_back({{"part", part.part}, {"path", part.path}, {"records", part.records}});
  json["invalid_text"] = invalid_text.count;
  json["flattened"] = flattened;
  json["unreadable"] = unreadable;
  Json& each = json["files"] = Json::array();
  for (const File& file : files) each.push_back({{"file", file.name}, {"read", file.read}, {"kept", file.kept}});
  out << as_line(json);
}

}  // namespace attend::cli
