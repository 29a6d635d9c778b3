// What the fuzzers of corpus readers share: whatever the bytes, they give records that are valid UTF-8 and that can be
// cleaned, split and written, or an attend::Error.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attend/core/error.h"
#include "attend/data/clean.h"
#include "attend/data/message_text.h"
#include "attend/data/split.h"
#include "attend/data/writer.h"
#include "attend/text/unicode.h"

namespace attend::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// open() gives the reader.
template <typename Open>
int read_corpus(Open open) {
  constexpr int kMostRecords = 10'000;  // a small file gives no more, unless something multiplies
  try {
    const auto reader = open();
    CleanOptions options;
    options.accelerators = true;
    options.markup = CleanOptions::Markup::strip;
    options.languages = {"en", "ja"};
    Cleaner cleaner(options);
    CorpusWriter writer(WriteFormat::json_lines, true, {[](std::string_view) {}});
    Splitter splitter({{0, 3}, {0.1, 0}, 1}, [&](Part, const Record& record) { writer.write(record); });
    int records = 0;
    for (Record record; reader->next(record);) {
      if (++records > kMostRecords) std::abort();
      if (count_invalid_utf8(record.source) + count_invalid_utf8(record.target) > 0) std::abort();
      if (!cleaner.drop(record, reader->has_targets())) splitter.add(record);
    }
    splitter.finish();
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace attend::fuzz
