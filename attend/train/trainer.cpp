#include "attend/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/machine.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recompute.h"
#include "attend/ops/tape.h"
#include "attend/train/average.h"
#include "attend/train/best_models.h"
#include "attend/train/clip.h"
#include "attend/train/memory.h"

namespace attend {

// The JSON of these types is part of a checkpoint. The keys are the names of the members.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchPosition, seed, epoch, batch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CurvePoint, step, epoch, loss, learning_rate, gradient_norm, tokens, seconds, scores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeanOfBest, models, scores, kept)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrainingState, step, total_steps, epoch, tokens, seconds, loss, curve, best,
                                   best_step, evaluations_without_gain, skipped, saved_step, mean)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BestModels::Entry, step, scores)

namespace {

constexpr int kMostSkipped = 20;  // the run fails after this many updates in a row without finite gradients

class Run {
 public:
  Run(TrainingTask& task, const TrainerOptions& options, const TrainingObserver& observer)
      : task_(task),
        options_(options),
        observer_(observer),
        parameters_(task.parameters()),
        optimizer_(parameters_, {.learning_rate = options.learning_rate,
                                 .beta2 = options.beta2,
                                 .eps = options.epsilon,
                                 .weight_decay = options.weight_decay,
                                 .decays = only_matrices}),
        best_models_(options.output / "best-models", options.average_best, options.metric) {
    const std::int64_t updates = (task.batches_per_epoch() + options.accumulate - 1) / options.accumulate;
    per_epoch_ = std::max<std::int64_t>(updates, 1);
    state_.total_steps = options.steps > 0 ? options.steps : options.epochs * per_epoch_;
    if (options.average > 0) average_.emplace(parameters_, options.average);
    schedule_ = {.kind = options.schedule,
                 .warmup = std::min(options.warmup, state_.total_steps / 2),
                 .total = state_.total_steps,
                 .floor = options.floor};
  }

  TrainingResult go() {
    if (!options_.resume || !restore()) default_generator().restore(options_.seed, 0);
    options_.folder->start();
    TrainingEnd end = out_of_patience() ? TrainingEnd::stopped_early : TrainingEnd::finished;
    try {
      while (state_.step < state_.total_steps && end == TrainingEnd::finished) {
        update();
        if (state_.step % options_.log_every == 0) log();
        const bool last = state_.step == state_.total_steps;
        if ((evaluation_due() || last) && !evaluate()) end = TrainingEnd::stopped_early;
        if (last && state_.best.empty()) save_averaged();
        if (checkpoint_due() || last || end != TrainingEnd::finished) checkpoint();
        if (end == TrainingEnd::finished && observer_.stepped) observer_.stepped(state_);
      }
    } catch (const Error&) {
      best_models_.tidy_to_checkpoint();
      throw;  // resuming would fail again: no checkpoint is needed
    } catch (...) {
      if (complete_) checkpoint();  // the observer stops the run
      throw;
    }
    try_mean();
    // Both are needed if the run was killed between its last checkpoint and this line.
    best_models_.tidy();
    save_curve();
    // A resumed run that has already done all of its steps may not have saved a model.
    if (state_.best.empty() && state_.saved_step != state_.step) save_averaged();
    return {state_, end};
  }

 private:
  using Clock = std::chrono::steady_clock;

  void update() {
    const auto begin = Clock::now();
    complete_ = false;
    double sum = 0;
    std::int64_t targets = 0, tokens = 0;
    {
      const Training training;
      const Recompute recompute(options_.recompute);
      for (std::int64_t i = 0; i < options_.accumulate; ++i) {
        const TrainingTask::Loss loss = task_.next();
        backward(loss.sum);
        sum += loss.sum.item(), targets += loss.targets, tokens += loss.tokens;
      }
    }
    const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(targets, 1));
    norm_ = grad_norm(optimizer_.parameters()) * share;
    if (std::isfinite(norm_)) {
      const float clipped = options_.clip > 0 ? clip_scale(norm_, options_.clip) : 1.f;
      optimizer_.step({.rate_factor = schedule_(state_.step), .gradient_scale = static_cast<float>(share) * clipped});
      skipped_in_a_row_ = 0;
    } else if (++state_.skipped, ++skipped_in_a_row_ == kMostSkipped) {
      fail("train", "the gradients of ", kMostSkipped, " updates in a row were not finite, at step ", state_.step,
           "; try a smaller learning rate than ", options_.learning_rate);
    }
    optimizer_.zero_grad();
    ++state_.step;
    if (average_) average_->update(state_.step);
    state_.epoch = task_.position().epoch;
    state_.tokens += tokens;
    state_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    interval_.sum += sum, interval_.targets += targets;
    const double loss = sum * share;
    state_.loss = state_.step == 1 ? loss : 0.95 * state_.loss + 0.05 * loss;
    complete_ = true;
  }

