// attend train classifier and translation, and what is done with what they made, run as a user runs them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "attend/formats/config.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::contains;
using test::contents;
using test::Outcome;
using test::run_attend;
using test::run_for_errors;

/// A learning curve without the times it took.
std::string without_seconds(const std::string& csv) {
  std::istringstream rows(csv);
  std::string kept;
  for (std::string row; std::getline(rows, row); kept += '\n') {
    std::istringstream cells(row);
    std::string cell;
    for (int column = 0; std::getline(cells, cell, ','); ++column)
      if (column != 6) kept += cell + ',';
  }
  return kept;
}

/// Numbers from one to eight in two languages, one to five of them a line; and judgements of films.
class Train : public testing::Test {
 protected:
  Train() {
    const std::vector<std::string> english = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
    const std::vector<std::string> german = {"eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht"};
    std::ofstream pairs(folder_ / "pairs.tsv"), few(folder_ / "few.tsv"), films(folder_ / "films.tsv");
    unsigned random = 1;
    const auto draw = [&](unsigned n) { return (random = random * 1664525 + 1013904223) / 65536 % n; };
    for (int line = 0; line < 400; ++line) {
      std::string source, target;
      for (unsigned i = 0, count = 1 + draw(5); i < count; ++i) {
        const unsigned word = draw(8);
        source += (i ? " " : "") + english[word], target += (i ? " " : "") + german[word];
      }
      pairs << source << '\t' << target << '\n';
      if (line < 40) few << source << '\t' << target << '\n';
    }
    const std::vector<std::string> neutral = {"the", "film", "plot", "actor", "music", "was"};
    const std::vector<std::string> telling = {"great", "lovely", "bad", "awful"};
    for (int line = 0; line < 200; ++line) {
      const unsigned word = draw(4);
      films << neutral[draw(6)] << ' ' << neutral[draw(6)] << ' ' << telling[word] << ' ' << neutral[draw(6)] << '\t'
            << (word < 2 ? "good" : "poor") << '\n';
    }
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string translation(const std::string& output, const std::string& more = "") const {
    return "train translation --train " + file("pairs.tsv") + " --validation " + file("few.tsv") +
           " --arch rnn --vocab-size 60 --embedding 16 --hidden 32 --label-smoothing 0 --learning-rate 1e-2 --warmup 0 "
           "--batch-tokens 128 --output " +
           file(output) + " " + more;
  }
  /// The same with a Transformer.
  std::string transformer(const std::string& output, const std::string& more = "") const {
    return "train translation --train " + file("pairs.tsv") + " --validation " + file("few.tsv") +
           " --vocab-size 30 --width 16 --inner 32 --heads 2 --encoder-layers 1 --decoder-layers 1 --dropout 0 "
           "--label-smoothing 0 --learning-rate 1e-2 --warmup 20 --batch-tokens 256 --threads 1 --output " +
           file(output) + " " + more;
  }
  std::string finetune(const std::string& from, const std::string& output, const std::string& more = "") const {
    return "finetune translation --threads 1 --from " + file(from) + " --train " + file("pairs.tsv") +
           " --validation " + file("few.tsv") + " --batch-tokens 256 --output " + file(output) + " " + more;
  }
  std::string classifier(const std::string& output, const std::string& more = "") const {
    return "train classifier --train " + file("films.tsv") +
           " --embedding 8 --hidden 8 --epochs 8 --learning-rate 2e-2 --output " + file(output) + " " + more;
  }

  /// Documents about films, from which an encoder learns.
  void write_documents() const {
    std::ofstream text(folder_ / "text.txt");
    for (int document = 0; document < 60; ++document) {
      for (int line = 0; line < 4; ++line)
        text << (line % 2 ? "The music was great. The plot was lovely.\n" : "The actor was bad. The film was awful.\n");
      text << "\n";
    }
  }
  std::string encoder(const std::string& output, const std::string& more = "") const {
    return "train masked-lm --threads 1 --train " + file("text.txt") +
           " --max-tokens 32 --width 16 --layers 2 --inner 32 --learning-rate 5e-3 --warmup 5 "
           "--batch-tokens 256 --output " +
           file(output) + " " + more;
  }

  test::TempFolder folder_;
};

TEST_F(Train, ATranslatorLearnsTranslatesAndShowsWhereItLooks) {
  const Outcome trained = run_attend(translation("model", "--epochs 25 --dropout 0 --json 2>/dev/null"));
  ASSERT_EQ(trained.code, 0);
  EXPECT_GT(nlohmann::json::parse(trained.output).at("bleu"), 80);
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "curve.csv", "curve.html"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "model" / name)) << name;

  std::ofstream(folder_ / "source") << "three\n\nseven one\n";
  const std::string use = "translate --model " + file("model") + " --input " + file("source");
  EXPECT_EQ(run_attend(use).output, "drei\n\nsieben eins\n");
  EXPECT_EQ(run_attend(use + " --greedy --threads 1").output, "drei\n\nsieben eins\n");
  EXPECT_EQ(run_attend(use + " --alignments").output, "drei\t0-0\n\t\nsieben eins\t0-0 1-1\n");
  const std::string json = run_attend(use + " --json --nbest 3 --attention " + file("look.html")).output;
  const nlohmann::json first = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first.at("translation"), "drei");
  EXPECT_EQ(first.at("hypotheses").size(), 3);
  const std::string page = contents(folder_ / "look.html");
  EXPECT_TRUE(contains(page, "seven one") && contains(page, "<script")) << page.substr(0, 500);

  EXPECT_TRUE(
      contains(run_for_errors(use + " --attention look.txt").output, "must end with .html, .svg, .png or .json"));
  EXPECT_TRUE(contains(run_for_errors(use + " --greedy --nbest 2").output, "--nbest"));
  EXPECT_TRUE(contains(run_for_errors("classify --model " + file("model")).output, "attend-recurrent-translator"));
}

