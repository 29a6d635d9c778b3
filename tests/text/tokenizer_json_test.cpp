#include "attend/text/tokenizer_json.h"

#include <gtest/gtest.h>

#include "attend/core/json.h"
#include "tests/support/errors.h"

namespace attend::test {
namespace {

std::string error_of_file(const std::string& text) {
  return error_of([&] { read_tokenizer_json(text, "folder/tokenizer.json"); });
}

/// Expects an error that contains a text.
#define EXPECT_REFUSED(file, text) \
  EXPECT_NE(error_of_file(file).find(text), std::string::npos) << "the error was: " << error_of_file(file)

/// A file with one word, and more parts if given: `, "normalizer": …`.
std::string file_with(const std::string& parts,
                      const std::string& model = R"({"type": "WordLevel", "vocab": {"a": 0}})") {
  return R"({"model": )" + model + parts + "}";
}

TEST(TokenizerJson, ReadsAMinimalFile) {
  const Tokenizer::Parts parts = read_tokenizer_json(file_with(""), "file");
  EXPECT_TRUE(std::holds_alternative<WordLevel>(parts.model));
  EXPECT_TRUE(parts.normalizer.empty() && parts.pre_tokenizer.empty() && parts.decoder.empty());
}

TEST(TokenizerJson, UnsupportedPartsAreErrors) {
  EXPECT_REFUSED(file_with(R"(, "normalizer": {"type": "Backwards"})"),
                 "[tokenizer] folder/tokenizer.json: normalizer: the normalizer \"Backwards\" is not supported; ");
  EXPECT_REFUSED(file_with(R"(, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}]})"),
                 "pre_tokenizer.pretokenizers[0]: the pre-tokenizer \"UnicodeScripts\" is not supported");
  EXPECT_REFUSED(file_with(R"(, "post_processor": {"type": "X"})"), "the post-processor \"X\" is not supported");
  EXPECT_REFUSED(file_with(R"(, "decoder": {"type": "CTC"})"), "the decoder \"CTC\" is not supported");
  EXPECT_REFUSED(file_with("", R"({"type": "Neural", "vocab": {}})"), "model: the model \"Neural\" is not supported");
  EXPECT_REFUSED(file_with("", R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})"), "model.dropout: ");
}

TEST(TokenizerJson, ErrorsHaveThePlace) {
  EXPECT_REFUSED("", "folder/tokenizer.json: is not valid JSON: ");
  EXPECT_REFUSED("{", "not valid JSON: parse error at line 1, column 2");
  EXPECT_REFUSED("[]", "folder/tokenizer.json: got a list, expected an object");
  EXPECT_REFUSED("{}", "folder/tokenizer.json: \"model\" is missing");
  EXPECT_REFUSED(std::string(100'000, '['), "nested too deep");
  EXPECT_REFUSED(file_with(R"(, "normalizer": 3)"), "normalizer: got 3, expected an object");
  EXPECT_REFUSED(file_with(R"(, "normalizer": {"type": "BertNormalizer", "lowercase": "yes"})"),
                 "normalizer.lowercase: got \"yes\", expected true or false");
  EXPECT_REFUSED(file_with(R"(, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "a"})"),
                 "normalizer.precompiled_charsmap: not valid base64");
  EXPECT_REFUSED(
      file_with(R"(, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated"})"),
      "pre_tokenizer.pattern.Regex: ");
  EXPECT_REFUSED(file_with(R"(, "pre_tokenizer": {"type": "Punctuation", "behavior": "Odd"})"),
                 "pre_tokenizer.behavior: got \"Odd\", expected Removed, Isolated");
}

TEST(TokenizerJson, InconsistentVocabulariesAreErrors) {
  EXPECT_REFUSED(file_with("", R"({"type": "WordLevel", "vocab": {"a": 0, "b": 0}})"),
                 "model.vocab.b: the id 0 also belongs to \"a\"");
  EXPECT_REFUSED(file_with("", R"({"type": "WordLevel", "vocab": {"a": 0.5}})"),
                 "model.vocab.a: got 0.5, expected an id");
  EXPECT_REFUSED(file_with("", R"({"type": "WordLevel", "vocab": {"a": 99999999999}})"), "expected an id from 0 to");
  EXPECT_REFUSED(file_with("", R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})"),
                 "model.merges[0]: the token \"b\" is not in the vocabulary");
  EXPECT_REFUSED(file_with("", R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"]]})"), "model: ");
  EXPECT_REFUSED(file_with("", R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]})"), "expected two tokens");
  EXPECT_REFUSED(file_with("", R"({"type": "WordPiece", "vocab": {"a": 0}})"), "model: ");
  EXPECT_REFUSED(file_with("", R"({"type": "Unigram", "unk_id": 7, "vocab": [["a", -1]]})"), "model: ");
  EXPECT_REFUSED(file_with("", R"({"type": "Unigram", "vocab": [["a"]]})"), "model.vocab[0]: got 1 elements");
}

TEST(TokenizerJson, AddedTokensThatContradictTheVocabularyAreErrors) {
  EXPECT_REFUSED(file_with(R"(, "added_tokens": [{"id": 0, "content": "b"}])"),
                 "the added token \"b\" has the id 0 of \"a\"");
  EXPECT_REFUSED(file_with(R"(, "added_tokens": [{"id": 5, "content": "a"}])"),
                 "the added token \"a\" has the id 5, but 0 in the vocabulary");
  EXPECT_REFUSED(file_with(R"(, "added_tokens": [{"id": 5, "content": "b"}, {"id": 5, "content": "c"}])"),
                 "the added tokens \"b\" and \"c\" have the same id 5");
  EXPECT_REFUSED(file_with(R"(, "added_tokens": [{"id": 2000000000, "content": "b"}])"), "the vocabulary ends at 1");
  EXPECT_REFUSED(file_with(R"(, "added_tokens": [{"id": 1, "content": ""}])"), "added_tokens[0].content: ");
  EXPECT_REFUSED(
      file_with(R"(, "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 9], "cls": ["[CLS]", 8]})"),
      "the post-processor adds \"[SEP]\" with the id 9, which no token has");
}