  void log() {
    state_.curve.push_back({.step = state_.step,
                            .epoch = state_.epoch,
                            .loss = interval_.sum / static_cast<double>(std::max<std::int64_t>(interval_.targets, 1)),
                            .learning_rate = options_.learning_rate * schedule_(state_.step - 1),
                            .gradient_norm = norm_,
                            .tokens = state_.tokens,
                            .seconds = state_.seconds});
    interval_ = {};
  }

  bool evaluation_due() const {
    return state_.step % (options_.evaluate_every > 0 ? options_.evaluate_every : per_epoch_) == 0;
  }

  /// Returns false if the run should stop.
  bool evaluate() {
    complete_ = false;
    if (state_.curve.empty() || state_.curve.back().step != state_.step) log();
    const ScopedParameters averaged = use_average();
    const Scores scores = scores_of_now();
    complete_ = scores.empty();
    if (scores.empty()) return true;
    if (!options_.metric.empty()) score_named(scores, options_.metric);  // throws if there is none
    state_.evaluations_without_gain = any_gain(scores) ? 0 : state_.evaluations_without_gain + 1;
    state_.curve.back().scores = scores;
    if (state_.best.empty() || better(scores, state_.best, options_.metric)) {
      state_.best = scores, state_.best_step = state_.step, state_.mean.kept = false;
      save();
    }
    best_models_.offer(state_.step, scores, distinct(parameters_));
    complete_ = true;
    if (observer_.evaluated) observer_.evaluated(state_);
    return !out_of_patience();
  }

  Scores scores_of_now() {
    const NoGrad no_grad;
    return task_.evaluate();
  }

  /// Evaluates the mean of the best models and saves it if it is better than each of them. If the run is killed before
  /// the checkpoint below, a resumed run does this again.
  void try_mean() {
    const auto models = static_cast<std::int64_t>(best_models_.entries().size());
    if (models == 0) return;
    if (models > 1) {
      const std::vector<NamedTensor> moved = distinct(parameters_);
      const ScopedParameters mean(moved, best_models_.mean(moved));
      state_.mean = {.models = models, .scores = scores_of_now()};
      state_.mean.kept = better(state_.mean.scores, state_.best, options_.metric);
      if (state_.mean.kept) state_.best = state_.mean.scores, save();
    }
    best_models_.clear();
    checkpoint();
  }

  bool out_of_patience() const { return options_.patience > 0 && state_.evaluations_without_gain >= options_.patience; }

  ScopedParameters use_average() {
    return average_ ? ScopedParameters(average_->parameters(), average_->averages()) : ScopedParameters({}, {});
  }

  /// Saves the current model to the output folder.
  void save() {
    FolderUpdate update(options_.output);
    task_.save(update.stage());
    update.commit();
    state_.saved_step = state_.step;
    if (observer_.saved) observer_.saved(state_);
  }
  void save_averaged() {
    const ScopedParameters averaged = use_average();
    save();
  }

  /// Whether any score is better than in all evaluations before.
  bool any_gain(const Scores& scores) const {
    return std::ranges::any_of(scores, [&](const auto& score) {
      return std::ranges::none_of(state_.curve, [&](const CurvePoint& point) {
        const auto before = std::ranges::find(point.scores, score.first, &Scores::value_type::first);
        return before != point.scores.end() && !beats(score.first, score.second, before->second);
      });
    });
  }

  // ---- checkpoints: one file, which is replaced atomically ----

  bool checkpoint_due() const {
    return std::chrono::duration<double>(Clock::now() - last_checkpoint_).count() >= options_.checkpoint_seconds;
  }

  void checkpoint() {
    std::vector<NamedTensor> tensors;
    for (const NamedTensor& parameter : parameters_) tensors.push_back({"model." + parameter.name, parameter.tensor});
    for (const NamedTensor& entry : optimizer_.state()) tensors.push_back({"optimizer." + entry.name, entry.tensor});
    if (average_)
      for (const NamedTensor& entry : average_->averages()) tensors.push_back({"average." + entry.name, entry.tensor});
    const Generator& generator = default_generator();
    const nlohmann::json run = {{"state", state_},
                                {"position", task_.position()},
                                {"interval", {interval_.sum, interval_.targets}},
                                {"generator", {generator.seed(), generator.streams_used()}},
                                {"average", options_.average},
                                {"average_best", options_.average_best},
                                {"best_models", best_models_.entries()},
                                {"fingerprint", options_.fingerprint}};
    best_models_.expect_checkpoint();
    save_safetensors(options_.folder->checkpoint(), tensors, {{"format", "pt"}, {"attend.training", run.dump()}});
    options_.folder->forget_replaced();
    best_models_.tidy();  // the checkpoint before may have referred to the other files
    save_curve();
    last_checkpoint_ = Clock::now();
  }
  void save_curve() const {
    AtomicFile csv(options_.output / "curve.csv");
    csv.write(curve_as_csv(state_.curve));
    csv.commit();
  }