TEST_F(Train, ARunThatWasKilledGoesOnAsIfItHadNot) {
  ASSERT_EQ(run_attend(translation("whole", "--epochs 4 >/dev/null 2>&1")).code, 0);
  // Soon after the first checkpoint. Should the run be over by then, the result is to be the same all the same.
  run_attend(translation("killed", "--epochs 4 --checkpoint-every 0 >/dev/null 2>&1 & run=$!; while [ ! -e ") +
             file("killed/checkpoint.safetensors") +
             " ] && kill -0 $run; do sleep 0.02; done; sleep 0.05; kill -9 $run; wait $run");
  ASSERT_EQ(run_attend(translation("killed", "--epochs 4 --resume >/dev/null 2>&1")).code, 0);
  EXPECT_EQ(without_seconds(contents(folder_ / "killed/curve.csv")),
            without_seconds(contents(folder_ / "whole/curve.csv")));
  EXPECT_EQ(contents(folder_ / "killed/model.safetensors"), contents(folder_ / "whole/model.safetensors"));

  const Outcome again = run_for_errors(translation("whole", "--epochs 4"));
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.output, "--resume")) << again.output;
  const Outcome averaged = run_for_errors(translation("whole", "--epochs 4 --resume --average 0.9"));
  EXPECT_EQ(averaged.code, 2);
  EXPECT_TRUE(contains(averaged.output, "averages with 0.0, not with 0.9")) << averaged.output;
  const Outcome shorter = run_for_errors(translation("whole", "--epochs 4 --resume --max-length 9"));
  EXPECT_EQ(shorter.code, 2);
  const Outcome other = run_for_errors(translation("whole", "--epochs 4 --resume --attention-type none"));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.output, "belongs to a run with other data or options")) << other.output;
}

TEST_F(Train, EveryKindOfTranslatorCanBeTrainedAndUsed) {
  for (const std::string kind :
       {"--attention-type none --reverse-source", "--attention-type dot --one-direction",
        "--attention-type general --cell lstm", "--attention-type location --encoder-layers 2 --decoder-layers 2",
        "--attention-type additive --untied-output"}) {
    ASSERT_EQ(run_attend(translation("kind", "--overwrite --steps 2 " + kind + " >/dev/null 2>&1")).code, 0) << kind;
    EXPECT_EQ(run_attend("translate --model " + file("kind"), "echo one two |").code, 0) << kind;
    const Outcome looked = run_for_errors("translate --alignments --input /dev/null --model " + file("kind"));
    EXPECT_EQ(looked.code, contains(kind, "none") ? 2 : 0) << kind;
    EXPECT_EQ(contains(looked.output, "the model has no attention"), contains(kind, "none")) << looked.output;
  }
}

