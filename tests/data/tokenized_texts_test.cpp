#include "attend/data/tokenized_texts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "attend/data/fingerprint.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;

Tokenizer fixture(const std::string& name) { return load_tokenizer(ATTEND_SOURCE_DIR "/tests/text/fixtures/" + name); }

/// Lines with difficult places to cut: spaces at ends, empty lines, punctuation, other scripts.
std::string long_text(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) {
    text += "Line " + std::to_string(i) + (i % 3 ? " ends here." : " goes on");
    text += i % 7 == 0 ? " \n\n" : i % 5 == 0 ? "\n\t" : i % 11 == 0 ? "\r\n" : "\n";
    if (i % 13 == 0) text += "Zürich, 東京 \n ";
  }
  return text;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(TokenizedTexts, AFileIsOneDocumentWithTheIdsOfItsWholeText) {
  const test::TempFolder folder;
  const std::string text = long_text(1'200'000);  // several chunks
  write(folder / "long", text);
  write(folder / "short", "One more.");
  for (const char* family : {"gpt2", "bert_uncased", "llama3", "t5"}) {
    const Tokenizer tokenizer = fixture(family);
    const auto end = tokenizer.special().eos ? tokenizer.special().eos : tokenizer.special().separator;
    const TokenStore store = tokenized_texts({folder / "long", folder / "short"}, tokenizer, folder / "store").store;
    ASSERT_EQ(store.documents(), 2) << family;
    Ids whole = tokenizer.ids(text), brief = tokenizer.ids("One more.");
    if (end) whole.push_back(*end), brief.push_back(*end);
    EXPECT_TRUE(store.read(store.document(0)) == whole) << family;
    EXPECT_EQ(store.read(store.document(1)), brief) << family;
    EXPECT_EQ(store.vocabulary(), tokenizer.size());
  }
}

TEST(TokenizedTexts, DocumentsEndAsRequested) {
  const test::TempFolder folder;
  write(folder / "text", "\none\ntwo\r\n\n\nthree\n");
  write(folder / "more", "four");
  const Tokenizer tokenizer = fixture("gpt2");
  const auto documents = [&](DocumentEnd end) {
    const TokenStore store = tokenized_texts({folder / "text", folder / "more"}, tokenizer, folder / "store",
                                             {.document_end = end, .end_token = false})
                                 .store;
    std::vector<std::string> texts;
    for (std::int64_t d = 0; d < store.documents(); ++d)
      texts.push_back(tokenizer.decode(store.read(store.document(d))));
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(documents(DocumentEnd::file), (Texts{"\none\ntwo\r\n\n\nthree\n", "four"}));
  EXPECT_EQ(documents(DocumentEnd::line), (Texts{"one", "two", "three", "four"}));
  EXPECT_EQ(documents(DocumentEnd::empty_line), (Texts{"one\ntwo", "three", "four"}));
}

TEST(TokenizedTexts, AreMadeAgainOnlyWhenSomethingChanged) {
  const test::TempFolder folder;
  write(folder / "text", "some words");
  std::int64_t reported = 0;
  const auto why = [&](const char* family, const TokenizeOptions& options = {}) {
    return tokenized_texts({folder / "text"}, fixture(family), folder / "store", options,
                           [&](std::int64_t done, std::int64_t total) {
                             reported = done;
                             EXPECT_EQ(total, 10);
                           })
        .made_because;
  };
  EXPECT_EQ(why("gpt2"), "there is none yet");
  EXPECT_EQ(reported, 10);
  EXPECT_EQ(why("gpt2"), "");
  EXPECT_EQ(why("gpt2", {.end_token = false}), "the texts have changed");
  EXPECT_EQ(why("bert_cased", {.end_token = false}), "the tokenizer has changed");
  EXPECT_ERROR(tokenized_texts({folder / "none"}, fixture("gpt2"), folder / "store"), "none");
}

TEST(TokenizedTexts, DifferentTokenizersHaveDifferentFingerprints) {
  EXPECT_EQ(fingerprint(fixture("gpt2")), fingerprint(fixture("gpt2")));
  EXPECT_NE(fingerprint(fixture("bert_cased")), fingerprint(fixture("bert_uncased")));
  const std::string marian = ATTEND_SOURCE_DIR "/tests/text/fixtures/marian";
  EXPECT_NE(fingerprint(load_tokenizer(marian, Side::source)), fingerprint(load_tokenizer(marian, Side::target)));
}

}  // namespace
}  // namespace attend
