// attend train language-model, finetune, generate, score and chat, run as a user runs them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using test::contains;
using test::contents;
using test::lines_of;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

const std::string kModel = "--model " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer ";

std::vector<Json> json_of(const std::string& text) {
  std::vector<Json> all;
  for (const std::string& line : lines_of(text)) all.push_back(Json::parse(line));
  return all;
}

TEST(Generate, GoesOnFromArgumentsFilesAndStandardInput) {
  const test::TempFolder folder;
  std::ofstream(folder / "prompts.txt") << "The\nonce upon\n";
  const std::string flags = kModel + "--max-new-tokens 8 --json ";
  const Outcome arguments = run_attend("generate " + flags + "The 'once upon'");
  ASSERT_EQ(arguments.code, 0);
  const std::vector<Json> results = json_of(arguments.output);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["prompt"], "The");
  for (const char* key : {"text", "ids", "finish", "logprob"}) EXPECT_TRUE(results[0].contains(key)) << key;
  EXPECT_EQ(run_attend("generate " + flags + "--input " + (folder / "prompts.txt").string()).output, arguments.output);
  EXPECT_EQ(run_attend("generate " + flags + "< " + (folder / "prompts.txt").string()).output, arguments.output);

  const std::string text = results[0]["text"];
  EXPECT_EQ(run_attend("generate " + kModel + "--max-new-tokens 8 The").output, text + "\n");
  EXPECT_EQ(run_attend("generate " + kModel + "--max-new-tokens 8 --echo The").output, "The" + text + "\n");
  EXPECT_EQ(run_attend("generate " + kModel + "--max-new-tokens 8 The 'once upon'").output,
            text + "\n---\n" + results[1]["text"].get<std::string>() + "\n");
}

TEST(Generate, TheSameSeedGivesTheSameTexts) {
  const std::string flags =
      "generate " + kModel + "--samples 4 --temperature 1.5 --top-p 0.95 --max-new-tokens 6 --json The ";
  const std::vector<Json> once = json_of(run_attend(flags + "--seed 3").output);
  ASSERT_EQ(once.size(), 4u);
  EXPECT_EQ(once[3]["sample"], 3);
  EXPECT_EQ(json_of(run_attend(flags + "--seed 3").output), once);
  EXPECT_EQ(json_of(run_attend(flags + "--seed 3 --threads 1").output), once);
  EXPECT_NE(json_of(run_attend(flags + "--seed 4").output), once);
}

TEST(Generate, WithoutASeedSamplesAnotherTextAndTellsItsSeed) {
  const std::string flags = "generate " + kModel + "--temperature 2 --top-k 0 --max-new-tokens 12 --json The ";
  const Json first = json_of(run_attend(flags).output).front(), second = json_of(run_attend(flags).output).front();
  EXPECT_NE(first["seed"], second["seed"]);
  EXPECT_NE(first["ids"], second["ids"]);
  EXPECT_EQ(json_of(run_attend(flags + "--seed " + first["seed"].dump()).output).front(), first);
}

TEST(Generate, ATemperatureOfZeroIsGreedySearch) {
  const std::string flags = "generate " + kModel + "--max-new-tokens 8 --json The ";
  const Json cold = json_of(run_attend(flags + "--temperature 0").output).front();
  EXPECT_EQ(cold, json_of(run_attend(flags + "--greedy").output).front());
  EXPECT_FALSE(cold.contains("seed"));
}

TEST(Generate, SaysWhatIsWrong) {
  const std::string verb = "generate " + kModel;
  const auto fails = [](const std::string& arguments, const std::string& why) {
    const Outcome outcome = run_for_errors(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, why)) << arguments << ": " << outcome.output;
  };
  fails(verb + "x --max-new-tokens 100", "the model sees 24");
  fails(verb + "x --greedy --samples 2", "--samples");
  fails(verb + "x --beam 2 --samples 3", "--samples");
  fails(verb + "x --beam 2 --top-k 3", "--top-k");
  fails(verb + "x --temperature -1", "--temperature");
  fails(verb + "x --temperature 0 --samples 2", "greedy search");
  fails(verb + "x --samples 1000000000", "does not fit into memory");
  fails(verb + "x --stop ''", "stop");
  fails("generate --model " ATTEND_SOURCE_DIR "/tests/models/fixtures/marian_tied x", "expected a language model");
  fails("generate --model /nowhere x", "/nowhere");
  EXPECT_EQ(
      json_of(run_attend(verb + "x --max-new-tokens 100 --long slide --ignore-eos --json").output)[0]["ids"].size(),
      100u);
}