/// The loss that a JSON summary tells.
double loss_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0);
  return nlohmann::json::parse(outcome.output).at("loss");
}

TEST_F(Train, FineTuningGoesOnFromAFolder) {
  for (const bool recurrent : {true, false}) {
    const std::string kind = recurrent ? "rnn" : "transformer";
    const double before =
        loss_of(run_attend((recurrent ? translation(kind, "--epochs 6 --dropout 0 --threads 1 --metric loss")
                                      : transformer(kind, "--epochs 6 --metric loss")) +
                           " --json 2>/dev/null"));
    // One update at a rate of almost nothing: what it knew, it knows.
    const double same = loss_of(run_attend(
        finetune(kind, kind + "-same", "--steps 1 --warmup 0 --learning-rate 1e-9 --metric loss --json 2>/dev/null")));
    EXPECT_NEAR(same, before, 1e-3) << kind;
    const double after = loss_of(run_attend(finetune(
        kind, kind + "-more", "--epochs 3 --learning-rate 5e-3 --label-smoothing 0 --metric loss --json 2>/dev/null")));
    EXPECT_LT(after, before) << kind;
    for (const char* name : {"/config.json", "/generation_config.json"})
      EXPECT_EQ(contents(folder_ / (kind + "-more" + name)), contents(folder_ / (kind + name))) << kind;
  }
}

TEST_F(Train, FineTuningTakesANewVocabularyAndCarriesOverWhatBothHave) {
  for (const bool recurrent : {true, false}) {
    const std::string kind = recurrent ? "rnn" : "transformer";
    ASSERT_EQ(run_attend((recurrent ? translation(kind, "--epochs 6 --dropout 0 --threads 1")
                                    : transformer(kind, "--epochs 6")) +
                         " >/dev/null 2>&1")
                  .code,
              0);
    const Outcome other = run_for_errors(
        finetune(kind, kind + "-new", recurrent ? "--vocab-size 50 --steps 2" : "--vocab-size 28 --steps 2"));
    EXPECT_EQ(other.code, 0);
    EXPECT_TRUE(contains(other.output, " tokens are known to the model; the others start from random values"))
        << other.output;
    EXPECT_EQ(run_attend("translate --max-new-tokens 9 --model " + file(kind + "-new"), "echo one two |").code, 0)
        << kind;
    // The folder's own tokenizer as a new one: everything is carried over.
    const Outcome same = run_for_errors(
        finetune(kind, kind + "-own", "--tokenizer " + file(kind) + " --steps 1 --warmup 0 --learning-rate 1e-9"));
    EXPECT_EQ(same.code, 0) << same.output;
    const std::string first =
        run_attend("translate --max-new-tokens 9 --model " + file(kind), "printf 'one two\nsix\n' |").output;
    EXPECT_EQ(
        run_attend("translate --max-new-tokens 9 --model " + file(kind + "-own"), "printf 'one two\nsix\n' |").output,
        first);
  }
}

TEST_F(Train, AMarianFolderIsFineTunedWithItsOwnSubwordsOrWithNewOnes) {
  std::filesystem::copy(ATTEND_SOURCE_DIR "/tests/models/fixtures/marian_tokenizer", folder_ / "marian");
  ASSERT_EQ(run_attend(finetune("marian", "same", "--steps 2 >/dev/null 2>&1")).code, 0);
  Config config(folder_ / "marian/config.json");
  config.set("decoder_layerdrop", 0.1);
  config.save(folder_ / "marian/config.json");
  const Outcome all_layers = run_for_errors(finetune("marian", "whole", "--steps 1"));
  EXPECT_EQ(all_layers.code, 0);
  EXPECT_TRUE(contains(all_layers.output, "\"decoder_layerdrop\" of its config.json is not followed"));
  for (const char* name : {"source.spm", "target.spm", "vocab.json"})
    EXPECT_FALSE(contents(folder_ / "same" / name).empty()) << name;
  const Outcome other = run_for_errors(finetune("marian", "new", "--vocab-size 30 --steps 2"));
  EXPECT_EQ(other.code, 0);
  EXPECT_TRUE(contains(other.output, " tokens are known to the model")) << other.output;
  for (const std::string model : {"same", "new"})
    EXPECT_EQ(run_attend("translate --max-new-tokens 9 --model " + file(model), "echo one two |").code, 0) << model;
}

