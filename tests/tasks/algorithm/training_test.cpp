// Training on generated sequences: resuming, what is learned, errors, and the use of a trained network.
#include "attend/tasks/algorithm/training.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attend/tasks/algorithm/algorithm_model.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class AlgorithmTraining : public testing::Test {
 protected:
  /// A network that learns to copy 1 or 2 vectors of 2 bits in seconds.
  AlgorithmTrainingOptions options(const std::string& name, std::int64_t steps) const {
    AlgorithmTrainingOptions o;
    o.bits = 2, o.max_length = 2, o.hidden = 20, o.slots = 8, o.width = 6, o.batch = 8, o.validation = 20;
    o.trainer.output = folder_.path() / name, o.trainer.steps = steps, o.trainer.evaluate_every = 20;
    o.trainer.learning_rate = 5e-3, o.trainer.metric = "loss", o.curriculum = 0;
    return o;
  }
  std::string bytes(const std::string& name, const char* file = "model.safetensors") const {
    std::ifstream in(folder_.path() / name / file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }

  test::TempFolder folder_;
};

TEST_F(AlgorithmTraining, AnInterruptedRunResumesToTheSameBits) {
  for (const MachineMemory memory : {MachineMemory::ntm, MachineMemory::dnc, MachineMemory::none}) {
    const std::string name = name_of(memory, kMachineMemoryNames);
    AlgorithmTrainingOptions whole = options(name + "-whole", 60), parts = options(name + "-parts", 60);
    whole.memory = parts.memory = memory;
    whole.curriculum = parts.curriculum = 100;
    train_algorithm(whole);
    struct Stop {};
    TrainingObserver observer;
    observer.stepped = [](const TrainingState& state) {
      if (state.step == 33) throw Stop();
    };
    EXPECT_THROW(train_algorithm(parts, observer), Stop);
    parts.trainer.resume = true;
    train_algorithm(parts);
    EXPECT_EQ(bytes(name + "-whole"), bytes(name + "-parts")) << name;
  }
}

TEST_F(AlgorithmTraining, ANetworkThatStillGuessesStartsAgainAlsoInAResumedRun) {
  const auto guessing = [&](const std::string& name) {
    AlgorithmTrainingOptions o = options(name, 60);
    o.restart = 160, o.trainer.learning_rate = 1e-6;  // of 8 sequences a step: at steps 20 and 40
    return o;
  };
  int restarts = 0;
  TrainingObserver observer;
  observer.message = [&](const std::string& line) { restarts += line.find("still guesses") != std::string::npos; };
  AlgorithmTrainingOptions never = guessing("never"), parts = guessing("parts");
  train_algorithm(guessing("whole"), observer);
  EXPECT_EQ(restarts, 2);
  never.restart = 0;
  train_algorithm(never, observer);
  EXPECT_EQ(restarts, 2);
  for (const std::int64_t stop : {20, 33}) {
    struct Stop {};
    TrainingObserver stopping;
    stopping.stepped = [stop](const TrainingState& state) {
      if (state.step == stop) throw Stop();
    };
    EXPECT_THROW(train_algorithm(parts, stopping), Stop);
    parts.trainer.resume = true;
  }
  train_algorithm(parts);
  EXPECT_EQ(bytes("whole"), bytes("parts"));
}

TEST_F(AlgorithmTraining, OnlyTheSameRunIsResumed) {
  train_algorithm(options("run", 20));
  AlgorithmTrainingOptions other = options("run", 40);
  other.trainer.resume = true, other.batch = 4;
  EXPECT_ERROR(train_algorithm(other), "other data or options");
  other.batch = 8, other.max_length = 3;
  EXPECT_ERROR(train_algorithm(other), "other data or options");
}

TEST_F(AlgorithmTraining, ASmallMachineLearnsToCopyAndItsFolderRuns) {
  const TrainingResult result = train_algorithm(options("copier", 1000));
  EXPECT_GT(score_named(result.state.best, "accuracy"), 0.97);
  const AlgorithmModel model(folder_.path() / "copier");
  EXPECT_EQ(model.algorithm().max_length, 2);
  const AlgorithmRun run = model(parse_sequence(model.algorithm(), "01 10"));
  EXPECT_EQ(run.targets, 4);
  ASSERT_EQ(run.heads.size(), 2U);
  EXPECT_EQ(run.heads[0].name, "write 1");
  EXPECT_EQ(run.heads[1].name, "read 1");
  EXPECT_EQ(run.heads[0].steps, 5);
  EXPECT_EQ(run.heads[0].slots, 8);
  const AlgorithmScores scores = model.evaluate(model.algorithm(), 50, 99);
  EXPECT_LT(scores.error_rate(), 0.03);
  EXPECT_EQ(scores.sequences, 50);
  // More slots: the parameters are the same.
  EXPECT_EQ(AlgorithmModel(folder_.path() / "copier", 16)(run.sequence).heads[0].slots, 16);
}

