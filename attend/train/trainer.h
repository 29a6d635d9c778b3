// The trainer: one loop for every model. What is trained (a Trainee) gives losses and scores and saves itself; the
// trainer moves its parameters, decides when to judge, when to stop and what to keep, and can go on where it was
// killed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "attend/data/batches.h"
#include "attend/formats/safetensors.h"
#include "attend/train/optimizer.h"
#include "attend/train/schedule.h"
#include "attend/train/scores.h"

namespace attend {

class Trainee {
 public:
  virtual ~Trainee() = default;

  /// All that is to be moved, as leaves of the tape.
  virtual std::vector<NamedTensor> parameters() = 0;

  struct Loss {
    Tensor sum;                ///< over the targets, recorded on the tape
    std::int64_t targets = 0;  ///< what the sum is over
    std::int64_t tokens = 0;   ///< read and written, for the rate
  };
  /// Of the next batch.
  virtual Loss next() = 0;

  /// Where in the data the next batch is, so that a resumed run sees the same ones.
  virtual BatchPosition position() const = 0;
  virtual void restore(const BatchPosition& position) = 0;
  virtual std::int64_t batches_per_epoch() const = 0;

  /// On data held out. Called inside NoGrad, outside Training.
  virtual Scores judge() = 0;
  /// The model as it is now, as a folder that can be used.
  virtual void save(const std::filesystem::path& folder) = 0;
};

struct TrainerOptions {
  std::int64_t steps = 0;    ///< updates at most; 0: by epochs
  std::int64_t epochs = 10;  ///< when steps is 0
  double learning_rate = 1e-3;
  Schedule::Kind schedule = Schedule::Kind::cosine;
  std::int64_t warmup = 0;     ///< steps, but at most half of the run: the rate is to reach its height
  double floor = 0.0;          ///< the factor of the learning rate at the end of linear and cosine
  float weight_decay = 1e-2f;  ///< of matrices; biases, gains and embeddings' rows that are vectors do not decay
  double beta2 = 0.999;
  double clip = 1.0;               ///< the gradient's norm at most; 0: as it is
  double average = 0;              ///< judge and keep a running average with this decay; 0: the parameters themselves
  std::int64_t average_best = 0;   ///< at the end, try the mean of so many of the best models; 0: none
  std::int64_t accumulate = 1;     ///< batches in one update
  std::int64_t judge_every = 0;    ///< updates; 0: after each epoch
  std::int64_t patience = 0;       ///< judgements in which no score was better before it stops; 0: never
  std::string metric;              ///< which score decides; empty: the first
  std::int64_t log_every = 50;     ///< updates that a point of the curve is made of
  double checkpoint_seconds = 60;  ///< at most this much is lost when it is killed
  std::uint64_t seed = 1;
  std::filesystem::path output;  ///< the model's folder; checkpoint.safetensors and curve.csv go there too
  bool resume = false;           ///< go on from output/checkpoint.safetensors, if it is there
  std::string fingerprint;       ///< of whatever must not change between a run and its resumption
};

/// One line of the learning curve.
struct CurvePoint {
  std::int64_t step = 0, epoch = 0;
  double loss = 0;  ///< per target, over the updates since the last point
  double learning_rate = 0;
  double gradient_norm = 0;  ///< before clipping, of the last update
  std::int64_t tokens = 0;   ///< since the beginning
  double seconds = 0;        ///< since the beginning, over all resumptions
  Scores scores = {};        ///< only where it was judged
};

/// The mean of the best models, as it was judged at the end.
struct MeanOfBest {
  std::int64_t models = 0;  ///< 0: there was none
  Scores scores;
  bool kept = false;  ///< better than each of them, so it is the model
};

struct TrainingState {
  std::int64_t step = 0, total_steps = 0, epoch = 0;
  std::int64_t tokens = 0;
  double seconds = 0;
  double loss = 0;  ///< per target, of late
  std::vector<CurvePoint> curve;
  Scores best;
  std::int64_t best_step = 0, judgements_without_gain = 0, skipped = 0;  ///< skipped: updates without finite gradients
  std::int64_t saved_step = 0;  ///< whose model was put into the folder last; 0: none yet
  MeanOfBest mean = {};
};

/// Told of every update, every judgement, and every model that was put into the folder. May throw to stop it: a
/// checkpoint is written before the exception goes on, unless that is an Error.
struct TrainingObserver {
  std::function<void(const TrainingState&)> stepped = {}, judged = {}, saved = {};
};

/// Why it ended.
enum class TrainingEnd : std::uint8_t { finished, no_longer_better };
struct TrainingResult {
  TrainingState state;
  TrainingEnd end;
};

/// Trains. Afterwards the output folder holds the model as it was when it was best (or last, if it was never judged),
/// or the mean of the best, if that is better. Until there is one, a model that was there stays as it was: only the
/// run's own files (checkpoint.safetensors, curve.csv, best-models) are written.
/// Throws InputError when a checkpoint belongs to another run, Error when gradients stop being finite.
TrainingResult train(Trainee& trainee, const TrainerOptions& options, const TrainingObserver& observer = {});

/// step, epoch, loss, …, with a column for each score; empty where it was not judged.
std::string curve_as_csv(const std::vector<CurvePoint>& curve);

}  // namespace attend
