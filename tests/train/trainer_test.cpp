// The trainer is tested with linear regression. The model has dropout, so a resumed run must also restore the random
// generator.
#include "attend/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <new>

#include "attend/core/error.h"
#include "attend/nn/linear.h"
#include "attend/nn/module.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

using test::TempFolder;

constexpr std::int64_t kPoints = 40;

class Line : public TrainingTask {
 public:
  explicit Line(std::int64_t batch = 8, float dropped = 0.1f)
      : sampler_(std::vector<std::int32_t>(kPoints, 1), {.max_tokens = batch, .seed = 3}), dropped_(dropped) {
    Generator generator(1);
    model_ = Linear(4, 1, true, generator);
    train_parameters(model_);
    fill_normal(x_, 0, 1, generator);
    for (std::int64_t i = 0; i < kPoints; ++i) y_.data()[i] = 2 * x_.data()[i * 4] - x_.data()[i * 4 + 1] + 0.5f;
  }

  std::vector<NamedTensor> parameters() override { return attend::parameters(model_); }
  Loss next() override {
    const std::vector<std::int64_t> chosen = sampler_.next();
    if (batches_ + 1 == throw_at) throw std::bad_alloc();
    const auto n = static_cast<std::int64_t>(chosen.size());
    Tensor x = Tensor::empty({n, 4}), y = Tensor::empty({n, 1});
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = chosen[static_cast<std::size_t>(i)];
      std::copy_n(x_.data() + from * 4, 4, x.data() + i * 4);
      y.data()[i] = y_.data()[from];
    }
    if (++batches_ == explode_at) y.fill(std::numeric_limits<float>::infinity());
    const Tensor loss = sum(square(model_(dropout(x, dropped_)) - y));
    losses.push_back(loss.item());
    return {loss, n, n};
  }
  BatchPosition position() const override { return sampler_.position(); }
  void restore(const BatchPosition& position) override { sampler_.restore(position); }
  std::int64_t batches_per_epoch() const override { return sampler_.batches(); }
  Scores evaluate() override {
    if (!evaluated) return {};
    if (!scores.empty()) {
      const auto [loss, accuracy] = scores.front();
      scores.erase(scores.begin());
      return {{"loss", loss}, {"accuracy", accuracy}};
    }
    return {{"loss", mean(square(model_(x_) - y_.reshape({kPoints, 1}))).item()}};
  }
  void save(const std::filesystem::path& folder) override {
    save_parameters(model_, folder / "model.safetensors");
    ++saves;
  }

  std::vector<float> losses;
  std::vector<std::pair<double, double>> scores;  ///< loss and accuracy that the next evaluations return
  bool evaluated = true;                          ///< whether there are validation data
  int saves = 0;
  int explode_at = -1, throw_at = -1;

 private:
  Linear model_;
  Tensor x_ = Tensor::empty({kPoints, 4}), y_ = Tensor::empty({kPoints});
  BatchSampler sampler_;
  float dropped_;
  int batches_ = 0;
};

TrainerOptions options_in(const TempFolder& folder) {
  TrainerOptions options;
  options.epochs = 30, options.learning_rate = 0.05, options.log_every = 7, options.output = folder.path();
  return options;
}

TEST(Trainer, LearnsAndSavesTheBestModel) {
  const TempFolder folder;
  Line line;
  const TrainingResult result = train(line, options_in(folder));
  EXPECT_EQ(result.state.step, 150);
  EXPECT_LT(result.state.best.front().second, 0.1);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.safetensors"));
  EXPECT_EQ(curve_as_csv(result.state.curve).substr(0, 40), "step,epoch,loss,learning_rate,gradient_n");
}

struct Stop {};

TEST(Trainer, WarmUpIsAtMostHalfOfTheRun) {
  const TempFolder folder;
  Line line;
  TrainerOptions options = options_in(folder);
  options.epochs = 4, options.warmup = 1000, options.log_every = 1;
  double highest = 0;
  for (const CurvePoint& point : train(line, options).state.curve) highest = std::max(highest, point.learning_rate);
  EXPECT_DOUBLE_EQ(highest, options.learning_rate);
}