TEST_F(Train, AStoppedFineTuningResumesToTheSameModel) {
  ASSERT_EQ(run_attend(transformer("start", "--steps 10 >/dev/null 2>&1")).code, 0);
  const std::string flags =
      "--vocab-size 28 --dropout 0.1 --average 0.9 --average-best 2 --metric chrf --validate-every 5 ";
  ASSERT_EQ(run_attend(finetune("start", "whole", flags + "--steps 20 >/dev/null 2>&1")).code, 0);
  run_attend(
      finetune("start", "parts", flags + "--steps 20 --checkpoint-every 0 >/dev/null 2>&1 & run=$!; while [ ! -e ") +
      file("parts/checkpoint.safetensors") + " ] && kill -0 $run; do sleep 0.02; done; kill -9 $run; wait $run");
  ASSERT_EQ(run_attend(finetune("start", "parts", flags + "--steps 20 --resume >/dev/null 2>&1")).code, 0);
  EXPECT_EQ(contents(folder_ / "parts/model.safetensors"), contents(folder_ / "whole/model.safetensors"));
  EXPECT_EQ(without_seconds(contents(folder_ / "parts/curve.csv")),
            without_seconds(contents(folder_ / "whole/curve.csv")));
  EXPECT_TRUE(contains(contents(folder_ / "whole/curve.csv"), "validation_chrf"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "whole/best-models"));
}

TEST_F(Train, ASummarizerIsTrainedFromARecipeFineTunedAndUsed) {
  std::ofstream notes(folder_ / "notes.tsv"), few(folder_ / "few-notes.tsv");
  for (int i = 0; i < 60; ++i)
    (i < 50 ? notes : few) << "It is late. Number " << i * 37 % 100 << " called again today.\tnumber " << i * 37 % 100
                           << '\n';
  notes.close(), few.close();
  const auto train = [&](const std::string& output, const std::string& more) {
    return "train summary --threads 1 --train " + file("notes.tsv") + " --validation " + file("few-notes.tsv") +
           " --vocab-size 50 --width 16 --inner 32 --heads 2 --encoder-layers 1 --decoder-layers 1 --batch-tokens 256 "
           "--max-source-tokens 30 --gap-sentence-epochs 1 --coverage 0.2 --output " +
           file(output) + " " + more;
  };
  const Outcome trained = run_attend(train("notes", "--epochs 3 --json 2>/dev/null"));
  ASSERT_EQ(trained.code, 0) << trained.output;
  for (const char* score : {"loss", "rougeL", "rouge1", "rouge2"})
    EXPECT_TRUE(nlohmann::json::parse(trained.output).contains(score)) << score;
  const Outcome repeated = run_attend("train summary --threads 1 --config " + file("notes/recipe.toml") + " --output " +
                                      file("again") + " 2>&1");
  ASSERT_EQ(repeated.code, 0) << repeated.output;
  EXPECT_EQ(contents(folder_ / "again/model.safetensors"), contents(folder_ / "notes/model.safetensors"));
  EXPECT_TRUE(contains(run_for_errors(train("again", "--epochs 3 --resume")).output, "already finished"));
  EXPECT_TRUE(contains(run_for_errors(train("notes", "")).output, "--resume"));

  const std::string use = "summarize --model " + file("notes") + " --max-tokens 9 --json --attention " +
                          file("copied.json") + " --layer -1 'Number 12 called. It is late.'";
  const Outcome used = run_attend(use);
  ASSERT_EQ(used.code, 0) << used.output;
  EXPECT_EQ(nlohmann::json::parse(used.output).at("sentences").size(), 2u);
  EXPECT_EQ(run_attend("summarize --model " + file("notes"), "printf '\\n' |").output, "\n");
  EXPECT_EQ(
      run_attend("convert --int8 --model " + file("notes") + " --output " + file("int8") + " >/dev/null 2>&1").code, 0);
  EXPECT_EQ(run_attend("summarize --model " + file("int8") + " 'Number 12 called.'").code, 0);

  const std::string finetune =
      "finetune summary --threads 1 --from " + file("notes") + " --train " + file("notes.tsv") + " --steps 2 --output ";
  EXPECT_EQ(run_attend(finetune + file("tuned") + " >/dev/null 2>&1").code, 0);
  EXPECT_EQ(run_attend("summarize --model " + file("tuned") + " 'Number 12 called.'").code, 0);
  EXPECT_TRUE(contains(run_for_errors(finetune + file("x") + " --metric rouge1").output, "needs --validation"));
  EXPECT_TRUE(contains(run_for_errors(train("x", "--no-copy")).output, "coverage loss"));
  EXPECT_TRUE(contains(run_for_errors(train("x", "--epochs 1")).output, "no epoch is left"));
  EXPECT_TRUE(contains(run_for_errors(train("x", "--heads 3")).output, "--heads"));
}

