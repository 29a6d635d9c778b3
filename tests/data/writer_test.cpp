// The output of each format, and texts that are flattened.
#include "attend/data/writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/errors.h"

namespace attend {
namespace {

std::vector<std::string> written(WriteFormat format, bool has_targets, const std::vector<Record>& records) {
  std::vector<std::string> texts(format == WriteFormat::lines && has_targets ? 2 : 1);
  std::vector<CorpusWriter::Sink> sinks;
  for (std::string& text : texts) sinks.emplace_back([&text](std::string_view piece) { text += piece; });
  CorpusWriter writer(format, has_targets, sinks);
  for (const Record& record : records) writer.write(record);
  return texts;
}

TEST(Writer, WritesEachFormat) {
  const std::vector<Record> records = {{"a \"b\"", "x\ty", 1}, {"c", "d\ne", 2}};
  using Texts = std::vector<std::string>;
  EXPECT_EQ(written(WriteFormat::tsv, true, records), (Texts{"a \"b\"\tx y\nc\td e\n"}));
  EXPECT_EQ(written(WriteFormat::tsv, false, records), (Texts{"a \"b\"\nc\n"}));
  EXPECT_EQ(written(WriteFormat::lines, true, records), (Texts{"a \"b\"\nc\n", "x\ty\nd e\n"}));
  EXPECT_EQ(written(WriteFormat::json_lines, true, records),
            (Texts{"{\"source\":\"a \\\"b\\\"\",\"target\":\"x\\ty\"}\n{\"source\":\"c\",\"target\":\"d\\ne\"}\n"}));
  EXPECT_ERROR(CorpusWriter(WriteFormat::lines, true, {[](std::string_view) {}}), "got 1, expected 2");
}

TEST(Writer, CountsTextsThatItHadToFlatten) {
  CorpusWriter writer(WriteFormat::tsv, true, {[](std::string_view) {}});
  writer.write({"a\nb\nc", "d\te", 1});
  writer.write({"a", "b", 2});
  EXPECT_EQ(writer.flattened(), 2);
  EXPECT_EQ(writer.records(), 2);
}

}  // namespace
}  // namespace attend