TEST(Trainer, AnOldModelStaysInTheFolderUntilANewOneIsSaved) {
  const TempFolder folder;
  std::ofstream(folder / "model.safetensors") << "old";
  TrainerOptions options = options_in(folder);
  options.epochs = 2, options.resume = true;
  std::vector<std::int64_t> saved;
  const auto run = [&](std::int64_t stop_at) {
    Line line;
    line.evaluated = false;
    const auto stop = [&](const TrainingState& state) {
      if (state.step == stop_at) throw Stop();
    };
    train(line, options, {.stepped = stop, .saved = [&](const TrainingState& state) { saved.push_back(state.step); }});
  };
  EXPECT_THROW(run(7), Stop);
  EXPECT_EQ(test::contents(folder / "model.safetensors"), "old");
  run(-1);
  EXPECT_NE(test::contents(folder / "model.safetensors"), "old");
  run(-1);  // all steps are done
  options.epochs = 1;
  run(-1);
  EXPECT_EQ(saved, std::vector<std::int64_t>{10});
}

TEST(Trainer, AStoppedRunResumesToTheSameLosses) {
  const TempFolder whole_folder, parts_folder;
  Line whole;
  TrainerOptions whole_options = options_in(whole_folder);
  whole_options.average = 0.9, whole_options.average_best = 3;
  const TrainingResult unbroken = train(whole, whole_options);

  std::vector<float> losses;
  TrainingResult resumed{{}, TrainingEnd::finished};
  TrainerOptions options = options_in(parts_folder);
  options.average = 0.9, options.average_best = 3;
  options.resume = true;
  for (const std::int64_t stop_at : {13, 14, 77, 1000}) {
    Line part;
    try {
      resumed = train(part, options,
                      {.stepped =
                           [&](const TrainingState& state) {
                             if (state.step == stop_at) throw Stop();
                           },
                       .evaluated = {}});
    } catch (const Stop&) {
    }
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
  }
  EXPECT_EQ(losses, whole.losses);
  EXPECT_EQ(resumed.state.mean.models, 3);
  EXPECT_EQ(resumed.state.mean.scores, unbroken.state.mean.scores);
  EXPECT_EQ(test::contents(parts_folder / "model.safetensors"), test::contents(whole_folder / "model.safetensors"));
  ASSERT_EQ(resumed.state.curve.size(), unbroken.state.curve.size());
  for (std::size_t i = 0; i < resumed.state.curve.size(); ++i) {
    EXPECT_EQ(resumed.state.curve[i].loss, unbroken.state.curve[i].loss);
    EXPECT_EQ(resumed.state.curve[i].scores, unbroken.state.curve[i].scores);
  }
}

TEST(Trainer, ARunKilledAfterACheckpointRepeatsTheStepsAfterIt) {
  const TempFolder whole_folder, killed_folder;
  Line whole;
  train(whole, options_in(whole_folder));
  TrainerOptions options = options_in(killed_folder);
  options.resume = true, options.checkpoint_seconds = 0;  // after every step
  {
    Line killed;
    std::filesystem::path kept = killed_folder / "kept";
    try {
      train(killed, options,
            {.stepped =
                 [&](const TrainingState& state) {
                   if (state.step == 20) std::filesystem::copy(killed_folder / "checkpoint.safetensors", kept);
                   if (state.step == 25) throw Stop();
                 },
             .evaluated = {}});
    } catch (const Stop&) {
    }
    std::filesystem::rename(kept, killed_folder / "checkpoint.safetensors");  // as if the run was killed at step 25
  }
  Line again;
  train(again, options);
  const std::vector<float> rest(whole.losses.begin() + 20, whole.losses.end());
  EXPECT_EQ(again.losses, rest);
}

TEST(Trainer, StopsEarlyWhenItRunsOutOfPatience) {
  const TempFolder folder;
  Line line;
  line.scores = {{1, 0.5}, {1, 0.7}, {1, 0.6}, {2, 0.65}, {0, 0.9}};
  TrainerOptions options = options_in(folder);
  options.patience = 2, options.metric = "accuracy";
  const TrainingResult result = train(line, options);
  EXPECT_EQ(result.end, TrainingEnd::stopped_early);
  EXPECT_EQ(result.state.best.back().second, 0.7);
  EXPECT_EQ(result.state.best_step, 10);
  EXPECT_EQ(line.saves, 2);
}

TEST(Trainer, ARunThatStoppedEarlyDoesNothingWhenItIsResumed) {
  const TempFolder folder;
  TrainerOptions options = options_in(folder);
  options.patience = 1, options.metric = "accuracy", options.resume = true;
  for (int times = 0; times < 2; ++times) {
    Line line;
    line.scores = {{1, 0.5}, {1, 0.4}, {0, 0.9}};
    const TrainingResult result = train(line, options);
    EXPECT_EQ(result.end, TrainingEnd::stopped_early);
    EXPECT_EQ(result.state.step, 10);
  }
}