TEST_F(Train, AClassifierLearnsAndShowsTheWordsThatDecided) {
  ASSERT_EQ(run_attend(classifier("model", "2>/dev/null")).code, 0);
  std::ofstream(folder_ / "texts") << "the music was lovely\nAwful actor\n\n";
  const std::string use = "classify --model " + file("model") + " --input " + file("texts");
  const std::string lines = run_attend(use).output;
  EXPECT_TRUE(lines.starts_with("good\t") && contains(lines, "\npoor\t")) << lines;
  const std::string json = run_attend(use + " --json --attention").output;
  const nlohmann::json first = nlohmann::json::parse(json.substr(0, json.find('\n')));
  EXPECT_EQ(first.at("label"), "good");
  EXPECT_EQ(first.at("tokens").size(), first.at("attention").size());
  EXPECT_EQ(first.at("probs").size(), 2);
  for (const std::string pool : {"last", "mean", "max"}) {
    ASSERT_EQ(run_attend(classifier("pool", "--overwrite --layers 2 --pool " + pool + " 2>/dev/null")).code, 0) << pool;
    EXPECT_TRUE(run_attend("classify --model " + file("pool"), "echo 'lovely film' |").output.starts_with("good"));
  }
}

TEST_F(Train, AClassifierOfPairsShowsTheAlignmentOfTheWords) {
  std::ofstream pairs(folder_ / "pairs.tsv");
  for (int i = 0; i < 40; ++i) pairs << "a film\ta film\tsame\na film\ta plot\tother\n";
  pairs.close();
  const std::string train =
      "train classifier --threads 1 --train " + file("pairs.tsv") + " --output " + file("pairs") + " ";
  EXPECT_TRUE(contains(run_for_errors(train + "--arch esim").output, "give the column of the second text"));
  EXPECT_TRUE(contains(run_for_errors(train + "--pairs").output, "reads single texts"));
  EXPECT_TRUE(contains(run_for_errors(train + "--pairs --arch esim --layers 2").output, "--layers: is for"));
  ASSERT_EQ(run_attend(train + "--pairs --arch decomposable --hidden 16 --learning-rate 1e-2 2>/dev/null").code, 0);
  const std::string use = "classify --model " + file("pairs") + " --attention";
  const std::string line = run_attend(use, "printf 'a film\\ta plot\\n' |").output;
  EXPECT_TRUE(contains(line, "plot → ")) << line;
  const auto json = nlohmann::json::parse(run_attend(use + " --json", "printf 'a film\\ta plot\\n' |").output);
  EXPECT_EQ(json.at("aligned").size(), 4u);
  EXPECT_TRUE(contains(run_for_errors(use + " 'a film'").output, "has no tab"));
  const auto map = nlohmann::json::parse(
      run_attend("attention --json --model " + file("pairs"), "printf 'a film\\ta plot\\n' |").output);
  EXPECT_EQ(map.at("tokens").size(), 4u);
}

