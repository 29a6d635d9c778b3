// What our oneDNN kernels share: the engine, the stream, and the few differences between versions 2 and 3.
// Included by sources in this folder only.
#pragma once
#include <dnnl.hpp>

namespace attend::kernels {

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

}  // namespace attend::kernels
