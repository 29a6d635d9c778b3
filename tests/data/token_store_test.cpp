#include "attend/data/token_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "attend/data/fingerprint.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;

TokenStore store_of(const std::filesystem::path& path, std::int64_t vocabulary, const std::vector<Ids>& documents) {
  TokenStoreWriter writer(path, vocabulary, {.sources = 1, .tokenizer = 2});
  for (const Ids& document : documents) writer.add(document), writer.end_document();
  writer.commit();
  return TokenStore(path);
}

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(TokenStore, ReturnsDocumentsInBothWidths) {
  const test::TempFolder folder;
  for (const std::int64_t vocabulary : {std::int64_t{65536}, std::int64_t{65537}, std::int64_t{1} << 31}) {
    const auto last = static_cast<std::int32_t>(vocabulary - 1);
    const TokenStore store = store_of(folder / "store", vocabulary, {{1, 2, 3}, {}, {last}, {0, last}});
    EXPECT_EQ(store.size(), 6);
    EXPECT_EQ(store.vocabulary(), vocabulary);
    EXPECT_EQ(store.key(), (TokenStoreKey{1, 2}));
    ASSERT_EQ(store.documents(), 4);
    EXPECT_EQ(store.document(1), (TokenRange{3, 3}));
    EXPECT_EQ(store.read(store.document(0)), (Ids{1, 2, 3}));
    EXPECT_EQ(store.read(store.document(1)), Ids{});
    EXPECT_EQ(store.read(store.document(3)), (Ids{0, last}));
    EXPECT_EQ(store.read({2, 5}), (Ids{3, last, 0}));
    EXPECT_EQ(store.document_at(2), 0);
    EXPECT_EQ(store.document_at(3), 2);
    EXPECT_EQ(store.document_at(5), 3);
  }
}

TEST(TokenStore, CountsWhatWasLeftOut) {
  const test::TempFolder folder;
  TokenStoreWriter writer(folder / "store", 10);
  writer.add(Ids{1, 2});
  writer.leave_out(), writer.leave_out();
  writer.commit();
  EXPECT_EQ(TokenStore(folder / "store").left_out(), 2);
  EXPECT_EQ(TokenStore(folder / "store").read({0, 2}), (Ids{1, 2}));
}

TEST(TokenStore, TakesTwoBytesAnIdWhereTheVocabularyAllows) {
  const test::TempFolder folder;
  store_of(folder / "narrow", 65536, {Ids(1000, 7)});
  store_of(folder / "wide", 65537, {Ids(1000, 7)});
  EXPECT_EQ(std::filesystem::file_size(folder / "wide") - std::filesystem::file_size(folder / "narrow"), 2000u);
}