TEST(TokenizerJson, TemplatesWithoutAllTextsAreErrors) {
  const std::string a = R"({"Sequence": {"id": "A", "type_id": 0}})", b = R"({"Sequence": {"id": "B", "type_id": 0}})";
  const auto file = [](const std::string& single, const std::string& pair) {
    return file_with(R"(, "post_processor": {"type": "TemplateProcessing", "single": [)" + single + R"(], "pair": [)" +
                     pair + R"(], "special_tokens": {}})");
  };
  EXPECT_EQ(error_of_file(file(a, a + "," + b)), "");
  EXPECT_REFUSED(file(b, a + "," + b), "post_processor.single: expected the sequence A once");
  EXPECT_REFUSED(file(a, b), "post_processor.pair: expected the sequences A and B once each");
}

TEST(TokenizerJson, WritesWhatItReads) {
  const std::string file = file_with(
      R"(, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Strip", "strip_left": true,
          "strip_right": false}, {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"},
          {"type": "Precompiled", "precompiled_charsmap": "AAECA/8="}]},
          "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true},
          {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "Metaspace", "replacement": "_",
          "prepend_scheme": "first", "split": false}]},
          "decoder": {"type": "Sequence", "decoders": [{"type": "Strip", "content": " ", "start": 1, "stop": 2},
          {"type": "ByteFallback"}, {"type": "Fuse"}]},
          "added_tokens": [{"id": 9, "content": "<x>", "lstrip": true, "special": true, "normalized": false}])");
  const std::string once = write_tokenizer_json(read_tokenizer_json(file, "file"));
  EXPECT_EQ(write_tokenizer_json(read_tokenizer_json(once, "once")), once);
  EXPECT_NE(once.find("AAECA/8="), std::string::npos);
}

TEST(TokenizerJson, OlderFilesDoNotNameTheModel) {
  const auto index = [](const std::string& model) {
    return read_tokenizer_json(file_with("", model), "file").model.index();
  };
  EXPECT_EQ(index(R"({"vocab": {"a": 0}, "merges": []})"), SubwordModel(Bpe()).index());
  EXPECT_EQ(index(R"({"vocab": {"[UNK]": 0}, "max_input_chars_per_word": 100})"), SubwordModel(WordPiece()).index());
  EXPECT_EQ(index(R"({"vocab": [["a", 0.5]]})"), SubwordModel(Unigram()).index());
  EXPECT_EQ(index(R"({"vocab": {"a": 0}})"), SubwordModel(WordLevel()).index());
}

TEST(Json, TheLastOfTwoMembersWithTheSameKeyWins) {
  const JsonDocument document(R"({"a": 1, "a": {"b": [1, 2, {"c": true}]}})", "file", "tokenizer");
  EXPECT_TRUE(document.root()["a"]["b"][2]["c"].boolean());
  EXPECT_EQ(document.root()["a"]["b"][2]["c"].place(), "file: a.b[2].c");
  EXPECT_ERROR(document.root()["a"]["b"][3], "file: a.b: got 3 elements, expected 4 or more");
}

}  // namespace
}  // namespace attend::test
