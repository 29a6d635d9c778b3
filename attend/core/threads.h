// Threads: how many there are, and loops that use them. The pool is OpenMP's, which oneDNN uses too, so that the two
// never compete for cores.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace attend {

/// CPUs that this process may really use: the affinity mask and the cgroup's quota both count. At least 1.
int available_cpus();

/// Threads that loops and matrix products use; available_cpus() unless set. Per calling thread, as in OpenMP.
int threads();
/// Throws unless 1 <= count <= 1024.
void set_threads(int count);

/// A reference to something callable: what a loop needs of std::function, without its allocation.
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

/// Calls body(begin, end) for ranges that cover [0, n), one range a thread, cut at multiples of grain.
/// Runs in place when n <= grain or when already inside a parallel loop. What a body throws is thrown here, after all
/// threads have stopped.
void parallel_for(std::int64_t n, std::int64_t grain, FunctionRef<void(std::int64_t, std::int64_t)> body);

/// Calls body(i) for each i in [0, n), handed out one by one: for few, large, uneven pieces. Throws as parallel_for
/// does.
void parallel_tasks(std::int64_t n, FunctionRef<void(std::int64_t)> body);

}  // namespace attend