TEST(Trainer, AScoreThatIsNaNIsNeverTheBest) {
  const TempFolder folder;
  Line line;
  line.scores = {{1, 0.5}, {std::nan(""), std::nan("")}, {2, 0.4}};
  TrainerOptions options = options_in(folder);
  options.epochs = 3;
  EXPECT_EQ(train(line, options).state.best_step, 5);
}

TEST(Trainer, AnUnknownMetricIsAnErrorAtTheFirstEvaluation) {
  const TempFolder folder;
  Line line;
  TrainerOptions options = options_in(folder);
  options.metric = "blue";
  EXPECT_THROW(train(line, options), InputError);
}

TEST(Trainer, TheFirstScoreBreaksTiesAndAnyImprovementResetsPatience) {
  const TempFolder folder;
  Line line;
  line.scores = {{3, 0}, {2, 0}, {1, 0}, {1.5, 0}, {4, 0}, {0, 1}};
  TrainerOptions options = options_in(folder);
  options.patience = 2, options.metric = "accuracy";
  const TrainingResult result = train(line, options);
  EXPECT_EQ(result.state.best_step, 15);
  EXPECT_EQ(result.state.step, 25);
}

TEST(Trainer, AccumulatedBatchesEqualOneLargeBatch) {
  const TempFolder folder;
  Line parts(8, 0.f), whole(kPoints, 0.f);
  TrainerOptions options = options_in(folder);
  options.epochs = 3;
  EXPECT_EQ(train(whole, options).state.step, 3);
  options.accumulate = 5;
  EXPECT_EQ(train(parts, options).state.step, 3);
  EXPECT_EQ(parts.losses.size(), 15u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor one = whole.parameters()[i].tensor, other = parts.parameters()[i].tensor;
    for (std::int64_t j = 0; j < one.numel(); ++j) EXPECT_NEAR(one.data()[j], other.data()[j], 1e-6f);
  }
}

TEST(Trainer, TheMeanOfTheBestModelsIsSavedIfItIsBetter) {
  for (const bool kept : {true, false}) {
    const TempFolder folder;
    Line line;
    TrainerOptions options = options_in(folder);
    options.epochs = 4, options.average_best = 2, options.metric = "accuracy";
    line.scores = {{1, 0.5}, {1, 0.9}, {1, std::nan("")}, {1, 0.8}, {1, kept ? 0.95 : 0.85}};
    std::vector<std::vector<float>> evaluated;
    const TrainingResult result = train(line, options, {.stepped = {}, .evaluated = [&](const TrainingState&) {
                                                          const auto weight = line.parameters()[0].tensor.span();
                                                          evaluated.emplace_back(weight.begin(), weight.end());
                                                        }});
    EXPECT_EQ(result.state.mean.models, 2);
    EXPECT_EQ(result.state.mean.kept, kept);
    EXPECT_EQ(score_named(result.state.best, "accuracy"), kept ? 0.95 : 0.9);
    EXPECT_EQ(result.state.best_step, 10);
    EXPECT_FALSE(std::filesystem::exists(folder / "best-models"));
    const Tensor saved = SafetensorsFile(folder / "model.safetensors").get("weight");
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_FLOAT_EQ(saved.data()[i], kept ? (evaluated[1][i] + evaluated[3][i]) / 2 : evaluated[1][i]);
    const auto now = line.parameters()[0].tensor.span();
    EXPECT_TRUE(std::ranges::equal(now, evaluated[3])) << "the mean is swapped in for the evaluation only";
  }
}

TEST(Trainer, ARunKilledDuringTheMeanOfTheBestEvaluatesItAgain) {
  const TempFolder folder;
  TrainerOptions options = options_in(folder);
  options.epochs = 4, options.average_best = 3, options.resume = true, options.checkpoint_seconds = 0;
  Line whole;
  const auto at_the_end = [&](const TrainingState& state) {  // copies the last checkpoint before the mean and its files
    if (state.step == state.total_steps) {
      std::filesystem::create_directories(folder / "kept");
      std::filesystem::copy(folder / "best-models", folder / "kept/best-models");
      std::filesystem::copy(folder / "checkpoint.safetensors", folder / "kept/checkpoint.safetensors");
    }
  };
  const TrainingResult unbroken = train(whole, options, {.stepped = at_the_end, .evaluated = {}});
  const std::string model = test::contents(folder / "model.safetensors");
  EXPECT_EQ(unbroken.state.mean.models, 3);

  std::ofstream(folder / "model.safetensors") << "lost";
  std::filesystem::copy(folder / "kept", folder.path(),
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  Line again;
  const TrainingResult resumed = train(again, options);
  EXPECT_TRUE(again.losses.empty());
  EXPECT_EQ(resumed.state.mean.scores, unbroken.state.mean.scores);
  if (unbroken.state.mean.kept) {
    EXPECT_EQ(test::contents(folder / "model.safetensors"), model);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "best-models"));

  Line finished;  // a finished run does nothing when it is resumed
  EXPECT_EQ(train(finished, options).state.best, resumed.state.best);

  std::filesystem::copy(folder / "kept/checkpoint.safetensors", folder / "checkpoint.safetensors",
                        std::filesystem::copy_options::overwrite_existing);
  Line incomplete;  // its best-models are missing
  EXPECT_THROW(train(incomplete, options), InputError);
  options.average_best = 2;
  EXPECT_THROW(train(incomplete, options), InputError);
}

