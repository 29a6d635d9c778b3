#include "attend/cli/shared/model_folder.h"

#include "attend/cli/shared/progress.h"
#include "attend/tasks/embedding/sentence_folder.h"

namespace attend::cli {

Flag* add_adapter_flag(Verb& verb, std::string& adapter) {
  return verb
      .add_option("--adapter", adapter,
                  "Folder of an adapter of the model (LoRA, in the format of PEFT); --model takes it alone, too, if it "
                  "names its model")
      ->type_name("DIR");
}

ModelFolder open_model(const std::string& model, const std::string& adapter) {
  const ModelFolder folder(transformer_in(model));
  return adapter.empty() ? folder : ModelFolder(folder, adapter);
}

void warn_of_weights(const std::filesystem::path& folder) {
  const std::vector<std::string> all = ModelFolder(transformer_in(folder)).weights().warnings();
  if (all.empty()) return;
  const auto others = static_cast<std::int64_t>(all.size()) - 1;
  warn(all.front() + (others > 0 ? "; so are others of its tensors: " + grouped(others) : ""));
}

}  // namespace attend::cli
