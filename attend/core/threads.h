// The number of threads, and parallel loops. Both use the thread pool of OpenMP, which oneDNN uses too, so that the two
// do not compete for cores.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace attend {

/// The number of CPUs that this process can use, according to its affinity mask and the quota of its cgroup. At least
/// 1.
int available_cpus();

/// The number of threads that parallel loops and matrix products use. The default is available_cpus(), or fewer if
/// OMP_NUM_THREADS is set. As in OpenMP, each calling thread has its own setting.
int threads();
/// Throws unless 1 <= count <= 1024.
void set_threads(int count);

/// A non-owning reference to a callable, like std::function but without an allocation.
template <typename Signature>
class FunctionRef;
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): lambdas pass as they are
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(static_cast<Args>(args)...);
        }) {}
  Result operator()(Args... args) const { return call_(object_, static_cast<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

/// Splits [0, n) into one range for each thread, at multiples of `grain`, and calls body(begin, end) for each range.
/// Runs on the calling thread if n <= grain or inside another parallel loop. If a body throws, the exception is
/// rethrown after all threads have stopped.
void parallel_for(std::int64_t n, std::int64_t grain, FunctionRef<void(std::int64_t, std::int64_t)> body);

/// Calls body(i) for each i in [0, n). Threads fetch the indices one by one, which suits few large tasks of uneven
/// cost. Exceptions are handled as in parallel_for.
void parallel_tasks(std::int64_t n, FunctionRef<void(std::int64_t)> body);

}  // namespace attend
