#include "attend/models/model.h"

#include <algorithm>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/formats/safetensors.h"

namespace attend {
namespace {

// config.json has {"quantization_config": {"quant_method": "attend-int8"}} if the matrices are int8. `transformers`
// refuses a method that it does not know.
constexpr const char* kKey = "quantization_config";
constexpr const char* kMethod = "attend-int8";

}  // namespace

void quantise(Model& model) {
  struct Matrix {
    Tensor *weight, *scales;
  };
  std::vector<Matrix> all;
  model.visit_matrices([&](Tensor& weight, Tensor& scales) {
    if (weight.defined()) all.push_back({&weight, &scales});
  });
  // Matrices that follow each other in memory are multiplied as one. They must stay together in int8 too.
  const auto follows = [](const Tensor& matrix, const Tensor& before) {
    return matrix.shares_memory_with(before) && matrix.dim(1) == before.dim(1) &&
           matrix.data() == before.data() + before.numel();
  };
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::int64_t rows = all[begin].weight->dim(0);
    for (end = begin + 1; end < all.size() && follows(*all[end].weight, *all[end - 1].weight); ++end)
      rows += all[end].weight->dim(0);
    const Tensor values = Tensor::empty({rows, all[begin].weight->dim(1)}, DType::i8), scales = Tensor::empty({rows});
    std::int64_t first = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Int8Matrix matrix = quantise(*all[i].weight);
      const std::int64_t last = first + matrix.values.dim(0);
      *all[i].weight = values.view_rows(first, last), *all[i].scales = scales.view_rows(first, last);
      std::ranges::copy(matrix.values.span<std::int8_t>(), all[i].weight->data<std::int8_t>());
      std::ranges::copy(matrix.scales.span(), all[i].scales->data());
      first = last;
    }
  }
}

bool holds_int8(const char* op, const Config& config) {
  if (!config.has(kKey)) return false;
  if (config.object(kKey).text("quant_method", "") != kMethod)
    fail<InputError>(op, "config.json: this quantization method is not supported: got \"", kKey, "\" ",
                     config.json(kKey), "; attend convert --int8 converts a folder with float weights");
  return true;
}

void refuse_int8(const char* op, const Config& config) {
  if (holds_int8(op, config))
    fail<InputError>(op, "the folder holds int8 weights, which can be run, but not trained or converted; ",
                     "use the folder that they were converted from");
}

std::string Model::type() const { return config().text("model_type"); }

Config Model::stored_config() {
  Config description = config();
  bool int8 = false;
  visit_matrices([&](Tensor& weight, Tensor&) { int8 |= weight.defined() && weight.dtype() == DType::i8; });
  if (int8) {
    Config method;
    method.set("quant_method", kMethod);
    description.set(kKey, method);
  }
  return description;
}

void Model::save(const std::filesystem::path& folder, const std::string& vocabulary, DType floats) {
  Config description = stored_config();
  std::vector<NamedTensor> parameters = stored_parameters();
  if (floats != DType::f32) {
    description.set("torch_dtype", floats == DType::bf16 ? "bfloat16" : "float16");
    for (NamedTensor& one : parameters)
      if (one.tensor.dtype() == DType::f32) one.tensor = convert(one.tensor, floats);
  }
  description.save(folder / "config.json");
  SafetensorsMetadata metadata{{"format", "pt"}};
  if (!vocabulary.empty()) metadata.emplace(kVocabularyKey, vocabulary);
  save_safetensors(folder / "model.safetensors", parameters, metadata);
}

}  // namespace attend
