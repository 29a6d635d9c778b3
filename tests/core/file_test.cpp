#include "attend/core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
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

/// Installs the handler that a program has, and restores the old one.
class BusErrors {
 public:
  BusErrors() {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      if (!replace_lost_pages(info->si_addr)) ::signal(SIGBUS, SIG_DFL);
    };
    ::sigaction(SIGBUS, &action, &before_);
  }
  ~BusErrors() { ::sigaction(SIGBUS, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

constexpr std::size_t kPages = 5 * 4096 + 17;
void write_file(const std::filesystem::path& path, char letter) { std::ofstream(path) << std::string(kPages, letter); }

TEST(MappedFile, ReplacedByARenameKeepsItsOldContents) {
  const test::TempFolder folder;
  write_file(folder / "x", 'a');
  const MappedFile file = map_file(folder / "x");
  AtomicFile other(folder / "x");
  other.write("new");
  other.commit();
  EXPECT_EQ(file.bytes[kPages - 1], std::byte{'a'});
  EXPECT_NO_THROW(check_mapped_files());
}

TEST(MappedFile, TruncatedInPlaceIsAnErrorAndNotTheEndOfTheProcess) {
  const BusErrors errors;
  const test::TempFolder folder;
  write_file(folder / "x", 'a'), write_file(folder / "y", 'a');
  const MappedFile file = map_file(folder / "x"), other = map_file(folder / "y");
  EXPECT_NO_THROW(check_mapped_files());
  std::filesystem::resize_file(folder / "x", 100);
  EXPECT_EQ(file.bytes[0], std::byte{'a'});
  EXPECT_EQ(file.bytes[2 * 4096], std::byte{0});
  EXPECT_EQ(file.bytes[kPages - 1], std::byte{0});
  EXPECT_ERROR(check_mapped_files(), (folder / "x").string() + ": was changed while it was in use; start again");
  EXPECT_EQ(other.bytes[kPages - 1], std::byte{'a'});
}

TEST(MappedFile, WrittenInPlaceIsAnError) {
  const test::TempFolder folder;
  write_file(folder / "x", 'a');
  // An hour ago: file systems may count time in steps of some milliseconds.
  std::filesystem::last_write_time(folder / "x", std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const MappedFile file = map_file(folder / "x");
  EXPECT_NO_THROW(check_mapped_files());
  std::fstream(folder / "x", std::ios::in | std::ios::out) << 'b';
  EXPECT_ERROR(check_mapped_files(), "was changed while it was in use");
}

TEST(MappedFile, OnlyFilesInTheFolderCount) {
  const test::TempFolder folder;
  for (const char* name : {"ab", "a"}) std::filesystem::create_directories(folder / name);
  write_file(folder / "ab/x", 'a'), write_file(folder / "a/x", 'a');
  const MappedFile file = map_file(folder / "ab/x"), other = map_file(folder / "a/x");
  std::filesystem::resize_file(folder / "ab/x", 3);
  EXPECT_NO_THROW(check_mapped_files(folder / "a"));
  EXPECT_NO_THROW(check_mapped_files(folder / "a/"));
  EXPECT_ERROR(check_mapped_files(folder / "ab/"), "was changed");
}

TEST(MappedFile, IsForgottenWhenItIsUnmapped) {
  const test::TempFolder folder;
  write_file(folder / "x", 'a');
  MappedFile file = map_file(folder / "x");
  const void* address = file.bytes.data();
  std::filesystem::resize_file(folder / "x", 3);
  file = {};
  EXPECT_NO_THROW(check_mapped_files());
  EXPECT_FALSE(replace_lost_pages(address));
}

}  // namespace
}  // namespace attend
