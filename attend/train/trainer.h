// The training loop for all models. A TrainingTask provides the loss of each batch and the scores on validation data,
// and saves the model. train() updates the parameters, decides when to evaluate, when to stop and which model to keep,
// writes checkpoints, and resumes a run that was interrupted.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/data/batches.h"
#include "attend/formats/safetensors.h"
#include "attend/train/optimizer.h"
#include "attend/train/run_folder.h"
#include "attend/train/schedule.h"
#include "attend/train/scores.h"

namespace attend {

/// A model in training and its data.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  /// The parameters to update. They are leaves of the tape.
  virtual std::vector<NamedTensor> parameters() = 0;

  struct Loss {
    Tensor sum;                ///< the sum of the loss over all targets, recorded on the tape
    std::int64_t targets = 0;  ///< number of targets
    std::int64_t tokens = 0;   ///< number of tokens in inputs and targets, for the tokens per second
  };
  /// Computes the loss of the next batch.
  virtual Loss next() = 0;

  /// The position of the next batch in the data. A resumed run restores it and so sees the same batches.
  virtual BatchPosition position() const = 0;
  virtual void restore(const BatchPosition& position) = 0;
  virtual std::int64_t batches_per_epoch() const = 0;

  /// Scores on the validation data; empty if there are no such data. Called inside NoGrad and outside Training.
  virtual Scores evaluate() = 0;
  /// Saves the current model to a folder, ready for use.
  virtual void save(const std::filesystem::path& folder) = 0;
};

struct TrainerOptions {
  std::int64_t steps = 0;    ///< number of updates; 0: see epochs
  std::int64_t epochs = 10;  ///< number of passes through the data, if steps is 0
  double learning_rate = 1e-3;
  Schedule::Kind schedule = Schedule::Kind::cosine;
  std::int64_t warmup = 0;     ///< updates over which the learning rate rises; at most half of the run is used
  double floor = 0.0;          ///< the final factor of the learning rate for linear and cosine
  float weight_decay = 1e-2f;  ///< applied to matrices only, not to biases and norms
  double beta2 = 0.999;
  double epsilon = 1e-8;              ///< added to the denominator of Adam; a large one makes it similar to plain SGD
  double clip = 1.0;                  ///< the maximum norm of the gradients; 0: no clipping
  double average = 0;                 ///< above 0: evaluate and save the moving average with this decay (see average.h)
  std::int64_t average_best = 0;      ///< at the end, evaluate the mean of this many of the best models; 0: none
  std::int64_t accumulate = 1;        ///< batches in one update (gradient accumulation)
  bool recompute = false;             ///< compute Transformer blocks again in the backward pass (see recompute.h)
  std::int64_t activation_bytes = 0;  ///< an estimate for one batch, for the memory that a run needs; 0: not known
  std::int64_t evaluate_every = 0;    ///< updates between evaluations; 0: one epoch
  std::int64_t patience = 0;          ///< stop after this many evaluations in which no score improved; 0: never
  std::string metric = {};            ///< the score that decides which model is best; empty: the first
  std::int64_t log_every = 50;        ///< updates between two points of the learning curve
  double checkpoint_seconds = 60;     ///< seconds between checkpoints
  std::uint64_t seed = 1;
  std::filesystem::path output = {};  ///< the model's folder; checkpoint.safetensors and curve.csv go there too
  bool resume = false;                ///< continue from the output folder's checkpoint, if there is one
  bool overwrite = false;             ///< replace a run or a model in the output folder
  std::string fingerprint = {};  ///< of everything that must not change when a run is resumed: see run_fingerprint()
  std::shared_ptr<RunFolder> folder = {};  ///< the locked output folder, of check_run(); null: train() locks it

  /// Visits the options that must not change when a run is resumed; train() checks `average` and `average_best` itself.
  /// These may change: steps, epochs, learning_rate, epsilon, schedule, warmup, floor, weight_decay, clip,
  /// evaluate_every, patience, metric, log_every, checkpoint_seconds.
  void visit(auto&& v) const { v("seed", seed), v("accumulate", accumulate), v("beta2", beta2); }
};

