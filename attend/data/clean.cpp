#include "attend/data/clean.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attend/data/code_points.h"
#include "attend/data/message_text.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// White space and control characters, but not the joiners that some scripts need.
bool is_blank(char32_t c) {
  if (c < 0x7F) return c <= 0x20;
  const std::string_view kind = category(c);
  return kind == "Cc" || kind == "Zs" || kind == "Zl" || kind == "Zp" || c == 0xFEFF;
}

std::string composed(std::string_view text) {
  std::string result;
  for (const NormalCodePoint& c : normal_form(text, NormalForm::nfc)) append_utf8(c.value, result);
  return result;
}

/// The width of a text in terminal columns, which is comparable between scripts.
std::int64_t width_of(std::string_view text) {
  std::int64_t width = 0;
  for_each_code_point(text, [&](char32_t c, std::string_view) {
    const Script script = c < 0x1100 ? Script::latin : script_of(c);
    width += script == Script::han || script == Script::kana || script == Script::hangul ? 2 : 1;
  });
  return width;
}

bool has_replacement(std::string_view text) { return text.find("\xEF\xBF\xBD") != std::string_view::npos; }

}  // namespace

std::string_view name_of(DropReason reason) {
  static constexpr std::array<std::string_view, kDropReasons> kNames = {
      "empty", "garbled", "too long", "length ratio", "identical", "markup", "placeholders", "script", "duplicate"};
  return kNames[static_cast<std::size_t>(reason)];
}

void tidy(std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool space = false, ascii = true;
  for_each_code_point(text, [&](char32_t c, std::string_view bytes) {
    ascii &= c < 0x80;
    if (is_blank(c)) {
      space = true;
      return;
    }
    if (space && !result.empty()) result += ' ';
    space = false;
    result += bytes;
  });
  text = !ascii && may_change_in_form(result, NormalForm::nfc) ? composed(result) : std::move(result);
}

double length_ratio(std::string_view source, std::string_view target) {
  constexpr double kSlack = 10;
  const auto [shorter, longer] = std::minmax({width_of(source), width_of(target)});
  return (static_cast<double>(longer) + kSlack) / (static_cast<double>(shorter) + kSlack);
}

Cleaner::Cleaner(CleanOptions options) : options_(std::move(options)) {
  if (options_.min_script <= 0) return;
  source_scripts_ = scripts_of_language(options_.languages.source);
  target_scripts_ = scripts_of_language(options_.languages.target);
}

std::optional<DropReason> Cleaner::drop(Record& record, bool has_target) {
  for (std::string* text : {&record.source, &record.target}) {
    if (options_.markup != CleanOptions::Markup::keep && text->find('&') != std::string::npos)
      *text = with_entities_decoded(*text);
    if (options_.markup == CleanOptions::Markup::strip) *text = without_tags(*text);
  }
  tidy(record.source);
  tidy(record.target);
  if (options_.accelerators) remove_accelerators(record.source, record.target);
  const std::optional<DropReason> reason = check(record, has_target);
  if (reason) ++dropped_[static_cast<std::size_t>(*reason)];
  return reason;
}

std::int64_t Cleaner::dropped() const { return std::accumulate(dropped_.begin(), dropped_.end(), std::int64_t{0}); }

std::optional<DropReason> Cleaner::check(const Record& record, bool has_target) {
  const std::string &source = record.source, &target = record.target;
  const auto either = [&](auto&& test) { return test(source) || (has_target && test(target)); };

  if (options_.empty && either([](const std::string& text) { return text.empty(); })) return DropReason::empty;
  if (options_.garbled && either(has_replacement)) return DropReason::garbled;
  const auto too_long = [&](const std::string& text) { return count_code_points(text) > options_.max_length; };
  if (options_.max_length > 0 && either(too_long)) return DropReason::too_long;
  if (options_.max_ratio > 0 && has_target && length_ratio(source, target) > options_.max_ratio)
    return DropReason::length_ratio;
  if (options_.identical && has_target && source == target) return DropReason::identical;
  if (options_.markup == CleanOptions::Markup::drop && either(has_tags)) return DropReason::markup;
  if (options_.placeholders == CleanOptions::Placeholders::drop &&
      either([](const std::string& text) { return !placeholders_of(text).empty(); }))
    return DropReason::placeholders;
  if (options_.placeholders == CleanOptions::Placeholders::match && has_target &&
      placeholders_of(source) != placeholders_of(target))
    return DropReason::placeholders;
  const auto wrong_script = [&](const std::string& text, const std::vector<Script>& scripts) {
    return !scripts.empty() && share_in_scripts(text, scripts) < options_.min_script;
  };
  if (wrong_script(source, source_scripts_) || (has_target && wrong_script(target, target_scripts_)))
    return DropReason::script;
  if (options_.duplicates != CleanOptions::Duplicates::keep) {
    const bool whole = has_target && options_.duplicates == CleanOptions::Duplicates::pair;
    if (!seen_.insert(whole ? hash_pair(source, target) : hash_text(source))) return DropReason::duplicate;
  }
  return std::nullopt;
}

}  // namespace attend
