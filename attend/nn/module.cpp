#include "attend/nn/module.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "attend/core/convert.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
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

struct Loaded {
  std::vector<Tensor> tensors;  // for each parameter; undefined if the file has neither it nor a tensor tied to it
  LoadReport report;
};

Loaded find_parameters(std::span<const NamedTensor> parameters, const Weights& weights, const LoadOptions& options) {
  const std::string& file = weights.name();
  const std::set<std::string> optional(options.optional.begin(), options.optional.end());
  std::set<std::string> wanted = optional;
  Loaded result{std::vector<Tensor>(parameters.size()), {}};
  auto& [loaded, report] = result;
  std::map<const std::byte*, std::size_t> first;  // memory -> index of its first name that the file has
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, tensor] = parameters[i];
    wanted.insert(name);
    if (!weights.contains(name)) continue;
    if (tensor.dtype() == DType::i32)
      fail("load", "parameter \"", name, "\" has the wrong dtype: got ", tensor.dtype(), ", expected float32");
    loaded[i] = weights.get(name);
    const bool holds_integers = loaded[i].dtype() == DType::i8 || loaded[i].dtype() == DType::i32;
    if (holds_integers != (tensor.dtype() == DType::i8) || loaded[i].dtype() == DType::i32)
      fail<InputError>("load", file, ": tensor \"", name, "\" has the wrong dtype: got ", loaded[i].dtype(),
                       ", expected ", tensor.dtype() == DType::i8 ? "int8 weights" : "floating-point weights");
    if (loaded[i].dtype() != tensor.dtype()) loaded[i] = convert(loaded[i], DType::f32);
    if (loaded[i].dtype() != tensor.dtype()) loaded[i] = convert(loaded[i], tensor.dtype());
    if (loaded[i].shape() != tensor.shape())
      fail<InputError>("load", file, ": tensor \"", name, "\" has the wrong shape: got ", loaded[i].shape(),
                       ", expected ", tensor.shape());
    const std::size_t twin = first.emplace(tensor.raw(), i).first->second;
    if (loaded[twin].raw() != loaded[i].raw() &&
        std::memcmp(loaded[twin].raw(), loaded[i].raw(), loaded[i].bytes()) != 0)
      fail<InputError>("load", file, ": tensors \"", parameters[twin].name, "\" and \"", name,
                       "\" differ, but they are tied in the model's configuration");
    loaded[i] = loaded[twin];
  }

  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (loaded[i].defined()) continue;
    if (const auto twin = first.find(parameters[i].tensor.raw()); twin != first.end())
      loaded[i] = loaded[twin->second];
    else if (!optional.contains(parameters[i].name))
      report.missing.push_back(parameters[i].name);
  }
  for (const std::string& name : weights.names())
    if (!wanted.contains(name)) report.unused.push_back(name);
  if (!report.missing.empty() && !options.allow_missing)
    fail<InputError>("load", file, ": ", report.missing.size(),
                     " parameters are missing from the file: ", listed(report.missing));
  if (!report.unused.empty() && !options.allow_unused)
    fail<InputError>("load", file, ": ", report.unused.size(),
                     " tensors of the file belong to no parameter: ", listed(report.unused));
  return result;
}

}  // namespace

LoadReport load_parameters(std::span<NamedTensor> parameters, const Weights& weights, const LoadOptions& options) {
  const auto [loaded, report] = find_parameters(parameters, weights, options);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (loaded[i].defined()) std::memcpy(parameters[i].tensor.raw(), loaded[i].raw(), loaded[i].bytes());
  check_mapped_files();  // what was copied is right only if the files have not changed
  return report;
}

LoadReport borrow_parameters(std::span<NamedTensor> parameters, const Weights& weights, const LoadOptions& options) {
  const auto [loaded, report] = find_parameters(parameters, weights, options);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (loaded[i].defined()) parameters[i].tensor = loaded[i];
  return report;
}

}  // namespace attend