/// One point of the learning curve.
struct CurvePoint {
  std::int64_t step = 0, epoch = 0;
  double loss = 0;  ///< per target, the mean over the updates since the last point
  double learning_rate = 0;
  double gradient_norm = 0;  ///< of the last update, before clipping
  std::int64_t tokens = 0;   ///< since the start of the run
  double seconds = 0;        ///< of training since the start of the run, without the time between resumed parts
  Scores scores = {};        ///< empty if the model was not evaluated at this step
};

/// The mean of the best models, which is evaluated at the end of a run.
struct MeanOfBest {
  std::int64_t models = 0;  ///< the number of models; 0: no mean was evaluated
  Scores scores;
  bool kept = false;  ///< it is better than each of the models, and was saved
};

struct TrainingState {
  std::int64_t step = 0, total_steps = 0, epoch = 0;
  std::int64_t tokens = 0;
  double seconds = 0;
  double loss = 0;  ///< per target, a moving average
  std::vector<CurvePoint> curve;
  Scores best;
  std::int64_t best_step = 0, evaluations_without_gain = 0;
  std::int64_t skipped = 0;     ///< updates that were skipped, as their gradients were not finite
  std::int64_t saved_step = 0;  ///< the step of the saved model; 0: none was saved yet
  MeanOfBest mean = {};
};

/// Callbacks of a run. Each of them may be empty.
struct TrainingObserver {
  /// Called after each update, after each evaluation, and after each saving of the model. May throw to stop the run. A
  /// checkpoint is written before the exception is passed on, unless it is an Error.
  std::function<void(const TrainingState&)> stepped = {}, evaluated = {}, saved = {};
  /// Called while the data are prepared. `stage` is a name such as "Tokenizing", `unit` is what is counted ("B":
  /// bytes), `total` is 0 if it is not known. May throw to stop the run.
  std::function<void(const std::string& stage, const std::string& unit, std::int64_t done, std::int64_t total)>
      prepared = {};
  /// Called with a message about the run (sizes of data and model) or with a warning (examples that are left out).
  std::function<void(const std::string&line)> message = {}, warning = {};
  /// Called with a text that a language model has generated after an evaluation.
  std::function<void(const std::string& text)> sampled = {};
  /// Called to run a function that takes long and cannot be stopped by an exception from a callback. If it is empty,
  /// the function is called directly.
  std::function<void(const std::function<void()>& work)> uninterrupted = {};

  void info(const std::string& line) const {
    if (message) message(line);
  }
  void warn(const std::string& line) const {
    if (warning) warning(line);
  }
  Progress progress(std::string stage, std::string unit = "B") const {
    if (!prepared) return {};
    return [stage = std::move(stage), unit = std::move(unit), prepared = prepared](
               std::int64_t done, std::int64_t total) { prepared(stage, unit, done, total); };
  }
};

/// Why a run ended: all updates were made, or it ran out of patience.
enum class TrainingEnd : std::uint8_t { finished, stopped_early };
struct TrainingResult {
  TrainingState state;
  TrainingEnd end;
  Scores test = {};  ///< scores of the saved model on test data; train() itself has none
};

/// Trains a model. Afterwards the output folder holds the best model, or the mean of the best models if that is better,
/// or the last model if there were no evaluations. A model that is already in the folder is not changed before the
/// first one is saved, and then as a whole (see FolderUpdate); the run's own files are checkpoint.safetensors,
/// curve.csv and best-models. Throws InputError if another process writes to the folder or a checkpoint belongs to
/// another run, and Error if the gradients of 20 updates in a row are not finite.
TrainingResult train(TrainingTask& task, const TrainerOptions& options, const TrainingObserver& observer = {});

/// The learning curve as CSV: step, epoch, loss, …, and a column for each score. A score is empty if there was no
/// evaluation.
std::string curve_as_csv(const std::vector<CurvePoint>& curve);

}  // namespace attend
