// What people do with a BERT folder, through the program. The numbers are tested in tests/decode/.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attend/formats/npy.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using nlohmann::json;
using test::contains;
using test::contents;
using test::lines_of;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

class BertVerbs : public testing::Test {
 protected:
  static std::string fixture(const std::string& name) { return ATTEND_SOURCE_DIR "/tests/tasks/fixtures/" + name; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return file(name);
  }
  test::TempFolder folder_;
};

TEST_F(BertVerbs, EmbedWritesTheSameNumbersInEveryFormat) {
  const std::string use = "embed --model " + fixture("sentence_mean") + " --input " +
                          write("texts", "The child reads.\n\nNobody here\n") + " ";
  const Outcome outcome = run_attend(use);
  ASSERT_EQ(outcome.code, 0);
  std::vector<float> numbers;
  for (const std::string& line : lines_of(outcome.output)) {
    const json object = json::parse(line);
    for (const json& number : object["embedding"]) numbers.push_back(number.get<float>());
  }
  ASSERT_EQ(numbers.size(), 24u);
  EXPECT_EQ(json::parse(lines_of(outcome.output)[2])["text"], "Nobody here");

  ASSERT_EQ(run_attend(use + "--output " + file("x.npy")).code, 0);
  const Tensor matrix = read_npy(file("x.npy"));
  EXPECT_EQ(matrix.shape(), (Shape{3, 8}));
  EXPECT_EQ(matrix.to_vector(), numbers);
  const std::string raw = run_attend(use + "--format f32").output;
  EXPECT_EQ(raw, contents(file("x.npy")).substr(static_cast<std::size_t>(kNpyHeader)));
  std::vector<float> from_tsv;
  std::istringstream tsv(run_attend(use + "--format tsv").output);
  for (float number; tsv >> number;) from_tsv.push_back(number);
  EXPECT_EQ(from_tsv, numbers);

  const Outcome piped = run_for_errors(use + "--format npy");
  EXPECT_EQ(piped.code, 2);
  EXPECT_TRUE(contains(piped.output, "npy needs a file")) << piped.output;
  const Outcome both = run_for_errors(use + "--json --output " + file("y.npy"));
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(contains(both.output, "ends in .npy, but --format is jsonl")) << both.output;
  const Outcome other = run_for_errors(use + "--output " + file("y.csv"));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.output, "choose one by --format")) << other.output;
}

TEST_F(BertVerbs, EmbedTakesTextsAsArguments) {
  const std::string verb = "embed --model " + fixture("sentence_mean") + " ";
  const Outcome arguments = run_attend(verb + "'to be' 'or not'");
  EXPECT_EQ(arguments.code, 0);
  EXPECT_EQ(arguments.output, run_attend(verb + "--input " + write("texts", "to be\nor not\n")).output);
  EXPECT_EQ(run_attend(verb + "'to be' --input " + write("texts", "or not\n") + " 2>/dev/null").code, 2);
}

TEST_F(BertVerbs, EmbedSaysWhatItCut) {
  const std::string use = "embed --model " + fixture("sentence_mean") + " --max-tokens 4 --input " +
                          write("texts", "a\nthe child the child\n");
  EXPECT_TRUE(contains(run_for_errors(use).output, "1 line was cut: longer"));
  EXPECT_EQ(json::parse(lines_of(run_attend(use + " 2>/dev/null").output)[1])["truncated"], 2);
  const Outcome refused = run_for_errors(use + " --long error");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output, "texts, line 2: the text is too long")) << refused.output;
  const Outcome prompt = run_for_errors(use + " --prompt-name nobody");
  EXPECT_EQ(prompt.code, 2);
  EXPECT_TRUE(contains(prompt.output, "no prompt named \"nobody\"")) << prompt.output;
  const Outcome way = run_for_errors(use + " --long foo");
  EXPECT_EQ(way.code, 2);
  EXPECT_TRUE(contains(way.output, "--long") && contains(way.output, "truncate")) << way.output;
  EXPECT_EQ(run_for_errors(use + " --long 0").code, 2);
}

