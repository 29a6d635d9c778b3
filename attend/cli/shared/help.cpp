#include "attend/cli/shared/help.h"

#include <algorithm>
#include <sstream>

namespace attend::cli {
namespace {

constexpr std::size_t kColumn = 30, kWidth = 100;  // where the second column begins, and where lines end
constexpr const char* kArguments = "Arguments";
constexpr const char* kOptions = "Options";
constexpr const char* kCommon = "Options of every verb";

/// "TEXT" of an argument.
std::string argument_name(const Flag& flag) { return flag.type_name().empty() ? flag.name() : flag.type_name(); }

/// "-i, --input FILE ...".
std::string left_column(const Flag& flag) {
  if (flag.is_argument()) return argument_name(flag) + (flag.kind() == Flag::Kind::values ? " ..." : "");
  std::string text;
  for (const Flag::Name& name : flag.names()) text += (text.empty() ? "" : ", ") + name.text;
  if (flag.kind() == Flag::Kind::on_off) return text;
  const std::string value = flag.type_name().empty() ? "VALUE" : flag.type_name();
  if (flag.kind() == Flag::Kind::optional_value) return text + "[=" + value + "]";
  const bool several = flag.kind() == Flag::Kind::values && !flag.is_one_at_a_time();
  return text + " " + value + (several ? " ..." : "");
}

std::string right_column(const Flag& flag) {
  const std::string value = flag.default_shown();
  std::string text = flag.help();
  if (flag.is_required())
    text += " (required)";
  else if (!value.empty())
    text += " (default: " + value + ")";
  return text;
}

/// Formats a row of two columns; the second one is wrapped.
std::string row(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  std::size_t at = out.size() + 1;
  if (at < kColumn)
    out += std::string(kColumn - at + 1, ' '), at = kColumn;
  else
    out += '\n' + std::string(kColumn, ' '), at = kColumn;
  std::istringstream words(right);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && at + 1 + word.size() > kWidth) {
      out += '\n' + std::string(kColumn, ' ');
      at = kColumn;
      first = true;
    }
    out += (first ? "" : " ") + word;
    at += word.size() + !first;
  }
  return out + '\n';
}

/// Headings in the order of their first use, with their rows.
class Sections {
 public:
  void add(const std::string& heading, const std::string& row) {
    if (heading.empty()) return;
    auto found = std::ranges::find(sections_, heading, &Section::first);
    if (found == sections_.end()) found = sections_.insert(found, {heading, ""});
    found->second += row;
  }
  std::string text() const {
    std::string out;
    for (const auto& [heading, rows] : sections_) out.append(1, '\n').append(heading).append(":\n").append(rows);
    return out;
  }

 private:
  using Section = std::pair<std::string, std::string>;
  std::vector<Section> sections_;
};

std::string usage(const Verb& verb) {
  std::string text = verb.command();
  if (!verb.subcommands().empty()) return text + " VERB [OPTIONS]";
  for (const Flag* flag : verb.flags())
    if (flag->is_required()) text += " " + flag->name() + " " + flag->type_name();
  text += " [OPTIONS]";
  for (const Flag* flag : verb.flags())
    if (flag->is_argument()) text += " [" + left_column(*flag) + "]";
  return text;
}

}  // namespace

std::string help_of(const Verb& verb) {
  Sections sections;
  for (const auto& child : verb.subcommands()) sections.add(child->group(), row(child->name(), child->description()));
  std::vector<const Flag*> flags;
  for (const Flag* flag : verb.flags()) flags.push_back(flag);
  // Clang 14 cannot compile std::ranges::stable_partition.
  std::stable_partition(flags.begin(), flags.end(), [](const Flag* flag) { return flag->is_argument(); });
  for (const Flag* flag : flags)
    if (!flag->is_for_all_verbs())
      sections.add(flag->group().value_or(flag->is_argument() ? kArguments : kOptions),
                   row(left_column(*flag), right_column(*flag)));
  for (const Flag* flag : flags)
    if (flag->is_for_all_verbs()) sections.add(kCommon, row(left_column(*flag), right_column(*flag)));
  for (const Flag* flag : verb.common_flags()) sections.add(kCommon, row(left_column(*flag), right_column(*flag)));
  return verb.description() + "\n\nUsage: " + usage(verb) + "\n" + sections.text() +
         (verb.footer().empty() ? "" : "\n" + verb.footer() + "\n");
}

}  // namespace attend::cli
