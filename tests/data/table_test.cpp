// Lines, parallel files, TSV, CSV and JSON lines.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/data/reader.h"
#include "tests/data/support.h"
#include "tests/support/errors.h"

namespace attend {
namespace {

using test::pairs_of;
using test::skipped_of;
using Pairs = std::vector<test::Pair>;

TEST(Lines, AreTextsWithoutTargets) {
  const auto reader = read_lines(TextStream::of("a\n\nb\n"));
  EXPECT_FALSE(reader->has_targets());
  EXPECT_EQ(pairs_of(reader), (Pairs{{"a", ""}, {"", ""}, {"b", ""}}));
}

TEST(Parallel, PairsLineByLineAndDifferentLengthsAreAnError) {
  EXPECT_EQ(pairs_of(read_parallel(TextStream::of("a\nb\n"), TextStream::of("x\ny"))), (Pairs{{"a", "x"}, {"b", "y"}}));
  EXPECT_ERROR(pairs_of(read_parallel(TextStream::of("a\nb\n", "en"), TextStream::of("x\n", "it"))),
               "it ends after 1 lines, but en goes on");
}

TEST(Tsv, TakesColumnsByNumber) {
  const auto reader = read_tsv(TextStream::of("1\tone\tuno\n2\ttwo\tdue\r\n3\n\n"), {"2", "3"});
  EXPECT_EQ(pairs_of(reader), (Pairs{{"one", "uno"}, {"two", "due"}}));
  EXPECT_EQ(skipped_of(*reader, "too few columns"), 1);
  EXPECT_EQ(reader->skipped()[0].first_line, 3);
  EXPECT_EQ(skipped_of(*reader, "empty line"), 1);
}

TEST(Tsv, TakesColumnsByNameOfTheFirstRow) {
  EXPECT_EQ(pairs_of(read_tsv(TextStream::of("id\tit\ten\n1\tuno\tone\n"), {"en", "it"})), (Pairs{{"one", "uno"}}));
  EXPECT_EQ(pairs_of(read_tsv(TextStream::of("en\tit\none\tuno\n"), {"1", "2", true})), (Pairs{{"one", "uno"}}));
  EXPECT_ERROR(pairs_of(read_tsv(TextStream::of("en\tde\n", "file"), {"en", "it"})),
               "file: the first row has no column \"it\": got en, de");
}

TEST(Tsv, OneColumnGivesOneText) {
  const auto reader = read_tsv(TextStream::of("a\tb\n"), {"2", ""});
  EXPECT_FALSE(reader->has_targets());
  EXPECT_EQ(pairs_of(reader), (Pairs{{"b", ""}}));
}

TEST(Tsv, QuotesAreText) { EXPECT_EQ(pairs_of(read_tsv(TextStream::of("\"a\t\"b\"\n"))), (Pairs{{"\"a", "\"b\""}})); }

TEST(Csv, QuotedFieldsHoldAnything) {
  const std::string text = "\"a, \"\"b\"\"\",\"two\r\nlines\"\r\nplain,\"\"\r\n\r\nx,y,z";
  EXPECT_EQ(pairs_of(read_csv(TextStream::of(text))), (Pairs{{"a, \"b\"", "two\nlines"}, {"plain", ""}, {"x", "y"}}));
}

TEST(Csv, RecordsHaveTheirFirstLine) {
  const auto reader = read_csv(TextStream::of("\"a\n\nb\",c\nd,e\n"));
  Record record;
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(record.line, 1);
  ASSERT_TRUE(reader->next(record));
  EXPECT_EQ(record.line, 4);
}

TEST(Csv, AnUnclosedQuoteIsAnErrorWithItsLine) {
  EXPECT_ERROR(pairs_of(read_csv(TextStream::of("a,b\n\"c,d\ne,f\n", "file"))), "file:2: a quote opens in this row");
}

TEST(Csv, HasNamedColumnsAndOtherSeparators) {
  EXPECT_EQ(pairs_of(read_csv(TextStream::of("\"text\";label\n\"a;b\";1\n"), {"text", "label"}, ';')),
            (Pairs{{"a;b", "1"}}));
}

TEST(JsonLines, FindsTextsByKeyAndByDots) {
  EXPECT_EQ(pairs_of(read_json_lines(TextStream::of("{\"source\": \"a\\nb\", \"target\": \"\\u00e8\"}\n\n"))),
            (Pairs{{"a\nb", "\xC3\xA8"}}));
  const std::string nested = R"({"translation": {"en": "one", "it": "uno"}, "label.x": 3})";
  EXPECT_EQ(pairs_of(read_json_lines(TextStream::of(nested), {"translation.en", "translation.it"})),
            (Pairs{{"one", "uno"}}));
  EXPECT_EQ(pairs_of(read_json_lines(TextStream::of(nested), {"translation.en", "label.x"})), (Pairs{{"one", "3"}}));
}

TEST(JsonLines, SkipsAndCountsInvalidLines) {
  const auto reader =
      read_json_lines(TextStream::of("{\"source\": \n[1]\n{\"source\": 1}\n{\"source\": [], \"target\": 1}\n"
                                     "{\"source\": 2, \"target\": 3}"));
  EXPECT_EQ(pairs_of(reader), (Pairs{{"2", "3"}}));
  EXPECT_EQ(skipped_of(*reader, "no JSON object"), 2);
  EXPECT_EQ(skipped_of(*reader, "no text under \"target\""), 1);
  EXPECT_EQ(skipped_of(*reader, "no text under \"source\""), 1);
}

TEST(JsonLines, AKeyThatNoLineHasIsAnError) {
  EXPECT_ERROR(pairs_of(read_json_lines(TextStream::of("{\"en\": 1, \"it\": 2}\n", "file"), {"en", "de"})),
               "file: no line gives a record: line 1 has no text under \"de\"; its keys are en, it");
}

TEST(Tsv, AColumnThatNoRowHasIsAnError) {
  EXPECT_ERROR(pairs_of(read_tsv(TextStream::of("a\tb\n\nc\td\n", "file"), {"1", "9"})),
               "file: no row has column 9: got 2 columns at most");
  EXPECT_ERROR(pairs_of(read_csv(TextStream::of("en,it\none,uno\n", "file"), {"en", "9"})),
               "file: there is no column 9: the first row has 2 columns (en, it)");
}

TEST(Tsv, ARowWithoutARequiredColumnIsAnError) {
  const Columns columns{.source = "1", .target = "2", .required = "source TAB target"};
  EXPECT_ERROR(pairs_of(read_tsv(TextStream::of("a\tb\n\nalone\n", "file"), columns)),
               "file, line 3: has only one column (no tab), expected source TAB target");
}

TEST(Formats, AreKnownByTheEndOfAName) {
  EXPECT_EQ(format_of("a/b.TMX"), CorpusFormat::tmx);
  EXPECT_EQ(format_of("b.jsonl"), CorpusFormat::json_lines);
  EXPECT_EQ(format_of("train.en"), std::nullopt);
}

}  // namespace
}  // namespace attend
