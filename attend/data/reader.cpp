#include "attend/data/reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/file.h"

namespace attend {

void CorpusReader::skip(std::string_view reason, std::int64_t line) {
  const auto found = std::ranges::find(skipped_, reason, &Skipped::reason);
  if (found == skipped_.end())
    skipped_.push_back({std::string(reason), 1, line});
  else
    ++found->count;
}

std::optional<CorpusFormat> format_of(const std::filesystem::path& path) {
  static constexpr std::pair<std::string_view, CorpusFormat> kEndings[] = {
      {".tsv", CorpusFormat::tsv},
      {".tab", CorpusFormat::tsv},
      {".csv", CorpusFormat::csv},
      {".jsonl", CorpusFormat::json_lines},
      {".ndjson", CorpusFormat::json_lines},
      {".tmx", CorpusFormat::tmx},
      {".xlf", CorpusFormat::xliff},
      {".xliff", CorpusFormat::xliff},
      {".po", CorpusFormat::po},
      {".pot", CorpusFormat::po},
      {".mo", CorpusFormat::mo},
      {".gmo", CorpusFormat::mo},
      {".txt", CorpusFormat::lines},
  };
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [known, format] : kEndings)
    if (ending == known) return format;
  return std::nullopt;
}

std::unique_ptr<CorpusReader> open_corpus(const std::vector<std::filesystem::path>& paths,
                                          const CorpusOptions& options) {
  const std::size_t expected = options.format == CorpusFormat::parallel ? 2 : 1;
  if (paths.size() != expected)
    fail<InputError>("corpus", "the number of files does not fit the format: got ", paths.size(), ", expected ",
                     expected);
  const auto text = [&](std::size_t i = 0) { return TextStream::open(paths[i]); };
  const Columns columns = options.columns.value_or(Columns{"1", "2"});
  switch (options.format) {
    case CorpusFormat::lines:
      return read_lines(text());
    case CorpusFormat::parallel:
      return read_parallel(text(0), text(1));
    case CorpusFormat::tsv:
      return read_tsv(text(), columns);
    case CorpusFormat::csv:
      return read_csv(text(), columns);
    case CorpusFormat::json_lines:
      return read_json_lines(text(), options.columns.value_or(Columns{"source", "target"}));
    case CorpusFormat::tmx:
      return read_tmx(text(), options.languages);
    case CorpusFormat::xliff:
      return read_xliff(text(), options.languages);
    case CorpusFormat::po:
      return read_po(text());
    case CorpusFormat::mo:
      break;
  }
  MappedFile file = map_file(paths[0]);
  return read_mo({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, paths[0].string(), file.owner);
}

}  // namespace attend