TEST(Score, GivesLogProbabilitiesAndPerplexity) {
  const Outcome outcome = run_attend("score " + kModel + "--json 'To be or not' 'to be'");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<Json> scored = json_of(outcome.output);
  ASSERT_EQ(scored.size(), 2u);
  EXPECT_EQ(scored[0]["tokens"].size(), scored[0]["logprobs"].size());
  EXPECT_TRUE(scored[0]["logprobs"][0].is_null());
  double sum = 0;
  for (std::size_t i = 1; i < scored[0]["logprobs"].size(); ++i) sum += scored[0]["logprobs"][i].get<double>();
  EXPECT_NEAR(scored[0]["logprob"].get<double>(), sum, 1e-9);
  const Outcome plain = run_attend("score " + kModel + "'To be or not' 'to be'");
  ASSERT_EQ(lines_of(plain.output).size(), 2u);
  EXPECT_NEAR(std::stod(plain.output), sum, 1e-3);
  const std::string end = run_for_errors("score " + kModel + "'To be or not' 'to be'").output;
  EXPECT_TRUE(contains(end, "perplexity") && contains(end, "of 2 texts")) << end;
  EXPECT_EQ(lines_of(run_attend("score " + kModel + "--whole", "printf 'To be\\nor not' |").output).size(), 1u);
  EXPECT_FALSE(json_of(run_attend("score " + kModel + "--start --json x").output)[0]["logprobs"][0].is_null());
}

TEST(Chat, KeepsTurnsApartAndForgetsTheOldest) {
  const Outcome outcome =
      run_attend("chat " + kModel + "--max-new-tokens 4 --json", "printf 'Hello\\n\\nand you\\n' |");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<Json> replies = json_of(outcome.output);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1]["prompt"], "and you");
  const Outcome many =
      run_attend("chat " + kModel + "--max-new-tokens 4 2>&1", "printf 'a b c d\\ne f g h\\ni j k l\\nm n o p\\n' |");
  EXPECT_EQ(many.code, 0);
  EXPECT_TRUE(contains(many.output, "oldest turns are dropped")) << many.output;
}