TEST_F(Train, AClassifierOfDocumentsShowsSentencesAndWords) {
  std::ofstream documents(folder_ / "documents.tsv");
  for (int i = 0; i < 40; ++i) documents << "It is a film. It is lovely. \tgood\nIt is awful! It is a film.\tpoor\n";
  documents.close();
  const std::string train =
      "train classifier --threads 1 --arch hierarchical-transformer --train " + file("documents.tsv") + " --output ";
  EXPECT_TRUE(contains(run_for_errors(train + file("x") + " --heads 3").output, "--heads: must divide"));
  ASSERT_EQ(run_attend(train + file("documents") + " --hidden 8 --heads 2 --learning-rate 1e-2 2>/dev/null").code, 0);
  const std::string use = "classify --model " + file("documents") + " --attention";
  const std::string line = run_attend(use + " 'It is awful! It is a film.'").output;
  EXPECT_TRUE(line.starts_with("poor\t") && contains(line, "[It is awful!] ")) << line;
  const auto json = nlohmann::json::parse(run_attend(use + " --json 'È awful! It is a film.'").output);
  EXPECT_EQ(json.at("sentences").size(), 2u);
  EXPECT_EQ(json.at("sentences")[1].at("start"), 9) << "in characters";
}

TEST_F(Train, AnEncoderLearnsFromPlainTextAndIsFineTunedToAClassifier) {
  write_documents();
  const std::string flags = "--vocab-size 60 --epochs 4 --validation " + file("text.txt");
  const Outcome learned = run_attend(encoder("encoder", flags + " --json"));
  ASSERT_EQ(learned.code, 0) << learned.output;
  const auto summary = nlohmann::json::parse(learned.output);
  for (const char* score : {"word_loss", "word_accuracy", "next_loss", "next_accuracy"})
    EXPECT_TRUE(summary.contains(score)) << score;
  EXPECT_GT(summary.at("word_accuracy").get<double>(), 0.3);

  ASSERT_EQ(run_attend(encoder("half", flags + " --whole-words --no-next-sentence")).code, 0);
  EXPECT_TRUE(contains(contents(file("half/config.json")), "BertForMaskedLM"));
  EXPECT_TRUE(contains(contents(file("encoder/config.json")), "BertForPreTraining"));

  const std::string finetune = "finetune classifier --threads 1 --from " + file("encoder") + " --train " +
                               file("films.tsv") + " --validation " + file("films.tsv") +
                               " --learning-rate 5e-3 --warmup 5 --epochs 8 --output ";
  const Outcome films = run_attend(finetune + file("films") + " --balanced --json");
  ASSERT_EQ(films.code, 0) << films.output;
  EXPECT_GT(nlohmann::json::parse(films.output).at("accuracy").get<double>(), 0.95);
  const Outcome frozen =
      run_attend(finetune + file("frozen") + " --freeze 2 --several-labels '|' --consistency 0.5 --json");
  ASSERT_EQ(frozen.code, 0) << frozen.output;
  EXPECT_TRUE(contains(contents(file("frozen/config.json")), "multi_label_classification"));

  EXPECT_TRUE(contains(run_for_errors(finetune + file("x") + " --freeze 3").output, "the model has 2 layers"));
  EXPECT_TRUE(contains(run_for_errors(finetune + file("encoder") + " --overwrite").output, "both --from and --output"));
  EXPECT_TRUE(contains(
      run_for_errors("train masked-lm --documents line --train " + file("films.tsv") + " --output " + file("x")).output,
      "--no-next-sentence"));
  EXPECT_TRUE(contains(run_for_errors("finetune masked-lm --from " + file("films") + " --max-tokens 64 --train " +
                                      file("text.txt") + " --output " + file("x"))
                           .output,
                       "positions for 32"));
  EXPECT_EQ(run_attend("finetune masked-lm --steps 1 --from " + file("films") + " --train " + file("text.txt") +
                       " --output " + file("x"))
                .code,
            0);
}

