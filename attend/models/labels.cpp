#include "attend/models/labels.h"

#include "attend/core/error.h"

namespace attend {
namespace {

constexpr const char* kSeveral = "multi_label_classification";

}  // namespace

std::vector<std::string> read_labels(const Config& config) {
  std::vector<std::string> labels;
  if (const Config names = config.object("id2label"); config.has("id2label"))
    while (names.has(std::to_string(labels.size()))) labels.push_back(names.text(std::to_string(labels.size())));
  const std::int64_t count =
      config.integer_in("num_labels", 1, 1'000'000, labels.empty() ? 2 : static_cast<std::int64_t>(labels.size()));
  for (auto i = static_cast<std::int64_t>(labels.size()); i < count; ++i)
    labels.push_back("LABEL_" + std::to_string(i));
  return labels;
}

void write_labels(Config& config, const std::vector<std::string>& labels) {
  Config names, places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    names.set(std::to_string(i), labels[i]);
    places.set(labels[i], static_cast<std::int64_t>(i));
  }
  config.set("id2label", names), config.set("label2id", places);
}

bool read_several_labels(const Config& config) { return config.text("problem_type", "") == kSeveral; }

void write_several_labels(Config& config, bool several) {
  config.set("problem_type", several ? kSeveral : "single_label_classification");
}

}  // namespace attend