/// A copy of the model with a chat template.
class ChatTemplates : public testing::Test {
 protected:
  ChatTemplates() {
    std::filesystem::copy(ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer", folder_.path());
    write("chat_template.jinja",
          "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}{{ eos_token }}{% endfor %}"
          "{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}a:{{ mood }}{% endif %}");
    write("messages.json", R"([{"role": "user", "content": "Hé <|endoftext|>"}])");
    write("tools.json", R"([{"type": "function", "function": {"name": "f"}}])");
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::remove(folder_ / name);
    std::ofstream(folder_ / name) << text;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const test::TempFolder folder_;
};

TEST_F(ChatTemplates, RenderPrintsThePromptExactly) {
  const std::string render = "chat --render --messages " + path("messages.json");
  const std::string model = " --model " + folder_.path().string();
  EXPECT_EQ(run_attend(render + model).output, "u:Hé <|endoftext|><|endoftext|>a:");
  EXPECT_EQ(run_attend(render + model + " --no-generation-prompt").output, "u:Hé <|endoftext|><|endoftext|>");
  EXPECT_EQ(run_attend(render + model + " --continue-final-message").output, "u:Hé <|endoftext|>");
  EXPECT_EQ(
      run_attend(render + model + " --tools " + path("tools.json") + " --template-args '{\"mood\": \"calm\"}'").output,
      "u:Hé <|endoftext|><|endoftext|>[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]a:calm");
  const std::string file = " --template " + path("chat_template.jinja");
  EXPECT_EQ(run_attend(render + file).output, "u:Hé <|endoftext|>a:");
  EXPECT_EQ(run_attend(render + file + model).output, "u:Hé <|endoftext|><|endoftext|>a:");
  write("messages.json", "{");
  const Outcome outcome = run_attend(render + model + " 2>&1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.output, "messages: is not valid JSON")) << outcome.output;
  EXPECT_TRUE(contains(run_attend("chat --render 2>&1").output, "--messages FILE"));
  EXPECT_TRUE(contains(run_attend("chat 2>&1").output, "--model"));
  EXPECT_TRUE(contains(run_attend(render + " " + kModel + "2>&1").output, "no chat template"));
  EXPECT_TRUE(contains(run_attend("chat --system x " + kModel + "2>&1", "printf 'a\\n' |").output, "no chat template"));
}

TEST_F(ChatTemplates, AConversationKeepsItsSystemMessage) {
  const std::string chat =
      "chat --model " + folder_.path().string() + " --system be --max-new-tokens 4 --seed 3 --sample ";
  const Outcome outcome = run_attend(chat + "--json", "printf 'Hello\\nand\\n' |");
  ASSERT_EQ(outcome.code, 0);
  const std::vector<Json> replies = json_of(outcome.output);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1]["prompt"], "and");
  EXPECT_EQ(replies[1]["seed"], 3);
  const Outcome many = run_attend(chat + "2>&1", "printf 'a b c\\ne f g\\ni j k\\nm n o\\n' |");
  EXPECT_EQ(many.code, 0) << many.output;
  EXPECT_TRUE(contains(many.output, "oldest turns are dropped")) << many.output;
}

/// Sentences of few words, for models that learn in seconds.
class TrainLanguageModel : public testing::Test {
 protected:
  TrainLanguageModel() {
    std::ofstream text(folder_ / "text.txt");
    const std::vector<std::string> who = {"the cat", "a dog", "one bird"}, does = {"sees", "likes", "finds"};
    unsigned random = 1;
    const auto draw = [&] { return (random = random * 1664525 + 1013904223) / 65536 % 3; };
    for (int line = 0; line < 600; ++line) text << who[draw()] << ' ' << does[draw()] << ' ' << who[draw()] << ".\n";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const test::TempFolder folder_;
  const std::string small_ =
      " --layers 2 --heads 2 --width 32 --context 32 --batch-tokens 256 --learning-rate 5e-3 "
      "--warmup 10 --validate-every 50 --sample-tokens 20 ";
};

TEST_F(TrainLanguageModel, LearnsCharactersWritesAndIsFineTuned) {
  const Outcome trained = run_attend("train language-model --tokens characters --train " + path("text.txt") + small_ +
                                     "--steps 150 --dropout 0 --json --output " + path("model") + " 2> " + path("log"));
  ASSERT_EQ(trained.code, 0) << contents(path("log"));
  const Json summary = Json::parse(trained.output);
  EXPECT_LT(summary["loss"].get<double>(), 0.6);
  EXPECT_NEAR(summary["perplexity"].get<double>(), std::exp(summary["loss"].get<double>()), 1e-6);
  EXPECT_TRUE(contains(contents(path("log")), "  | ")) << contents(path("log"));
  const Outcome written = run_attend("generate --greedy --max-new-tokens 20 'the cat ' --model " + path("model"));
  EXPECT_EQ(written.code, 0);
  const std::string text = written.output;
  EXPECT_TRUE(contains(text, "sees") || contains(text, "likes") || contains(text, "finds")) << text;

  const Outcome tuned = run_attend("finetune language-model --from " + path("model") + " --train " + path("text.txt") +
                                   " --batch-tokens 256 --steps 10 --sample-tokens 0 --json --output " + path("tuned") +
                                   " 2> " + path("log"));
  ASSERT_EQ(tuned.code, 0) << contents(path("log"));
  EXPECT_TRUE(contains(contents(path("log")), "8 windows of 32 in a batch"))  // the context of the model
      << contents(path("log"));
  EXPECT_LT(Json::parse(tuned.output)["loss"].get<double>(), summary["loss"].get<double>() + 0.05);
}

TEST_F(TrainLanguageModel, ARunThatWasStoppedGoesOnToTheSameModel) {
  const auto train = [&](const std::string& flags, const std::string& output) {
    return run_attend("train language-model --vocab-size 300 --no-bias --dropout 0.1 --train " + path("text.txt") +
                      small_ + "--schedule constant --checkpoint-every 0 " + flags + " --json --output " +
                      path(output) + " 2> " + path("log"))
        .code;
  };
  ASSERT_EQ(train("--steps 40", "whole"), 0) << contents(path("log"));
  ASSERT_EQ(train("--steps 25", "parts"), 0) << contents(path("log"));
  ASSERT_EQ(train("--steps 40 --resume", "parts"), 0) << contents(path("log"));
  EXPECT_TRUE(contents(path("whole/model.safetensors")) == contents(path("parts/model.safetensors")));
}

TEST_F(TrainLanguageModel, ATokenStoreIsAsGoodAsItsText) {
  const auto train = [&](const std::string& flags, const std::string& output) {
    return run_attend("train language-model --train " + flags + small_ + "--steps 8 --json --output " + path(output) +
                      " 2> " + path("log"))
        .code;
  };
  ASSERT_EQ(train(path("text.txt") + " --tokens characters", "text"), 0) << contents(path("log"));
  const Outcome stored =
      run_attend("tokenize --model " + path("text") + " --input " + path("text.txt") + " --store " + path("x.tokens"));
  ASSERT_EQ(stored.code, 0);
  EXPECT_TRUE(contains(stored.output, " tokens in 1 document")) << stored.output;
  ASSERT_EQ(train(path("x.tokens") + " --tokenizer " + path("text"), "store"), 0) << contents(path("log"));
  EXPECT_TRUE(contents(path("text/model.safetensors")) == contents(path("store/model.safetensors")));

  EXPECT_EQ(train(path("x.tokens"), "none"), 2);
  EXPECT_TRUE(contains(contents(path("log")), "--tokenizer")) << contents(path("log"));
  EXPECT_EQ(
      train(path("x.tokens") + " --tokenizer " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer", "other"), 2);
  EXPECT_TRUE(contains(contents(path("log")), "not those of the model's tokenizer")) << contents(path("log"));
}

TEST_F(TrainLanguageModel, SaysWhatIsWrong) {
  const auto fails = [&](const std::string& arguments, const std::string& why) {
    const Outcome outcome = run_for_errors(arguments + " --output " + path("wrong"));
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.output, why)) << arguments << ": " << outcome.output;
  };
  fails("train language-model", "--train");
  fails("train language-model --train /nowhere.txt", "/nowhere.txt: there is no such file");
  fails("train language-model --tokens characters --heads 3 --width 32 --train " + path("text.txt"), "heads");
  fails("train language-model --tokens characters --context 100000 --train " + path("text.txt"),
        "the text is too short");
  fails("finetune language-model --from " ATTEND_SOURCE_DIR
        "/tests/models/fixtures/gpt2_tokenizer --context 64 --train " +
            path("text.txt"),
        "the model sees 24");
}

TEST(Convert, WritesFoldersOfInt8ThatRunAndSayWhatTheyCost) {
  const test::TempFolder folder;
  std::ofstream(folder / "text.txt") << "once upon a time\nthere was a cat\n";
  const std::string to = (folder / "int8").string();
  const Outcome made =
      run_attend("convert " + kModel + "--int8 --output " + to + " --check " + (folder / "text.txt").string());
  ASSERT_EQ(made.code, 0);
  EXPECT_TRUE(contains(made.output, "perplexity  float32 ")) << made.output;
  EXPECT_TRUE(contains(made.output, "  int8 ")) << made.output;
  EXPECT_LT(
      std::filesystem::file_size(folder / "int8/model.safetensors"),
      std::filesystem::file_size(ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer/model.safetensors") / 2);
  EXPECT_EQ(run_attend("generate --model " + to + " --max-new-tokens 4 The").code, 0);
  EXPECT_TRUE(contains(run_for_errors("finetune language-model --from " + to + " --train " +
                                      (folder / "text.txt").string() + " --output " + (folder / "more").string())
                           .output,
                       "can be run, but not trained"));
}

TEST(Convert, WritesGguf) {
  const test::TempFolder folder;
  const std::string path = (folder / "m.gguf").string();
  ASSERT_EQ(run_attend("convert " + kModel + "--output " + path).code, 0);
  EXPECT_EQ(contents(path).substr(0, 4), "GGUF");
  for (const char* key : {"gpt2.attention.head_count", "tokenizer.ggml.merges", "blk.1.attn_qkv.weight"})
    EXPECT_TRUE(contains(contents(path), key)) << key;
  const std::string small = (folder / "half.gguf").string();
  ASSERT_EQ(run_attend("convert " + kModel + "--half --output " + small).code, 0);
  EXPECT_LT(contents(small).size(), contents(path).size());
}

TEST(Convert, RefusesToOverwriteAModelUnlessAsked) {
  const test::TempFolder folder;
  for (const std::string name : {"model", "model.gguf"}) {
    const std::string convert = "convert " + kModel + "--output " + (folder / name).string();
    ASSERT_EQ(run_attend(convert).code, 0);
    const Outcome again = run_for_errors(convert);
    EXPECT_EQ(again.code, 2);
    EXPECT_TRUE(contains(again.output, "holds a model; add --overwrite")) << again.output;
    EXPECT_EQ(run_attend(convert + " --overwrite").code, 0);
  }
}

TEST(Convert, SaysWhatIsWrong) {
  const test::TempFolder folder;
  const std::string to = "--output " + (folder / "x").string();
  EXPECT_TRUE(contains(run_for_errors("convert " + kModel + "--half " + to).output, "is for GGUF files"));
  EXPECT_TRUE(contains(run_for_errors("convert " + kModel + to + " --check text.txt").output, "give --int8"));
  EXPECT_TRUE(contains(run_for_errors("convert --int8 " + kModel + to + " --check nothing.txt").output, "nothing.txt"));
  EXPECT_TRUE(contains(
      run_for_errors("convert " + kModel + "--output " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer")
          .output,
      "is the folder of the model itself"));
  EXPECT_TRUE(contains(
      run_for_errors("convert " + kModel + "--output " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer/int8")
          .output,
      "is inside the folder of the model"));
}

}  // namespace
}  // namespace attend
