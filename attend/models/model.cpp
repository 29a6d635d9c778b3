#include "attend/models/model.h"

#include "attend/core/error.h"
#include "attend/formats/safetensors.h"

namespace attend {
namespace {

// How a folder says that its matrices are int8. Other programs do not know the method, and say so.
constexpr const char* kKey = "quantization_config";
constexpr const char* kMethod = "attend-int8";

}  // namespace

void quantise(Model& model) {
  model.visit_matrices([](Tensor& weight, Tensor& scales) {
    if (!weight.defined()) return;
    const Int8Matrix matrix = quantise(weight);
    weight = matrix.values, scales = matrix.scales;
  });
}

bool holds_int8(const char* op, const Config& config) {
  if (!config.has(kKey)) return false;
  if (config.object(kKey).text("quant_method", "") != kMethod)
    fail<InputError>(op, "config.json: the weights are quantised in a way that is not supported: got \"", kKey, "\" ",
                     config.json(kKey), "; attend convert --int8 makes int8 out of a folder with plain weights");
  return true;
}

void Model::save(const std::filesystem::path& folder) {
  Config description = config();
  const std::vector<NamedTensor> stored = stored_parameters();
  for (const NamedTensor& one : stored) {
    if (one.tensor.dtype() != DType::i8) continue;
    Config method;
    method.set("quant_method", kMethod);
    description.set(kKey, method);
    break;
  }
  description.save(folder / "config.json");
  save_safetensors(folder / "model.safetensors", stored);
}

}  // namespace attend