TEST_F(BertVerbs, SimilarFindsATextItselfFirstAlsoInStoredVectors) {
  const std::string texts = write("texts", "The child reads.\nNobody here\nUn marinaio\nThe old sailor\n");
  const std::string model = "--model " + fixture("sentence_mean") + " ";
  const std::string use = "similar " + model + "--texts " + texts + " --top 2 --query 'Un marinaio' ";
  const Outcome found = run_attend(use);
  ASSERT_EQ(found.code, 0);
  ASSERT_EQ(lines_of(found.output).size(), 2u);
  EXPECT_TRUE(found.output.starts_with("1.0000\t3\tUn marinaio\n")) << found.output;

  ASSERT_EQ(run_attend("embed " + model + "--input " + texts + " --output " + file("v.npy")).code, 0);
  EXPECT_EQ(run_attend(use + "--vectors " + file("v.npy")).output, found.output);
  const json match = json::parse(run_attend(use + "--json").output);
  EXPECT_EQ(match["query"], "Un marinaio");
  EXPECT_EQ(match["matches"][0]["line"], 3);

  EXPECT_EQ(run_attend("similar " + model + "--texts - --top 2 --query 'Un marinaio'", "cat " + texts + " |").output,
            found.output);

  const std::string queries = write("queries", "Nobody here\nThe old sailor\n");
  const Outcome many =
      run_attend("similar " + model + "--texts " + texts + " --top 1 --queries " + queries + " --json");
  ASSERT_EQ(lines_of(many.output).size(), 2u);
  EXPECT_EQ(json::parse(lines_of(many.output)[1])["matches"][0]["line"], 4);

  write("texts", "only one\n");
  const Outcome other = run_for_errors(use + "--vectors " + file("v.npy"));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.output, "has 1 line, but there are 4 vectors")) << other.output;
  EXPECT_EQ(run_for_errors("similar " + model + "--texts " + texts).code, 2);
}

TEST_F(BertVerbs, SimilarSortsCandidatesByTheScoreOfACrossEncoder) {
  const std::string texts = write("texts", "The child reads.\nNobody here\nUn marinaio\nThe old sailor\n");
  const std::string use = "similar --model " + fixture("sentence_mean") + " --texts " + texts +
                          " --query 'Un marinaio' --rerank " + fixture("cross_encoder") + " ";
  const json all = json::parse(run_attend(use + "--json").output)["matches"];
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i - 1]["score"], all[i]["score"]);
  const json best = json::parse(run_attend(use + "--json --top 1").output)["matches"];
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0], all[0]);
  // Of one candidate only, the closest text.
  const json closest = json::parse(run_attend(use + "--json --top 1 --candidates 1").output)["matches"];
  EXPECT_EQ(closest[0]["line"], 3);
  EXPECT_NEAR(closest[0]["cosine"], 1, 1e-5);
  const Outcome labels = run_for_errors("similar --model " + fixture("sentence_mean") + " --texts " + texts +
                                        " --query x --rerank " + fixture("bert_labels"));
  EXPECT_EQ(labels.code, 2);
  EXPECT_TRUE(contains(labels.output, "a classifier with 3 labels, expected a cross-encoder with one"))
      << labels.output;
}

