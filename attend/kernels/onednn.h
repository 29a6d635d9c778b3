// Helpers for kernels that use oneDNN: the engine, the stream, cached plans, and the differences between versions 2 and
// 3. Only for sources in this folder.
#pragma once
#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <unordered_map>

#include "attend/core/error.h"

namespace attend::kernels {

/// Calls run(), which uses oneDNN. Converts exceptions of oneDNN to Error [where].
template <typename Run>
void with_onednn(const char* where, const Run& run) {
  try {
    run();
  } catch (const dnnl::error& error) {
    fail(where, "oneDNN failed with status ", static_cast<int>(error.status), ": ", error.what());
  }
}

inline const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

inline dnnl::stream& onednn_stream() {
  thread_local dnnl::stream stream(onednn_engine());
  return stream;
}

/// Creates the primitive_desc of a primitive from its arguments (memory descriptors, strides, …). Version 2 wraps them
/// in a `desc`, version 3 does not.
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc onednn_plan(const dnnl::primitive_attr& attr, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), args..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, onednn_engine());
#endif
}

/// The key of a cached plan: sizes and flags as integers. It must include the number of threads, because oneDNN divides
/// the work when a plan is created.
template <std::size_t N>
struct PlanKey : std::array<std::int64_t, N> {
  struct Hash {
    std::size_t operator()(const PlanKey& key) const {
      std::size_t hash = 0;
      for (std::int64_t part : key) hash = (hash ^ static_cast<std::size_t>(part)) * 0x9E3779B97F4A7C15u;
      return hash ^ hash >> 29;
    }
  };
};

/// The cached plan for a key. Calls make() if this thread has none. The reference is valid until the next call.
template <typename Plan, std::size_t N, typename Make>
Plan& kept_plan(const PlanKey<N>& key, const Make& make) {
  constexpr std::size_t kMost = 1024;  // bounds the memory of the cache if there are many different lengths
  thread_local std::unordered_map<PlanKey<N>, Plan, typename PlanKey<N>::Hash> plans;
  const auto found = plans.find(key);
  if (found != plans.end()) return found->second;
  if (plans.size() >= kMost) plans.clear();
  return plans.emplace(key, make()).first->second;
}

}  // namespace attend::kernels