TEST_F(AlgorithmTraining, EveryTaskAndNetworkTakesSteps) {
  for (const auto& [name, task] : kAlgorithmTaskNames)
    for (const MachineMemory memory : {MachineMemory::ntm, MachineMemory::dnc, MachineMemory::none}) {
      AlgorithmTrainingOptions o = options(name + name_of(memory, kMachineMemoryNames), 2);
      o.task = task, o.memory = memory, o.bits = 0, o.max_length = 0, o.validation = 4;
      const TrainingResult result = train_algorithm(o);
      EXPECT_EQ(result.state.step, 2) << name;
      EXPECT_TRUE(std::isfinite(score_named(result.state.best, "loss"))) << name;
    }
}

TEST_F(AlgorithmTraining, WithoutFlagsATaskHasItsDefaults) {
  for (const auto& [name, task] : kAlgorithmTaskNames) {
    const AlgorithmDefaults& d = defaults_of(task);
    AlgorithmTrainingOptions o{.task = task};
    const TuringMachineOptions m = o.machine();
    EXPECT_EQ(m.controller, d.controller) << name;
    EXPECT_EQ(m.hidden, d.hidden) << name;
    EXPECT_EQ(m.slots, d.slots) << name;
    EXPECT_EQ(m.read_heads, d.read_heads) << name;
    EXPECT_EQ(m.write_heads, d.write_heads) << name;
    EXPECT_EQ(m.width, d.width) << name;
    EXPECT_EQ(m.address, d.address) << name;
    EXPECT_EQ(m.shifts, d.shifts) << name;
    EXPECT_EQ(m.biases.write_gate, d.biases.write_gate) << name;
    EXPECT_EQ(m.forget_bias, d.forget_bias) << name;
    EXPECT_EQ(o.steps() * d.batch, d.sequences) << name;
    EXPECT_EQ(o.curriculum_sequences(), d.curriculum) << name;
    EXPECT_EQ(o.restart_sequences(), d.restart) << name;
    o.batch = d.batch / 2;
    EXPECT_EQ(o.steps() * o.batch, d.sequences) << name << ": the number of sequences stays";
    o.memory = MachineMemory::dnc;
    EXPECT_EQ(o.machine().write_heads, 1) << name;
    EXPECT_EQ(o.machine().address, 0) << name;
    EXPECT_LE(o.machine().slots, 64) << name;
  }
}

TEST_F(AlgorithmTraining, TheLearningRateIsThatOfTheTaskAndTheNetwork) {
  const auto first_rate = [&](const std::string& name, MachineMemory memory) {
    AlgorithmTrainingOptions o = options(name, 1);
    o.memory = memory, o.trainer.learning_rate = 0;
    return train_algorithm(o).state.curve.at(0).learning_rate;
  };
  EXPECT_DOUBLE_EQ(first_rate("ntm", MachineMemory::ntm), defaults_of(AlgorithmTask::copy).learning_rate);
  EXPECT_DOUBLE_EQ(first_rate("dnc", MachineMemory::dnc), 1e-3);
  EXPECT_DOUBLE_EQ(first_rate("lstm", MachineMemory::none), 1e-3);
}

TEST_F(AlgorithmTraining, BadOptionsAreInputErrors) {
  AlgorithmTrainingOptions o = options("bad", 1);
  o.max_repeats = 3;
  EXPECT_ERROR(train_algorithm(o), "only repeat-copy has repeats");
  o = options("bad", 1);
  o.write_heads = 2, o.memory = MachineMemory::dnc;
  EXPECT_ERROR(train_algorithm(o), "number of write heads is out of range: got 2, expected 1 to 1");
  o = options("bad", 1);
  o.layers = 2;
  EXPECT_ERROR(train_algorithm(o), "--layers needs --arch lstm");
  o = options("bad", 1);
  o.batch = -1;
  EXPECT_THROW(train_algorithm(o), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "bad" / "config.json"));
}

TEST_F(AlgorithmTraining, AFolderWithAnotherTaskThanItsSizesIsRefused) {
  train_algorithm(options("run", 1));
  Config config(folder_.path() / "run" / "config.json");
  AlgorithmOptions other;
  config.set("task", other.config());
  config.save(folder_.path() / "run" / "config.json");
  EXPECT_ERROR(AlgorithmModel(folder_.path() / "run"), "the sizes of the network do not fit its task");
  EXPECT_ERROR(AlgorithmModel(std::filesystem::path(ATTEND_SOURCE_DIR "/tests/tasks/fixtures/bert_labels")),
               "expected a Turing machine (attend-turing-machine)");
}

}  // namespace
}  // namespace attend
