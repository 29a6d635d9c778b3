#include "attend/train/best_models.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "attend/core/error.h"
#include "attend/core/threads.h"

namespace attend {

BestModels::BestModels(std::filesystem::path folder, std::int64_t count, std::string metric)
    : folder_(std::move(folder)), count_(static_cast<std::size_t>(count)), metric_(std::move(metric)) {}

std::filesystem::path BestModels::file(std::int64_t step) const {
  return folder_ / (std::to_string(step) + ".safetensors");
}

void BestModels::offer(std::int64_t step, const Scores& scores, const std::vector<NamedTensor>& parameters) {
  if (count_ == 0 || std::ranges::any_of(scores, [](const auto& score) { return std::isnan(score.second); })) return;
  const auto place =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return better(scores, entry.scores, metric_); });
  if (place == entries_.end() && entries_.size() == count_) return;
  std::filesystem::create_directories(folder_);
  save_safetensors(file(step), parameters);
  entries_.insert(place, {step, scores});
  if (entries_.size() > count_) entries_.pop_back();
}

void BestModels::tidy() {
  keep_only(entries_);
  in_checkpoint_ = entries_;
}

void BestModels::tidy_to_checkpoint() noexcept {
  try {
    keep_only(in_checkpoint_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the files cost only space
  }
}

void BestModels::keep_only(const std::vector<Entry>& entries) const {
  if (!std::filesystem::exists(folder_)) return;
  std::set<std::filesystem::path> kept;
  for (const Entry& entry : entries) kept.insert(file(entry.step));
  std::vector<std::filesystem::path> others;
  for (const auto& found : std::filesystem::directory_iterator(folder_))
    if (!kept.contains(found.path())) others.push_back(found.path());
  for (const std::filesystem::path& path : others) std::filesystem::remove(path);
  if (entries.empty()) std::filesystem::remove(folder_);
}

void BestModels::restore(std::vector<Entry> entries) {
  for (const Entry& entry : entries)
    if (!std::filesystem::exists(file(entry.step)))
      fail<InputError>("train", file(entry.step).string(),
                       ": the file is missing, but the checkpoint of the run needs it");
  entries_ = std::move(entries);
  in_checkpoint_ = entries_;
}

std::vector<NamedTensor> BestModels::mean(const std::vector<NamedTensor>& parameters) const {
  std::vector<NamedTensor> means;
  for (const NamedTensor& parameter : parameters)
    means.push_back({parameter.name, Tensor::zeros(parameter.tensor.shape())});
  const float share = 1.f / static_cast<float>(std::max<std::size_t>(entries_.size(), 1));
  for (const Entry& entry : entries_) {
    const SafetensorsFile file(this->file(entry.step));
    for (NamedTensor& mean : means) {
      const Tensor one = file.get_float32(mean.name);
      if (one.shape() != mean.tensor.shape())
        fail<InputError>("train", this->file(entry.step).string(), ": ", mean.name, " has a wrong shape: got ",
                         one.shape(), ", expected ", mean.tensor.shape());
      constexpr std::int64_t kGrain = 1 << 14;
      parallel_for(one.numel(), kGrain,
                   [&, from = one.data(), to = mean.tensor.data()](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) to[i] += share * from[i];
                   });
    }
  }
  return means;
}

}  // namespace attend
