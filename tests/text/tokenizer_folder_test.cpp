#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "attend/text/sentencepiece.h"
#include "attend/text/tokenizer_parts.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "tests/text/golden_texts.h"

namespace attend::test {
namespace {

/// Each test runs for every family of fixtures, with the original folder and with the folder of save_tokenizer.
class TokenizerFolder : public testing::TestWithParam<const char*> {
 protected:
  TokenizerFolder()
      : expected_file_(read_file(fixture(GetParam()) / "expected.json")),
        expected(expected_file_, "expected.json", "test") {}

  /// The original tokenizer, and the same after saving and loading.
  std::vector<Tokenizer> both() const {
    const Tokenizer made = load_tokenizer(fixture(GetParam()));
    const TempFolder folder;
    save_tokenizer(made, folder.path());
    return {made, load_tokenizer(folder.path())};
  }
  JsonValue list(const char* key) const { return expected.root()[key]; }

 private:
  std::string expected_file_;

 protected:
  JsonDocument expected;
};

/// Numbers, or their hash if the file has only that.
void expect_numbers(const std::vector<std::int32_t>& actual, const JsonValue& expected, const std::string& what) {
  if (expected.is_string())
    EXPECT_EQ(hash(actual), expected.string()) << what;
  else
    EXPECT_EQ(actual, numbers(expected)) << what;
}

TEST_P(TokenizerFolder, EncodesAsHuggingFaceDoes) {
  for (const Tokenizer& tokenizer : both())
    for (std::size_t i = 0; i < golden_texts().size(); ++i) {
      const std::string& text = golden_texts()[i];
      const JsonValue wanted = list("single")[i];
      const Encoding encoding = tokenizer.encode(text);
      expect_numbers(encoding.ids, wanted["ids"], "ids of " + text);
      const std::array<std::string_view, 1> texts = {text};
      if (const auto spans = wanted.find("spans"); spans && !(spans->is_array() && spans->size() == 0))
        expect_numbers(character_spans(encoding, texts), *spans, "spans of " + text);
      if (const auto words = wanted.find("words")) expect_numbers(encoding.words, *words, "words of " + text);
    }
}

TEST_P(TokenizerFolder, EncodesPairsAsHuggingFaceDoes) {
  for (const Tokenizer& tokenizer : both())
    list("pairs").each_element([&](const JsonValue& wanted) {
      const std::array<std::string_view, 2> texts = {
          golden_texts()[static_cast<std::size_t>(wanted["texts"][0].integer())],
          golden_texts()[static_cast<std::size_t>(wanted["texts"][1].integer())]};
      const Encoding encoding = tokenizer.encode_pair(texts[0], texts[1]);
      EXPECT_EQ(encoding.ids, numbers(wanted["ids"])) << wanted.place();
      if (const auto types = wanted.find("types")) expect_numbers(encoding.types, *types, wanted.place());
    });
}

TEST_P(TokenizerFolder, CutsAsHuggingFaceDoes) {
  const auto text_at = [](const JsonValue& index) { return golden_texts()[static_cast<std::size_t>(index.integer())]; };
  for (const Tokenizer& tokenizer : both()) {
    list("cut").each_element([&](const JsonValue& wanted) {
      const Encoding encoding = tokenizer.encode(
          text_at(wanted["text"]), {.max_tokens = wanted["max"].integer(), .long_text = LongText::truncate});
      EXPECT_EQ(encoding.ids, numbers(wanted["ids"])) << wanted.place();
      EXPECT_EQ(encoding.dropped, wanted["dropped"].integer()) << wanted.place();
    });
    list("cut_pairs").each_element([&](const JsonValue& wanted) {
      const Encoding encoding =
          tokenizer.encode_pair(text_at(wanted["texts"][0]), text_at(wanted["texts"][1]),
                                {.max_tokens = wanted["max"].integer(), .long_text = LongText::truncate});
      EXPECT_EQ(encoding.ids, numbers(wanted["ids"])) << wanted.place();
    });
    list("windows").each_element([&](const JsonValue& wanted) {
      const std::vector<Encoding> windows =
          tokenizer.encode_windows(text_at(wanted["text"]), {.max_tokens = wanted["max"].integer(),
                                                             .long_text = LongText::split,
                                                             .overlap = wanted["overlap"].integer()});
      ASSERT_EQ(windows.size(), wanted["ids"].size()) << wanted.place();
      for (std::size_t i = 0; i < windows.size(); ++i)
        EXPECT_EQ(windows[i].ids, numbers(wanted["ids"][i])) << wanted.place() << " window " << i;
    });
  }
}

TEST_P(TokenizerFolder, DecodesAsHuggingFaceDoes) {
  for (const Tokenizer& tokenizer : both())
    list("decoded").each_element([&](const JsonValue& wanted) {
      const std::string& text = golden_texts()[static_cast<std::size_t>(wanted["text"].integer())];
      const std::vector<std::int32_t> ids = tokenizer.encode(text).ids;
      EXPECT_EQ(tokenizer.decode(ids), wanted["clean"].string()) << text;
      EXPECT_EQ(tokenizer.decode(ids, false), wanted["all"].string()) << text;
    });
}

TEST_P(TokenizerFolder, ALineOfAMegabyteIsLikeAnyOther) {
  const Tokenizer tokenizer = load_tokenizer(fixture(GetParam()));
  list("long").each_element([&](const JsonValue& wanted) {
    const std::string text =
        long_text(static_cast<std::size_t>(wanted["size"].integer()), std::string(wanted["separator"].string()));
    const Encoding encoding = tokenizer.encode(text);
    EXPECT_EQ(encoding.size(), wanted["count"].integer());
    EXPECT_EQ(hash(encoding.ids), wanted["ids"].string());
    EXPECT_EQ(hash(tokenizer.decode(encoding.ids)), wanted["decoded"].string());
  });
}

TEST_P(TokenizerFolder, KnowsItsSpecialTokensAndItsSize) {
  for (const Tokenizer& tokenizer : both()) {
    const SpecialTokens& special = tokenizer.special();
    const JsonValue wanted = list("special");
    const auto id = [&](const char* role) {
      const auto value = wanted.find(role);
      return value ? std::optional(value->id()) : std::nullopt;
    };
    EXPECT_EQ(special.bos, id("bos"));
    EXPECT_EQ(special.eos, id("eos"));
    EXPECT_EQ(special.unknown, id("unknown"));
    EXPECT_EQ(special.separator, id("separator"));
    EXPECT_EQ(special.padding, id("padding"));
    EXPECT_EQ(special.classify, id("classify"));
    EXPECT_EQ(special.mask, id("mask"));
    EXPECT_EQ(tokenizer.size(), list("vocabulary").integer());
  }
}

/// For tests/golden/tokenizer_round_trip.py, which loads the folders with transformers.
TEST_P(TokenizerFolder, DISABLED_WritesAllFamilies) {
  const char* saved = std::getenv("ATTEND_SAVED");
  ASSERT_NE(saved, nullptr) << "ATTEND_SAVED names the folder to write to";
  save_tokenizer(load_tokenizer(fixture(GetParam())), std::filesystem::path(saved) / GetParam());
}

INSTANTIATE_TEST_SUITE_P(Families, TokenizerFolder,
                         testing::Values("gpt2", "gpt2_old", "gpt2_json", "roberta", "bert_uncased", "bert_cased",
                                         "bert_accents", "mpnet", "t5_spm", "t5", "xlm_roberta_spm", "xlm_roberta",
                                         "albert", "modernbert", "pegasus_spm", "mbart50_spm", "nllb", "nllb_spm",
                                         "albert_spm", "camembert_spm", "m2m_100", "marian", "llama2", "llama3",
                                         "llama_spm", "llama_spm_legacy", "mistral", "gemma", "qwen2", "smollm",
                                         "gpt_neox", "words"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MarianFolder, TheTargetSideHasItsOwnModel) {
  const Tokenizer tokenizer = load_tokenizer(fixture("marian"), Side::target);
  const JsonDocument expected(read_file(fixture("marian") / "expected.json"), "expected.json", "test");
  for (std::size_t i = 0; i < golden_texts().size(); ++i) {
    const JsonValue wanted = expected.root()["target"][i];
    const std::vector<std::int32_t> ids = tokenizer.encode(golden_texts()[i]).ids;
    EXPECT_EQ(ids, numbers(wanted["ids"])) << golden_texts()[i];
    EXPECT_EQ(tokenizer.decode(ids), wanted["clean"].string()) << golden_texts()[i];
  }
}

TEST(NllbFolder, HasTheLanguagesOfItsClassIfNoFileListsThem) {
  const TempFolder temp;
  for (const char* file : {"config.json", "sentencepiece.bpe.model"})
    std::filesystem::copy_file(fixture("nllb_spm") / file, temp / file);
  std::ofstream(temp / "tokenizer_config.json") << R"({"tokenizer_class": "NllbTokenizer", "src_lang": "deu_Latn"})";
  const Tokenizer tokenizer = load_tokenizer(temp.path());
  const LanguageTokens& languages = tokenizer.languages();
  ASSERT_EQ(languages.all.size(), 202u);
  EXPECT_EQ(languages.all.front().code, "ace_Arab");
  EXPECT_EQ(languages.all.back().code, "zul_Latn");
  EXPECT_EQ(languages.all.back().id - languages.all.front().id, 201);
  EXPECT_EQ(tokenizer.special().mask, languages.all.back().id + 1) << "as in the published vocabulary";
  EXPECT_EQ(tokenizer.token(tokenizer.encode("Das Kind").ids.front()), "deu_Latn");
}

/// A folder with the given files.
struct Folder {
  TempFolder temp;
  Folder(std::initializer_list<std::pair<const char*, std::string>> files) {
    for (const auto& [name, text] : files) std::ofstream(temp / name, std::ios::binary) << text;
  }
  std::string error() const {
    return error_of([&] { load_tokenizer(temp.path()); });
  }
};

TEST(TokenizerFolderErrors, SaysWhatItLookedFor) {
  EXPECT_NE(Folder({}).error().find("there is no tokenizer; looked for tokenizer.json"), std::string::npos);
  EXPECT_ERROR(load_tokenizer("/nowhere/at/all"), "/nowhere/at/all: there is no such folder");
  EXPECT_NE(Folder({{"vocab.json", "{}"}}).error().find("there is no tokenizer"), std::string::npos);
}

TEST(TokenizerFolderErrors, NamesTheLineOfAMergeWithoutItsTokens) {
  const Folder unknown{{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"}, {"merges.txt", "#version: 0.2\na b\nab c\n"}};
  EXPECT_NE(unknown.error().find("merges.txt: line 3: the token \"c\" is not in the vocabulary"), std::string::npos);
  const Folder three{{"vocab.json", R"({"a": 0, "b": 1, "ab": 2})"}, {"merges.txt", "a b ab\n"}};
  EXPECT_NE(three.error().find("merges.txt: line 1: expected two tokens"), std::string::npos);
}

TEST(TokenizerFolderErrors, InconsistentVocabulariesAreErrors) {
  const Folder twice{{"vocab.json", R"({"a": 0, "b": 0})"}, {"merges.txt", ""}};
  EXPECT_NE(twice.error().find("the id 0 also belongs to"), std::string::npos) << twice.error();
  const Folder negative{{"vocab.json", R"({"a": -1})"}, {"merges.txt", ""}};
  EXPECT_NE(negative.error().find("vocab.json: a: got -1, expected an id"), std::string::npos) << negative.error();
  const Folder huge{{"vocab.json", R"({"a": 2000000000})"}, {"merges.txt", ""}};
  EXPECT_NE(huge.error().find("vocab.json: a: "), std::string::npos) << huge.error();
  const Folder bytes{{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\n\xff\n"}};
  EXPECT_NE(bytes.error().find("vocab.txt: line 4 is not valid UTF-8"), std::string::npos) << bytes.error();
  const Folder without{{"vocab.txt", "hello\nworld\n"}};
  EXPECT_NE(without.error().find("vocab.txt: "), std::string::npos) << without.error();
}

TEST(TokenizerFolderErrors, UnsupportedFamiliesAreErrors) {
  const Folder clip{{"vocab.json", R"({"a": 0})"},
                    {"merges.txt", ""},
                    {"tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})"}};
  EXPECT_NE(clip.error().find("\"CLIPTokenizer\" is not supported"), std::string::npos) << clip.error();
}

TEST(TokenizerFolderErrors, DamagedSentencePieceModelsAreErrors) {
  const std::string model = read_file(fixture("t5_spm") / "spiece.model");
  ASSERT_GT(model.size(), 2000u);
  for (const std::string& garbled : {std::string(), std::string("hello"), model.substr(0, model.size() / 2)}) {
    const Folder folder{{"spiece.model", garbled}};
    EXPECT_NE(folder.error().find("spiece.model: not a SentencePiece model"), std::string::npos) << folder.error();
  }
}

TEST(AFolder, HasTheSpecialTokensOfItsModelTypeIfNoFileNamesThem) {
  const TempFolder temp;
  for (const char* file : {"config.json", "tokenizer.json"})
    std::filesystem::copy_file(fixture("albert") / file, temp / file);
  const SpecialTokens bare = load_tokenizer(temp.path()).special(), whole = load_tokenizer(fixture("albert")).special();
  EXPECT_EQ(bare.mask, whole.mask);
  EXPECT_EQ(bare.classify, whole.classify);
  EXPECT_EQ(bare.separator, whole.separator);
  EXPECT_EQ(bare.padding, whole.padding);
}

TEST(AFolder, MayHaveTensOfThousandsOfAddedTokens) {
  constexpr int kTokens = 60'000;  // as models of speech have; minutes, if each were compared with all others
  std::string special, added;
  for (int i = 0; i < kTokens; ++i) {
    special += (i ? ", \"<s_" : "\"<s_") + std::to_string(i) + ">\"";
    added += (i ? ", \"<t_" : "\"<t_") + std::to_string(i) + ">\": " + std::to_string(5 + i);
  }
  const Folder folder{{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"},
                      {"added_tokens.json", "{" + added + "}"},
                      {"tokenizer_config.json", R"({"additional_special_tokens": [)" + special + "]}"}};
  const Tokenizer tokenizer = load_tokenizer(folder.temp.path());
  EXPECT_EQ(tokenizer.id("<t_59999>"), 5 + 59'999);
  EXPECT_EQ(tokenizer.id("<s_59999>"), 5 + kTokens + 59'999);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "<s_7>";
  EXPECT_EQ(tokenizer.encode(text).ids.size(), 20'002);
}

TEST(AFolder, HasNoIdLeftAfterTheLargest) {
  const Folder folder{{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"},
                      {"added_tokens.json", R"({"a": 2147483647})"},
                      {"tokenizer_config.json", R"({"additional_special_tokens": ["b"]})"}};
  EXPECT_NE(folder.error().find("there is no id left for the added token \"b\""), std::string::npos) << folder.error();
}

TEST(AFolder, ReadsWindowsLinesOfVocabTxt) {
  const Folder folder{{"vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\nhello"}};
  const Tokenizer tokenizer = load_tokenizer(folder.temp.path());
  EXPECT_EQ(tokenizer.encode("Hello").ids, (std::vector<std::int32_t>{1, 3, 2}));
}

TEST(AFolder, HasTheMaximumLength) {
  EXPECT_EQ(load_tokenizer(fixture("gpt2")).max_tokens(), 1024);
  EXPECT_EQ(load_tokenizer(fixture("words")).max_tokens(), 0);
}

}  // namespace
}  // namespace attend::test