TEST_F(BertVerbs, FillMaskTakesArgumentsFilesAndPipes) {
  const std::string use = "fill-mask --model " + fixture("bert_words") + " ";
  const Outcome one = run_attend(use + "'The child [MASK] the newspapers.' --top 3");
  ASSERT_EQ(one.code, 0);
  EXPECT_EQ(lines_of(one.output).size(), 4u);  // and an empty one
  EXPECT_EQ(run_attend(use + "--top 3", "echo 'The child <mask> the newspapers.' |").output, one.output);
  const std::string texts = write("texts", "a [MASK] b [MASK]\nno mask\n");
  const Outcome two = run_attend(use + "--json --input " + texts + " 2>/dev/null");
  const json first = json::parse(lines_of(two.output)[0]);
  ASSERT_EQ(first["masks"].size(), 2u);
  EXPECT_EQ(first["masks"][0]["position"], 2);
  EXPECT_EQ(first["masks"][1]["candidates"].size(), 5u);
  EXPECT_TRUE(first["masks"][1]["candidates"][0]["prob"].is_number());
  EXPECT_TRUE(json::parse(lines_of(two.output)[1])["masks"].empty());
  EXPECT_TRUE(contains(run_for_errors(use + "--input " + texts).output, "1 text has no mask: 2"));
  // Brackets make no list of a text.
  const Outcome brackets = run_attend(use + "'[MASK], a and [MASK]' '[MASK]' --json --top 1");
  ASSERT_EQ(lines_of(brackets.output).size(), 2u);
  EXPECT_EQ(json::parse(lines_of(brackets.output)[0])["text"], "[MASK], a and [MASK]");
  EXPECT_EQ(json::parse(lines_of(brackets.output)[0])["masks"].size(), 2u);
  write("[a,b]", "a [MASK]\n");
  EXPECT_EQ(run_attend(use + "--json '--input=" + file("[a,b]") + "'").code, 0);
  const Outcome none = run_for_errors(use + "'no mask'");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.output, "write [MASK]")) << none.output;
  const Outcome lost = run_for_errors(use + "'a b c d e f [MASK]' --max-tokens 5 --long truncate");
  EXPECT_EQ(lost.code, 2);
  EXPECT_TRUE(contains(lost.output, "in the part of its text that was cut")) << lost.output;
  const Outcome narrow = run_for_errors(use + "'a [MASK] b' --max-tokens 2 --long split");
  EXPECT_EQ(narrow.code, 2);
  EXPECT_TRUE(contains(narrow.output, "max_tokens is 2")) << narrow.output;
}

TEST_F(BertVerbs, AnswerSaysWhereTheAnswerStands) {
  const std::string use = "answer --model " + fixture("bert_answers") + " ";
  const std::string text = "größere Straßen, perché è così?";
  const json answer = json::parse(run_attend(use + "--json --question 'Nobody here?' --text '" + text + "'").output);
  EXPECT_EQ(answer["question"], "Nobody here?");
  EXPECT_TRUE(contains(text, answer["answer"].get<std::string>()));
  EXPECT_LE(answer["start"], answer["end"]);
  EXPECT_LE(answer["end"], 31);  // characters
  const std::string pairs = write("pairs.tsv", "Nobody here?\t" + text + "\n\nwho?\tThe child\n");
  const Outcome all = run_attend(use + "--json --top 2 --input " + pairs);
  ASSERT_EQ(lines_of(all.output).size(), 3u);
  EXPECT_EQ(json::parse(lines_of(all.output)[0])["answer"], answer["answer"]);
  EXPECT_EQ(json::parse(lines_of(all.output)[2])["answers"].size(), 2u);
  const json nothing = json::parse(run_attend(use + "--json --top 2 --question who? --text ''").output);
  for (const char* key : {"answer", "score", "start", "end"}) EXPECT_TRUE(nothing.at(key).is_null()) << key;
  EXPECT_TRUE(nothing.at("answers").empty());
  EXPECT_EQ(run_for_errors(use + "--max-tokens 20 --overlap 20 --question who? --text x").code, 2);
  const Outcome outcome = run_for_errors(use + "--input " + write("no tab", "one text\n").insert(0, "'") + "'");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "line 1: has no tab")) << outcome.output;
  EXPECT_EQ(run_attend(use + "--question who? --input " + write("t", "The child\nreads.\n")).code, 0);
}

TEST_F(BertVerbs, TagPrintsALineForEachLine) {
  const std::string use =
      "tag --model " + fixture("bert_tags") + " --input " + write("texts", "Nobody here\n\nThe child\n") + " ";
  const Outcome outcome = run_attend(use);
  ASSERT_EQ(outcome.code, 0);
  ASSERT_EQ(lines_of(outcome.output).size(), 3u);
  EXPECT_EQ(lines_of(outcome.output)[1], "");
  const json tagged = json::parse(lines_of(run_attend(use + "--json --all --words").output)[2]);
  ASSERT_EQ(tagged["tags"].size(), 2u);
  EXPECT_EQ(tagged["tags"][1]["text"], "child");
  EXPECT_EQ(tagged["tags"][1]["start"], 4);
  EXPECT_EQ(run_attend(use + "--strategy average").code, 0);
  EXPECT_EQ(run_for_errors(use + "--strategy best").code, 2);
  EXPECT_EQ(run_attend("tag --model " + fixture("bert_tags") + " 'The child' '' --max-tokens 3").code, 0);
  EXPECT_EQ(run_for_errors(use + "--max-tokens 8 --overlap 8").code, 2);
}

