// The trainer: one loop for every model. What is trained (a Trainee) gives losses and scores and saves itself; the
// trainer updates its parameters, decides when to evaluate, when to stop and which model to keep, and resumes a run
// that was killed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/data/batches.h"
#include "attend/formats/safetensors.h"
#include "attend/train/optimizer.h"
#include "attend/train/schedule.h"
#include "attend/train/scores.h"

namespace attend {

class Trainee {
 public:
  virtual ~Trainee() = default;

  /// All parameters to update, as leaves of the tape.
  virtual std::vector<NamedTensor> parameters() = 0;

  struct Loss {
    Tensor sum;                ///< over the targets, recorded on the tape
    std::int64_t targets = 0;  ///< how many terms the sum has
    std::int64_t tokens = 0;   ///< of inputs and targets, for the rate
  };
  /// The loss of the next batch.
  virtual Loss next() = 0;

  /// Where in the data the next batch is, so that a resumed run sees the same ones.
  virtual BatchPosition position() const = 0;
  virtual void restore(const BatchPosition& position) = 0;
  virtual std::int64_t batches_per_epoch() const = 0;

  /// Scores on the validation data; empty when there are none. Called inside NoGrad, outside Training.
  virtual Scores evaluate() = 0;
  /// Writes the model as it is now into a folder, ready for use.
  virtual void save(const std::filesystem::path& folder) = 0;
};

struct TrainerOptions {
  std::int64_t steps = 0;    ///< updates; 0: see epochs
  std::int64_t epochs = 10;  ///< passes through the data, when steps is 0
  double learning_rate = 1e-3;
  Schedule::Kind schedule = Schedule::Kind::cosine;
  std::int64_t warmup = 0;     ///< updates over which the learning rate rises, but at most half of the run
  double floor = 0.0;          ///< the factor of the learning rate at the end of linear and cosine
  float weight_decay = 1e-2f;  ///< of matrices; vectors (biases, gains) do not decay
  double beta2 = 0.999;
  double clip = 1.0;              ///< the largest norm of the gradients; 0: no limit
  double average = 0;             ///< evaluate and keep a running average with this decay; 0: the parameters themselves
  std::int64_t average_best = 0;  ///< at the end, try the mean of this many of the best models; 0: none
  std::int64_t accumulate = 1;    ///< batches in one update
  std::int64_t evaluate_every = 0;  ///< updates between evaluations; 0: an epoch
  std::int64_t patience = 0;        ///< stop after this many evaluations without a better score; 0: never
  std::string metric = {};          ///< the score that decides which model is best; empty: the first
  std::int64_t log_every = 50;      ///< updates for each point of the learning curve
  double checkpoint_seconds = 60;   ///< between checkpoints: what a killed run loses at most
  std::uint64_t seed = 1;
  std::filesystem::path output = {};  ///< the model's folder; checkpoint.safetensors and curve.csv go there too
  bool resume = false;                ///< continue from the output folder's checkpoint, if there is one
  bool overwrite = false;             ///< train although the output folder holds a run or a model
  std::string fingerprint = {};       ///< of everything that must not change on resume: see run_fingerprint()

  /// The options that must not change on resume. `average` and `average_best` are checked by train().
  void visit(auto&& v) const { v("seed", seed), v("accumulate", accumulate); }
};

/// One line of the learning curve.
struct CurvePoint {
  std::int64_t step = 0, epoch = 0;
  double loss = 0;  ///< per target, over the updates since the last point
  double learning_rate = 0;
  double gradient_norm = 0;  ///< before clipping, of the last update
  std::int64_t tokens = 0;   ///< since the beginning
  double seconds = 0;        ///< since the beginning, over all resumptions
  Scores scores = {};        ///< only where the model was evaluated
};

/// The mean of the best models, evaluated at the end.
struct MeanOfBest {
  std::int64_t models = 0;  ///< 0: there is none
  Scores scores;
  bool kept = false;  ///< better than each of them, so it is the model
};

struct TrainingState {
  std::int64_t step = 0, total_steps = 0, epoch = 0;
  std::int64_t tokens = 0;
  double seconds = 0;
  double loss = 0;  ///< per target, a running average
  std::vector<CurvePoint> curve;
  Scores best;
  std::int64_t best_step = 0, evaluations_without_gain = 0;
  std::int64_t skipped = 0;     ///< updates whose gradients were not finite
  std::int64_t saved_step = 0;  ///< of the model in the folder; 0: none yet
  MeanOfBest mean = {};
};

/// What a caller wants to know of a run; each function may be empty.
struct TrainingObserver {
  /// Called after each update, each evaluation, and each time a model was saved. May throw to stop the run: a
  /// checkpoint is written before the exception goes on, unless it is an Error.
  std::function<void(const TrainingState&)> stepped = {}, evaluated = {}, saved = {};
  /// Called while the data are prepared: the name of the stage ("Tokenizing"), what is counted ("B": bytes), how much
  /// is done, and of how much (0: not known). May throw to stop.
  std::function<void(const std::string& stage, const std::string& unit, std::int64_t done, std::int64_t total)>
      prepared = {};
  /// A line on what is trained, and a line on something that the user should know: examples that were left out.
  std::function<void(const std::string&line)> message = {}, warning = {};
  /// A text that a language model generated after an evaluation.
  std::function<void(const std::string& text)> sampled = {};
  /// Runs a piece of work that takes long and cannot be stopped from inside; empty: it is just run.
  std::function<void(const std::function<void()>& work)> uninterrupted = {};

  void say(const std::string& line) const {
    if (message) message(line);
  }
  void warn(const std::string& line) const {
    if (warning) warning(line);
  }
  Progress progress(std::string stage, std::string unit = "B") const {
    if (!prepared) return {};
    return [=, prepared = prepared](std::int64_t done, std::int64_t total) { prepared(stage, unit, done, total); };
  }
};

/// Why a run ended.
enum class TrainingEnd : std::uint8_t { finished, no_longer_better };
struct TrainingResult {
  TrainingState state;
  TrainingEnd end;
};

/// Trains. Afterwards the output folder holds the best model (the last one, if there were no evaluations), or the mean
/// of the best, if that is better. Until then, a model that is in the folder stays as it is: only the run's own files
/// (checkpoint.safetensors, curve.csv, best-models) are written.
/// Throws InputError when a checkpoint belongs to another run, Error when gradients stop being finite.
TrainingResult train(Trainee& trainee, const TrainerOptions& options, const TrainingObserver& observer = {});

/// step, epoch, loss, …, and a column for each score, which is empty where there was no evaluation.
std::string curve_as_csv(const std::vector<CurvePoint>& curve);

}  // namespace attend
