// The base class of training tasks whose batches are chosen by a BatchSampler.
#pragma once
#include <functional>
#include <utility>

#include "attend/train/trainer.h"

namespace attend {

using SaveModel = std::function<void(const std::filesystem::path& folder)>;

class SampledTrainingTask : public TrainingTask {
 public:
  std::vector<NamedTensor> parameters() override { return parameters_; }
  BatchPosition position() const override { return sampler_.position(); }
  void restore(const BatchPosition& position) override { sampler_.restore(position); }
  std::int64_t batches_per_epoch() const override { return sampler_.batches(); }
  void save(const std::filesystem::path& folder) override { save_(folder); }

 protected:
  SampledTrainingTask(std::vector<NamedTensor> parameters, SaveModel save, BatchSampler sampler)
      : parameters_(std::move(parameters)), save_(std::move(save)), sampler_(std::move(sampler)) {}
  /// The indices of the examples of the next batch.
  std::vector<std::int64_t> choose() { return sampler_.next(); }

 private:
  std::vector<NamedTensor> parameters_;
  SaveModel save_;
  BatchSampler sampler_;
};

}  // namespace attend