TEST_F(BertVerbs, ClassifyTakesPairsAndSeveralLabels) {
  const std::string use = "classify --model " + fixture("bert_several_labels") + " ";
  const std::string texts = write("texts", "Nobody here\tUn marinaio\n");
  // The text behind --attention is a text, and not the file of the flag.
  const Outcome texts_behind = run_attend(use + "--attention hi there");
  EXPECT_EQ(lines_of(texts_behind.output).size(), 2u) << texts_behind.output;
  EXPECT_EQ(texts_behind.output, run_attend(use + "hi there --attention").output);
  const Outcome pair = run_attend(use + "--pairs --json --attention --input " + texts);
  ASSERT_EQ(pair.code, 0);
  const json result = json::parse(pair.output);
  EXPECT_EQ(result["probs"].size(), 3u);
  for (const json& label : result["labels"]) EXPECT_GT(result["probs"][label.get<std::string>()], 0.5);
  EXPECT_EQ(result["tokens"].size(), result["attention"].size());
  EXPECT_EQ(lines_of(run_attend(use + "--top 3 --input " + texts).output).size(), 1u);
  EXPECT_EQ(json::parse(run_attend(use + "'Nobody here' --json --top 2").output)["probs"].size(), 2u);
  const Outcome words =
      run_attend("classify --model " + fixture("bert_labels") + " --attention", "echo 'Nobody here' |");
  EXPECT_TRUE(contains(words.output, "Nobody 0.") && !contains(words.output, "[CLS]")) << words.output;
  const Outcome lacking = run_for_errors(use + "--pairs --input " + write("one", "no tab\n"));
  EXPECT_EQ(lacking.code, 2);
  EXPECT_TRUE(contains(lacking.output, "one, line 1: has no tab")) << lacking.output;
}

TEST_F(BertVerbs, FindTheModelOneFloorBelow) {
  std::filesystem::create_directories(folder_ / "nested/1_Pooling");
  std::filesystem::copy(fixture("sentence_mean"), folder_ / "nested/0_Transformer");
  std::filesystem::copy(fixture("sentence_mean") + "/1_Pooling", folder_ / "nested/1_Pooling");
  write("nested/modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},)"
                               R"( {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  const std::string labels = write("labels.tsv", "a\tx\nb\ty\n");
  for (const std::string& verb :
       {"embed --json --model " + file("nested") + " </dev/null", "attention 'The child' --model " + file("nested"),
        "finetune classifier --epochs 1 --train " + labels + " --output " + file("new") + " --from " + file("nested") +
            " 2>&1"}) {
    const Outcome outcome = run_attend(verb);
    EXPECT_EQ(outcome.code, 0) << verb << "\n" << outcome.output;
  }
}

TEST_F(BertVerbs, RefuseFoldersForOtherPurposes) {
  for (const auto& [verb, folder, says] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"fill-mask x", "bert_tags", "expected one for masked tokens"},
           {"fill-mask x", "sentence_mean", "is a model for embeddings, expected one for masked tokens"},
           {"answer -q x -t y", "bert_words", "expected one for question answering"},
           {"tag", "bert_words", "expected one for token classification"},
           {"classify", "bert_words", "expected one for sequence classification"},
           {"embed", "nowhere", "nowhere: there is no such folder"}}) {
    const Outcome outcome = run_for_errors(verb + " --model " + fixture(folder) + " </dev/null");
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_TRUE(contains(outcome.output, says)) << outcome.output;
  }
}

}  // namespace
}  // namespace attend
