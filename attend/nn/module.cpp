#include "attend/nn/module.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "attend/core/error.h"
#include "attend/ops/tape.h"

namespace attend {

void set_trainable(Tensor& tensor, bool on, std::vector<Tensor>& seen) {
  if (!on) {
    tensor = tensor.detach();
    return;
  }
  const auto twin = std::ranges::find_if(
      seen, [&](const Tensor& other) { return other.raw() == tensor.raw() && other.shape() == tensor.shape(); });
  if (twin != seen.end()) {
    tensor = *twin;
    return;
  }
  require_grad(tensor);
  seen.push_back(tensor);
}

namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? ", \"" : "\"") + names[i] + "\"";
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace

LoadReport load_parameters(std::span<NamedTensor> parameters, const SafetensorsFile& file, const LoadOptions& options) {
  LoadReport report;
  std::set<std::string, std::less<>> wanted;
  std::vector<Tensor> loaded(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, tensor] = parameters[i];
    wanted.insert(name);
    if (!file.contains(name)) {
      report.missing.push_back(name);
      continue;
    }
    if (tensor.dtype() != DType::f32)
      fail("load", "parameter \"", name, "\" has the wrong dtype: got ", tensor.dtype(), ", expected float32");
    loaded[i] = file.get_float32(name);
    if (loaded[i].shape() != tensor.shape())
      fail("load", "tensor \"", name, "\" has another shape: got ", loaded[i].shape(), ", expected ", tensor.shape());
  }
  for (const auto& [name, entry] : file.entries())
    if (!wanted.contains(name)) report.unused.push_back(name);
  if (!report.missing.empty() && !options.allow_missing)
    fail("load", report.missing.size(), " parameters are missing from the file: ", listed(report.missing));
  if (!report.unused.empty() && !options.allow_unused)
    fail("load", report.unused.size(), " tensors of the file belong to no parameter: ", listed(report.unused));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (loaded[i].defined()) std::memcpy(parameters[i].tensor.raw(), loaded[i].raw(), loaded[i].bytes());
  return report;
}

}  // namespace attend