TEST_F(Train, ARunThatFailsOrIsStoppedEarlyLeavesTheOldModelAsItWas) {
  write_documents();
  std::ofstream(folder_ / "one.txt") << "A film. A plot.\n";
  const Outcome first = run_attend(encoder("model", "--vocab-size 60 --steps 2 --json"));
  ASSERT_EQ(first.code, 0);
  EXPECT_GT(nlohmann::json::parse(first.output).at("training_loss"), 0);
  const auto now = [&] {
    std::string all;
    for (const char* name : {"config.json", "tokenizer.json", "vocab.txt", "model.safetensors", "recipe.toml"})
      all += contents(folder_ / "model" / name);
    return all;
  };
  const std::string before = now();
  for (const auto& [more, message] : {std::pair<std::string, std::string>{"--overwrite --heads 3", "--heads"},
                                      {"--overwrite --documents file", "is one document"},
                                      {"--overwrite --validation " + file("one.txt"), "is one document"},
                                      {"--overwrite --vocab-size 3", "no room for special tokens"},
                                      {"--resume --vocab-size 50", "other data or options"},
                                      {"--resume --cased --vocab-size 60", "other data or options"}}) {
    const Outcome outcome = run_for_errors(encoder("model", more));
    EXPECT_EQ(outcome.code, 2) << more;
    EXPECT_TRUE(contains(outcome.output, message)) << more << outcome.output;
    EXPECT_EQ(now(), before) << more;
    if (contains(more, "--overwrite")) {
      EXPECT_EQ(run_for_errors(encoder("none", more)).code, 2);
      EXPECT_FALSE(std::filesystem::exists(folder_ / "none")) << more;
    }
  }
  const std::string dead = file("model/checkpoint.safetensors.part-999999999-0");
  const std::string living = file("model/checkpoint.safetensors.part-" + std::to_string(::getpid()) + "-0");
  for (const std::string& part : {dead, living}) std::ofstream(part) << "half";
  const Outcome finished = run_for_errors(encoder("model", "--resume --vocab-size 60 --steps 1"));
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living));
  EXPECT_EQ(finished.code, 0);
  EXPECT_TRUE(contains(finished.output, "already finished")) << finished.output;
  EXPECT_EQ(now(), before);

  std::filesystem::remove(folder_ / "model/checkpoint.safetensors");
  const std::string stopped =
      encoder("model", "--overwrite --vocab-size 50 --steps 100000 --checkpoint-every 0 >/dev/null 2>") +
      file("errors") + " & run=$!; while [ ! -e " + file("model/checkpoint.safetensors") +
      " ] && kill -0 $run; do sleep 0.02; done; kill $run; wait $run";
  EXPECT_EQ(run_attend(stopped).code, 143);
  EXPECT_TRUE(contains(contents(folder_ / "errors"), " of 100,000; to continue, repeat the command with --resume"))
      << contents(folder_ / "errors");
  EXPECT_EQ(now(), before);
  EXPECT_EQ(run_attend("fill-mask --model " + file("model") + " 'The [MASK] was bad.' >/dev/null").code, 0);
}

TEST_F(Train, SigtermAndAClosedTerminalWriteACheckpointAndASecondRunIsRefused) {
  ASSERT_EQ(run_attend(classifier("other", "2>/dev/null")).code, 0);
  const std::string endless = "--steps 100000000 --checkpoint-every 1e9 --validate-every 1 --threads 1 --validation ";
  for (const auto& [signal, code] : {std::pair("HUP", "129"), std::pair("TERM", "143")}) {
    const std::string output = std::string("run") + signal;
    // While it runs, others cannot write to its folder.
    const std::string other = std::string(ATTEND_PROGRAM) + " ";
    const Outcome run =
        run_attend(classifier(output, endless + file("films.tsv") + " >/dev/null 2>&1 & run=$!; while [ ! -e ") +
                   file(output + "/model.safetensors") + " ] && kill -0 $run; do sleep 0.05; done; echo run $run; " +
                   other + classifier(output, "--overwrite 2>&1; echo code $?; ") + other +
                   "convert --int8 --overwrite --model " + file("other") + " --output " + file(output) +
                   " 2>&1; echo code $?; kill -" + signal + " $run; wait $run; echo ended $?");
    const std::string process = run.output.substr(4, run.output.find('\n') - 4);
    const std::string refused = "another process (" + process +
                                ") is writing to this folder; wait for it, or choose "
                                "another folder\ncode 2\n";
    EXPECT_EQ(run.output.find(refused) == run.output.rfind(refused), false) << "both are refused: " << run.output;
    EXPECT_TRUE(contains(run.output, std::string("ended ") + code)) << run.output;
    EXPECT_TRUE(std::filesystem::exists(folder_ / (output + "/checkpoint.safetensors"))) << run.output;
  }
}

