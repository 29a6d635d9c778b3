// What our oneDNN kernels share: the engine, the stream, and the few differences between versions 2 and 3.
// Included by sources in this folder only.
#pragma once
#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <unordered_map>

#include "attend/core/error.h"

namespace attend::kernels {

/// Runs something that uses oneDNN. What oneDNN throws becomes an Error in the name of `where`.
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

/// The plan of a primitive from its operation's own arguments (memory descriptions, strides …): version 2 wraps them in
/// a `desc`, version 3 does not.
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc onednn_plan(const dnnl::primitive_attr& attr, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), args..., attr);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), attr, onednn_engine());
#endif
}

/// What tells one plan from another: sizes and flags as numbers. The number of threads belongs to it, since a plan
/// divides its work when it is made.
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

/// The plan for a key, made by make() when this thread has not seen it before. References last until the next call.
template <typename Plan, std::size_t N, typename Make>
Plan& kept_plan(const PlanKey<N>& key, const Make& make) {
  constexpr std::size_t kMost = 1024;  // texts of ever new lengths must not collect plans for ever
  thread_local std::unordered_map<PlanKey<N>, Plan, typename PlanKey<N>::Hash> plans;
  const auto found = plans.find(key);
  if (found != plans.end()) return found->second;
  if (plans.size() >= kMost) plans.clear();
  return plans.emplace(key, make()).first->second;
}

}  // namespace attend::kernels
