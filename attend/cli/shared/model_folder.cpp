#include "attend/cli/shared/model_folder.h"

#include "attend/cli/shared/progress.h"
#include "attend/formats/weights.h"
#include "attend/tasks/embedding/sentence_folder.h"

namespace attend::cli {

void warn_of_weights(const std::filesystem::path& folder) {
  const std::vector<std::string> all = Weights(transformer_in(folder)).warnings();
  if (all.empty()) return;
  const auto others = static_cast<std::int64_t>(all.size()) - 1;
  warn(all.front() + (others > 0 ? "; so are others of its tensors: " + grouped(others) : ""));
}

}  // namespace attend::cli