TEST(TokenStore, StreamsMoreThanItsBufferHolds) {
  const test::TempFolder folder;
  Ids ids(70'001);
  std::iota(ids.begin(), ids.end(), 0);
  {
    TokenStoreWriter writer(folder / "store", 100'000);
    for (int part = 0; part < 10; ++part) writer.add(ids);
    writer.commit();
  }
  const TokenStore store(folder / "store");
  EXPECT_EQ(store.documents(), 1);
  ASSERT_EQ(store.size(), 700'010);
  EXPECT_EQ(store.read({70'001 * 9, 70'001 * 10}), ids);
}

TEST(TokenStore, AnEmptyStoreIsValid) {
  const test::TempFolder folder;
  const TokenStore store = store_of(folder / "store", 10, {});
  EXPECT_EQ(store.size(), 0);
  EXPECT_EQ(store.documents(), 0);
  EXPECT_EQ(store.read({0, 0}), Ids{});
  EXPECT_ERROR(store.document_at(0), "there is no token 0");
}

TEST(TokenStore, WithoutCommitThereIsNoFile) {
  const test::TempFolder folder;
  { TokenStoreWriter(folder / "store", 10).add(Ids{1, 2}); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TokenStore, ReadingOutOfBoundsIsAnError) {
  const test::TempFolder folder;
  const TokenStore store = store_of(folder / "store", 10, {{1, 2, 3}});
  EXPECT_ERROR(store.read({1, 4}), "has no tokens 1 to 4: it has 3");
  EXPECT_ERROR(store.read({-1, 2}), "has no tokens");
  EXPECT_ERROR(store.read({2, 1}), "has no tokens");
  EXPECT_ERROR(store.document(1), "there is no document 1");
  EXPECT_ERROR(store.document_at(3), "there is no token 3");
  EXPECT_ERROR(TokenStoreWriter(folder / "other", 10).add(Ids{10}), "id 10 is not in the vocabulary of 10");
  EXPECT_ERROR(TokenStoreWriter(folder / "other", 0), "got 0");
}

TEST(TokenStore, TruncatedAndDamagedFilesAreErrorsOrReadable) {
  const test::TempFolder folder;
  store_of(folder / "store", 10, {{1, 2, 3}, {4, 5}});
  const std::vector<std::byte> whole = bytes_of(folder / "store");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(TokenStore("cut", std::span(whole).first(size), nullptr), InputError) << size;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {1, 0x80, 0xFF}) {
      std::vector<std::byte> garbled = whole;
      garbled[at] ^= static_cast<std::byte>(flip);
      try {
        const TokenStore store("garbled", garbled, nullptr);
        for (std::int64_t d = 0; d < store.documents(); ++d)
          for (const std::int32_t id : store.read(store.document(d))) EXPECT_LT(id, store.vocabulary());
      } catch (const InputError&) {
      }
    }
}

TEST(TokenStore, ErrorsSayWhatIsWrong) {
  const test::TempFolder folder;
  std::ofstream(folder / "text") << "just a text, but long enough to be something";
  EXPECT_ERROR(TokenStore(folder / "text"), "is not a token store");
  EXPECT_ERROR(TokenStore(folder / "nothing"), "cannot open");
  store_of(folder / "store", 10, {{1, 2, 3}});
  std::vector<std::byte> bytes = bytes_of(folder / "store");
  EXPECT_ERROR(TokenStore("x", std::span(bytes).first(90), nullptr), "was the file cut?");
  bytes[64] = std::byte{200};
  EXPECT_ERROR(TokenStore("x", bytes, nullptr).read({0, 1}), "is not in the vocabulary of 10; the file is damaged");
}

TEST(CachedTokenStore, IsMadeOnceAndAgainWhenSomethingChanged) {
  const test::TempFolder folder;
  std::ofstream(folder / "text") << "one";
  int made = 0;
  const auto open = [&](std::uint64_t tokenizer, std::int64_t vocabulary) {
    const TokenStoreKey key{Fingerprint().add_file(folder / "text").value(), tokenizer};
    return cached_token_store(folder / "store", vocabulary, key,
                              [&](TokenStoreWriter& writer) { writer.add(Ids{++made}); });
  };
  EXPECT_EQ(open(1, 10).made_because, "there is none yet");
  const CachedTokenStore kept = open(1, 10);
  EXPECT_EQ(kept.made_because, "");
  EXPECT_EQ(kept.store.read({0, 1}), Ids{1});
  EXPECT_EQ(open(2, 10).made_because, "the tokenizer has changed");
  EXPECT_EQ(open(2, 11).made_because, "the tokenizer has changed");
  std::ofstream(folder / "text") << "one and a half";
  EXPECT_EQ(open(2, 11).made_because, "the texts have changed");
  std::filesystem::resize_file(folder / "store", 70);
  EXPECT_NE(open(2, 11).made_because.find("was the file cut?"), std::string::npos);
  EXPECT_EQ(open(2, 11).made_because, "");
  EXPECT_EQ(made, 5);
  EXPECT_EQ(kept.store.read({0, 1}), Ids{1}) << "a store that is open stays as it was";
}

TEST(TokenWindows, CoverEveryTokenButTheFirstOnceAsATarget) {
  const test::TempFolder folder;
  for (const std::int64_t size : {0, 1, 2, 4, 5, 6, 9, 10}) {
    Ids ids(static_cast<std::size_t>(size));
    std::iota(ids.begin(), ids.end(), 0);
    const TokenWindows windows(store_of(folder / "store", 100, {ids}), 4);
    std::int64_t expected = 1;  // the next target
    for (std::int64_t i = 0; i < windows.size(); ++i) {
      EXPECT_EQ(windows[i].begin, expected - 1);
      EXPECT_LE(windows[i].size(), 5);
      EXPECT_GE(windows[i].size(), 2);
      EXPECT_EQ(windows.lengths()[static_cast<std::size_t>(i)], windows[i].size() - 1);
      expected = windows[i].end;
    }
    EXPECT_EQ(expected, std::max<std::int64_t>(size, 1));
  }
}

TEST(TokenWindows, StayWithinDocumentsIfRequested) {
  const test::TempFolder folder;
  const TokenStore store = store_of(folder / "store", 10, {{0, 1, 2, 3, 4, 5}, {}, {6}, {7, 8, 9}});
  const TokenWindows windows(store, 3, false);
  ASSERT_EQ(windows.size(), 3);
  EXPECT_EQ(windows[0], (TokenRange{0, 4}));
  EXPECT_EQ(windows[1], (TokenRange{3, 6}));
  EXPECT_EQ(windows[2], (TokenRange{7, 10}));
  EXPECT_EQ(TokenWindows(store, 3).size(), 3);
  EXPECT_ERROR(windows[3], "there is no window 3");
  EXPECT_ERROR(TokenWindows(store, 0), "T = 0");
}

TEST(Fingerprint, ChangesWithItsInputs) {
  EXPECT_NE(Fingerprint().add("ab").add("c").value(), Fingerprint().add("a").add("bc").value());
  EXPECT_EQ(Fingerprint().add("ab").value(), Fingerprint().add("ab").value());
  EXPECT_ERROR(Fingerprint().add_file("/nowhere/at/all"), "cannot read its status");
}

TEST(Fingerprint, OfContentsIsTheSameForACopy) {
  const test::TempFolder folder;
  const auto written = [&](const char* name, std::string_view text) {
    AtomicFile file(folder / name);
    file.write(text);
    file.commit();
    return Fingerprint().add_contents(folder / name).value();
  };
  const std::uint64_t text = written("text", "a house\n");
  EXPECT_EQ(written("copy", "a house\n"), text);
  EXPECT_NE(written("other", "a horse\n"), text);
  EXPECT_NO_THROW(written("empty", ""));
}

}  // namespace
}  // namespace attend
