#include "attend/data/split.h"

#include <charconv>
#include <iterator>
#include <utility>

#include "attend/core/error.h"
#include "attend/data/code_points.h"

namespace attend {

std::string_view name_of(Part part) {
  static constexpr std::array<std::string_view, kParts> kNames = {"train", "validation", "test"};
  return kNames[static_cast<std::size_t>(part)];
}

PartSize parse_part_size(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  const bool is_share = percent || digits.find('.') != std::string_view::npos;
  PartSize size;
  const char* last = digits.data() + digits.size();
  const auto [end, error] =
      is_share ? std::from_chars(digits.data(), last, size.share) : std::from_chars(digits.data(), last, size.records);
  if (percent) size.share /= 100;
  if (error != std::errc() || end != last || !(size.share >= 0 && size.share < 1) || size.records < 0)
    fail<InputError>("split", "not the size of a part: got \"", text,
                     "\", expected a number of records (1000) or a fraction below 100% (5%)");
  return size;
}

std::string split_key(std::string_view source) {
  std::string key;
  bool space = false;
  for_each_code_point(source, [&](char32_t c, std::string_view) {
    if (!(properties(c) & (property::kLetter | property::kNumber | property::kMark))) {
      space = true;
      return;
    }
    if (space && !key.empty()) key += ' ';
    space = false;
    const auto [first, second] = lower_case(c);
    append_utf8(first, key);
    if (second) append_utf8(second, key);
  });
  return key.empty() ? std::string(source) : key;
}

Splitter::Splitter(SplitOptions options, Sink sink)
    : options_(options), sink_(std::move(sink)), wanted_(options.validation.records + options.test.records) {
  if (options.validation.share + options.test.share >= 1)
    fail<InputError>("split", "validation and test take ", 100 * (options.validation.share + options.test.share),
                     " % together: nothing is left for training");
}

void Splitter::give(Part part, const Record& record) {
  ++sizes_[static_cast<std::size_t>(part)];
  sink_(part, record);
}

void Splitter::add(const Record& record) {
  const Hash128 hash = hash_text(split_key(record.source), options_.seed);
  const double place =
      static_cast<double>(hash.low >> 11) * 0x1p-53;  // in [0, 1), independent of the order by hash.high
  if (place < options_.test.share) return give(Part::test, record);
  if (place < options_.test.share + options_.validation.share) return give(Part::validation, record);
  if (wanted_ == 0 || !(hash < limit_)) return give(Part::train, record);

  kept_[hash].push_back(record);
  ++kept_records_;
  // Keep some more than wanted, so that a group which is too large at the end can be skipped.
  const std::int64_t enough = wanted_ + wanted_ / 8 + 64;
  while (kept_records_ - static_cast<std::int64_t>(kept_.rbegin()->second.size()) >= enough) {
    const auto last = std::prev(kept_.end());
    for (const Record& evicted : last->second) give(Part::train, evicted);
    kept_records_ -= static_cast<std::int64_t>(last->second.size());
    limit_ = last->first;
    kept_.erase(last);
  }
}

void Splitter::finish() {
  std::int64_t test = options_.test.records, validation = options_.validation.records;
  for (const auto& [hash, group] : kept_) {
    const auto size = static_cast<std::int64_t>(group.size());
    Part part = Part::train;
    if (size <= test)
      part = Part::test, test -= size;
    else if (size <= validation)
      part = Part::validation, validation -= size;
    for (const Record& record : group) give(part, record);
  }
  kept_.clear();
  kept_records_ = 0;
}

}  // namespace attend