TEST_F(Train, ATokenizerIsNotTrainedIntoTheFolderOfAModel) {
  ASSERT_EQ(run_attend(classifier("model", "2>/dev/null")).code, 0);
  const Outcome refused =
      run_for_errors("train tokenizer --input " + file("films.tsv") + " --vocab-size 300 --output " + file("model"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.output, "holds a model, which has its own tokenizer")) << refused.output;
  EXPECT_EQ(run_attend("classify --model " + file("model") + " film 2>/dev/null").code, 0);
}

TEST_F(Train, FlagsOfAnotherArchitectureAreNamed) {
  const Outcome recurrent = run_for_errors(translation("one", "--heads 2"));
  EXPECT_EQ(recurrent.code, 2);
  EXPECT_TRUE(contains(recurrent.output, "--heads: needs --arch marian")) << recurrent.output;
  const Outcome other = run_for_errors(transformer("two", "--reverse-source"));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.output, "--reverse-source: needs --arch rnn")) << other.output;
}

TEST_F(Train, BadInputIsNamed) {
  struct Case {
    std::string arguments, message;
  };
  std::ofstream(folder_ / "empty.tsv").flush();
  std::ofstream(folder_ / "plain.tsv") << "no label here\n";
  std::ofstream(folder_ / "other.tsv") << "a film\tnovel\n";
  for (const auto& [arguments, message] :
       {Case{"train translation --output " + file("x"), "--train: is missing: give --train FILE"},
        {"train translation --train " + file("missing.tsv") + " --output " + file("x"), "missing.tsv"},
        {"train translation --train-source " + file("pairs.tsv") + " --output " + file("x"), "--train-target"},
        {"train classifier --train " + file("empty.tsv") + " --output " + file("x"), "holds no labelled text"},
        {"train classifier --train " + file("plain.tsv") + " --output " + file("x"),
         "plain.tsv, line 1: has only one column (no tab), expected text TAB label"},
        {"train translation --train " + file("plain.tsv") + " --output " + file("x"),
         "plain.tsv, line 1: has only one column (no tab), expected source TAB target"},
        {"train translation --train " + file("empty.tsv") + " --output " + file("x"), "empty.tsv: holds no pairs"},
        {classifier("x", "--validation " + file("other.tsv")), "\"novel\""},
        {translation("x", "--metric blue"), "--metric"},
        {classifier("x", "--metric f1"), "needs --validation"},
        {classifier("x", "--average-best 3"), "needs --validation"},
        {classifier("x", "--patience 3"), "needs --validation"},
        {classifier("x", "--validate-every 3"), "needs --validation"},
        {classifier("x", "--tokenizer x --cased"), "--tokenizer and --cased cannot be given together"},
        {classifier("films.tsv/x"), "films.tsv/x: cannot create this folder"},
        {"train classifier --train - --output " + file("x"), "reads its data more than once"},
        {encoder("x", "--heads 3"), "3 heads do not divide the width, which is 16"},
        {encoder("x", "--mask-probability 0"), "--mask-probability"},
        {encoder("x", "--metric next_accuracy --no-next-sentence --validation " + file("few.tsv")), "--next-sentence"},
        {finetune("missing", "x"), "missing: there is no such folder"},
        {finetune(".", "."), "is both --from and --output"},
        {"translate --model " + file("missing"), "missing"},
        {"classify --model " + folder_.path().string(), "config.json"}}) {
    const Outcome outcome = run_for_errors(arguments);
    EXPECT_GT(outcome.code, 0) << arguments;
    EXPECT_TRUE(contains(outcome.output, message)) << arguments << "\n" << outcome.output;
  }
}

}  // namespace
}  // namespace attend