TEST(Trainer, AnUpdateWithoutFiniteGradientsIsSkippedAndCounted) {
  const TempFolder folder;
  Line line;
  line.explode_at = 4;
  const TrainingResult result = train(line, options_in(folder));
  EXPECT_EQ(result.state.skipped, 1);
  EXPECT_TRUE(std::isfinite(result.state.best.front().second));
}

TEST(Trainer, ACheckpointOfAnotherRunIsAnError) {
  const TempFolder folder;
  TrainerOptions options = options_in(folder);
  options.fingerprint = "one";
  Line line;
  train(line, options);
  options.fingerprint = "other", options.resume = true;
  EXPECT_THROW(train(line, options), InputError);
  std::ofstream(folder / "checkpoint.safetensors") << "garbage";
  EXPECT_THROW(train(line, options), InputError);
}

TEST(Trainer, ANewRunMakesTheOldCheckpointUnusableAtOnceAndKeepsTheOldModel) {
  const TempFolder folder;
  TrainerOptions options = options_in(folder);
  options.epochs = 2, options.checkpoint_seconds = 1e9;
  Line old;
  train(old, options);
  const std::string model = test::contents(folder / "model.safetensors");
  options.overwrite = true;
  bool looked = false;
  Line line;
  line.evaluated = false;
  train(line, options, {.stepped = [&](const TrainingState& state) {
          if (state.step > 1) return;
          looked = true;
          EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.safetensors")) << "--resume would continue it";
          EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint.replaced.safetensors"));
          EXPECT_EQ(test::contents(folder / "model.safetensors"), model);
        }});
  EXPECT_TRUE(looked);
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.replaced.safetensors"));
}

TEST(Trainer, AnUpdateThatRunsOutOfMemoryIsRepeatedWhenTheRunIsResumed) {
  const TempFolder folder, other;
  TrainerOptions options = options_in(folder);
  options.epochs = 2, options.checkpoint_seconds = 0, options.resume = true;
  Line broken, resumed, whole;
  broken.throw_at = 4;
  EXPECT_THROW(train(broken, options), std::bad_alloc);
  train(resumed, options);
  options.output = other.path();
  train(whole, options);
  std::vector<float> losses = broken.losses;
  losses.insert(losses.end(), resumed.losses.begin(), resumed.losses.end());
  EXPECT_EQ(losses, whole.losses);
}

TEST(Trainer, ASecondRunInTheSameFolderIsRefused) {
  const TempFolder folder;
  TrainerOptions options = options_in(folder);
  options.overwrite = true;
  std::string message;
  Line line, second;
  train(line, options,
        {.stepped = [&](const TrainingState&) { message = test::error_of([&] { train(second, options); }); }});
  EXPECT_NE(message.find("is writing to this folder"), std::string::npos) << message;
  EXPECT_TRUE(second.losses.empty());
}

TEST(Trainer, AFailedRunKeepsOnlyTheBestModelsThatItsCheckpointNeeds) {
  for (const bool checkpoints : {false, true}) {
    const TempFolder folder;
    TrainerOptions options = options_in(folder);
    options.epochs = 4, options.average_best = 2, options.checkpoint_seconds = checkpoints ? 0 : 1e9;
    Line line;
    line.scores = {{1, 0.5}, {0.9, 0.5}, {0.8, 0.5}};
    int evaluations = 0;
    const auto run = [&] {
      train(line, options, {.stepped = {}, .evaluated = [&](const TrainingState&) {
                              if (++evaluations == 3) fail("test", "the disk is full");
                            }});
    };
    EXPECT_THROW(run(), Error);
    EXPECT_EQ(std::filesystem::exists(folder / "best-models"), checkpoints);
    if (!checkpoints) continue;
    std::ofstream(folder / "best-models/7.safetensors.part-1-1") << "of a run that was killed";
    options.resume = true;
    Line again;
    train(again, options);
    EXPECT_FALSE(std::filesystem::exists(folder / "best-models"));
  }
}

}  // namespace
}  // namespace attend
