// Any bytes become valid text: byte order marks, charsets, invalid sequences, characters across chunks.
#include "attend/data/text_stream.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "attend/text/unicode.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

std::vector<std::string> lines_of(TextStream stream) {
  std::vector<std::string> lines;
  for (std::string line; stream.line(line);) lines.push_back(line);
  return lines;
}
using Lines = std::vector<std::string>;

TEST(TextStream, LinesEndWithLineFeedOrBoth) {
  EXPECT_EQ(lines_of(TextStream::of("a\nb\r\n\nc")), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines_of(TextStream::of("a\n")), (Lines{"a"}));
  EXPECT_EQ(lines_of(TextStream::of("\n")), (Lines{""}));
  EXPECT_EQ(lines_of(TextStream::of("")), Lines{});
}

TEST(TextStream, AByteOrderMarkIsRemoved) {
  EXPECT_EQ(lines_of(TextStream::of("\xEF\xBB\xBFone")), (Lines{"one"}));
  EXPECT_EQ(lines_of(TextStream::of(std::string("\xFF\xFEo\0\xE8\0\n\0x\0", 10))), (Lines{"o\xC3\xA8", "x"}));
  EXPECT_EQ(lines_of(TextStream::of(std::string("\xFE\xFF\0o", 4))), (Lines{"o"}));
}

TEST(TextStream, InvalidUtf8IsReplacedAndCountedWithItsFirstLine) {
  TextStream stream = TextStream::of("ok\xFF\n\xC3(\n");
  std::string line;
  ASSERT_TRUE(stream.line(line));
  EXPECT_EQ(line, "ok\xEF\xBF\xBD");
  ASSERT_TRUE(stream.line(line));
  EXPECT_EQ(line, "\xEF\xBF\xBD(");
  EXPECT_FALSE(stream.line(line));
  EXPECT_EQ(stream.invalid().count, 2);
  EXPECT_EQ(stream.invalid().first, "text, line 1");
  EXPECT_EQ(stream.lines(), 2);
}

TEST(TextStream, OtherCharsetsAreConverted) {
  TextStream stream = TextStream::of("perch\xE9");
  stream.set_charset("ISO-8859-1");
  EXPECT_EQ(lines_of(std::move(stream)), (Lines{"perch\xC3\xA9"}));
  TextStream broken = TextStream::of("\x82\xA0\xFF\x82");  // あ, and two invalid bytes
  broken.set_charset("SHIFT_JIS");
  std::string line;
  ASSERT_TRUE(broken.line(line));
  EXPECT_EQ(line, "\xE3\x81\x82\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(broken.invalid().count, 2);
  EXPECT_ERROR(TextStream::of("", "file").set_charset("no-such"),
               "file: its charset is not known here: got \"no-such\"");
}

TEST(TextStream, CharactersAcrossChunksStayWhole) {
  test::TempFolder folder;
  std::string text = "x";
  for (int i = 0; i < 300'000; ++i)
    append_utf8(U'\u6F22', text);  // 3 bytes each, so the ends of buffers are inside of characters
  std::ofstream(folder / "long.txt") << text << "\nend";
  TextStream stream = TextStream::open(folder / "long.txt");
  std::string line;
  ASSERT_TRUE(stream.line(line));
  EXPECT_TRUE(line == text);
  ASSERT_TRUE(stream.line(line));
  EXPECT_EQ(line, "end");
  EXPECT_EQ(stream.invalid().count, 0);
  EXPECT_EQ(stream.position(), static_cast<std::int64_t>(text.size() + 4));
}

TEST(TextStream, AnEndlessLineIsAnError) {
  const std::string endless(kLongestText + 2, 'a');
  EXPECT_ERROR(lines_of(TextStream::of(endless, "noise")), "noise: line 1 has more than 64 MB");
}

TEST(TextStream, MissingFilesAndFoldersAreNamed) {
  test::TempFolder folder;
  EXPECT_ERROR(TextStream::open(folder / "none.txt"), "none.txt: cannot open: No such file");
  EXPECT_ERROR(TextStream::open(folder.path()), "is a folder");
}

}  // namespace
}  // namespace attend