  /// Returns false if there is no checkpoint.
  bool restore() {
    const std::filesystem::path path = options_.folder->checkpoint();
    if (!std::filesystem::exists(path)) return false;
    const SafetensorsFile file(path);
    const auto found = file.metadata().find("attend.training");
    if (found == file.metadata().end())
      fail<InputError>("train", path.string(), ": is not a checkpoint of a training run");
    nlohmann::json run;
    BatchPosition position;
    TrainingState state;
    try {
      run = nlohmann::json::parse(found->second);
      position = run.at("position").get<BatchPosition>();
      interval_ = {run.at("interval").at(0), run.at("interval").at(1)};
      if (run.at("fingerprint") != options_.fingerprint)
        fail<InputError>("train", path.string(),
                         ": belongs to a run with other data or options; use the same ones, or another output folder");
      state = run.at("state").get<TrainingState>();
      if (run.at("average") != options_.average)
        fail<InputError>("train", path.string(), ": belongs to a run that averages with ", run.at("average").dump(),
                         ", not with ", options_.average);
      if (run.at("average_best") != options_.average_best)
        fail<InputError>("train", path.string(), ": belongs to a run that keeps the best ",
                         run.at("average_best").dump(), " models, not ", options_.average_best);
      best_models_.restore(run.at("best_models").get<std::vector<BestModels::Entry>>());
      default_generator().restore(run.at("generator").at(0), run.at("generator").at(1));
    } catch (const nlohmann::json::exception& error) {
      fail<InputError>("train", path.string(), ": is damaged: ", error.what());
    }
    std::vector<NamedTensor> optimizer;
    for (const NamedTensor& entry : optimizer_.state())
      optimizer.push_back({entry.name, file.get("optimizer." + entry.name)});
    load_into("model.", parameters_, file);
    if (average_) load_into("average.", average_->averages(), file);
    optimizer_.load_state(optimizer);
    task_.restore(position);
    const std::int64_t total = state_.total_steps;
    state_ = std::move(state);
    state_.total_steps = total;  // the number of steps may change when a run is resumed
    return true;
  }

  static void load_into(const std::string& prefix, const std::vector<NamedTensor>& tensors,
                        const SafetensorsFile& file) {
    for (const NamedTensor& named : tensors) {
      const Tensor stored = file.get_float32(prefix + named.name);
      if (stored.shape() != named.tensor.shape())
        fail<InputError>("train", "the checkpoint's ", prefix, named.name, " has a wrong shape: got ", stored.shape(),
                         ", expected ", named.tensor.shape());
      std::ranges::copy(stored.span(), named.tensor.data());
    }
  }

  TrainingTask& task_;
  const TrainerOptions& options_;
  const TrainingObserver& observer_;
  std::vector<NamedTensor> parameters_;
  AdamW optimizer_;
  std::optional<ParameterAverage> average_;
  BestModels best_models_;
  Schedule schedule_;
  std::int64_t per_epoch_ = 1;
  TrainingState state_;
  struct {
    double sum = 0;
    std::int64_t targets = 0;
  } interval_;  // since the last point of the curve
  double norm_ = 0;
  int skipped_in_a_row_ = 0;
  bool complete_ = true;  // false inside an update or an evaluation, whose state a checkpoint must not hold
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace

TrainingResult train(TrainingTask& task, const TrainerOptions& options, const TrainingObserver& observer) {
  if (options.accumulate < 1 || options.log_every < 1)
    fail<InputError>("train", "accumulate and log_every must be at least 1: got ", options.accumulate, " and ",
                     options.log_every);
  const TrainingMemory memory = training_memory(task.parameters(), options.average > 0, options.activation_bytes);
  observer.info(memory.text());
  check_memory(memory, memory_limits().free);
  TrainerOptions locked = options;
  if (!locked.folder) {
    locked.folder = std::make_shared<RunFolder>(options.output);
    if (!options.resume) locked.folder->begin();
  }
  return Run(task, locked, observer).go();
}

std::string curve_as_csv(const std::vector<CurvePoint>& curve) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const CurvePoint& point : curve)
    for (const auto& score : point.scores)
      if (seen.insert(score.first).second) names.push_back(score.first);
  std::ostringstream out;
  out.precision(9);
  out << "step,epoch,loss,learning_rate,gradient_norm,tokens,seconds";
  for (const std::string& name : names) out << ",validation_" << name;
  out << '\n';
  for (const CurvePoint& point : curve) {
    out << point.step << ',' << point.epoch << ',' << point.loss << ',' << point.learning_rate << ','
        << point.gradient_norm << ',' << point.tokens << ',' << point.seconds;
    for (const std::string& name : names) {
      out << ',';
      for (const auto& [key, value] : point.scores)
        if (key == name) out << value;
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace attend
