#include "attend/core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contents;

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(AtomicFile, AppearsAtCommitAndReplacesTheOldFile) {
  const test::TempFolder folder;
  std::ofstream(folder / "x") << "old";
  AtomicFile file(folder / "x");
  file.write("new");
  EXPECT_EQ(contents(folder / "x"), "old");
  file.commit();
  EXPECT_EQ(contents(folder / "x"), "new");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  const test::TempFolder folder;
  { AtomicFile(folder / "x").write("half"); }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(AtomicFile, CanOverwriteEarlierBytes) {
  const test::TempFolder folder;
  AtomicFile file(folder / "x");
  file.write("0 rows\n");
  file.write("1\n2\n");
  file.write_at(0, "2");
  file.write("3\n");
  file.commit();
  EXPECT_EQ(contents(folder / "x"), "2 rows\n1\n2\n3\n");
}

TEST(AtomicFile, AFailedWriteKeepsTheOldFile) {
  const test::TempFolder folder;
  std::ofstream(folder / "x") << "old";
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = test::error_of([&] {
    AtomicFile file(folder / "x");
    file.write(std::string(5000, '.'));
    file.commit();
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("[save] "), std::string::npos) << message;
  EXPECT_EQ(contents(folder / "x"), "old");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, AMissingFolderIsAnError) {
  const test::TempFolder folder;
  EXPECT_ERROR(AtomicFile(folder / "no/such/x"), "cannot create: No such file or directory");
}

TEST(MapFile, GivesTheBytesAndKeepsWritesPrivate) {
  const test::TempFolder folder;
  std::ofstream(folder / "x") << "abc";
  const MappedFile file = map_file(folder / "x");
  ASSERT_EQ(file.bytes.size(), 3u);
  file.bytes[0] = std::byte{'z'};
  EXPECT_EQ(contents(folder / "x"), "abc");
}

TEST(MapFile, FilesThatCannotBeMappedAreReported) {
  const test::TempFolder folder;
  EXPECT_ERROR(map_file(folder / "none"), "none: cannot open: No such file or directory");
  EXPECT_ERROR(map_file(folder.path()), "is a folder, expected a file");
  EXPECT_ERROR(map_file("/dev/null"), "is not a regular file");
  std::ofstream(folder / "empty").flush();
  EXPECT_TRUE(map_file(folder / "empty").bytes.empty());
}

}  // namespace
}  // namespace attend
