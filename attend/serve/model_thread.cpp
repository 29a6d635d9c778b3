#include "attend/serve/model_thread.h"

#include "attend/core/error.h"
#include "attend/core/stop.h"
#include "attend/core/threads.h"

namespace attend::serve {
namespace {

/// So that a failure that comes back again and again does not take a whole core.
constexpr std::chrono::milliseconds kAfterFailure{10};

}  // namespace

void ModelThread::wake() {
  {
    const std::lock_guard lock(mutex_);
    work_ = true;
  }
  woken_.notify_one();
}

void ModelThread::start(std::vector<ServedModel*> models, int threads) {
  models_ = std::move(models);
  thread_ = std::thread([this, threads] { run(threads); });
}

void ModelThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ModelThread::run(int threads) {
  set_threads(threads);
  const StopCheck check([this] {
    if (stopping_) throw Error("the server is shutting down");
  });
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return work_ || stopping_; });
      if (stopping_) return;
      work_ = false;
    }
    bool worked = false;
    for (ServedModel* model : models_) try {
        worked |= model->work();
      } catch (...) {  // such as out of memory: the requests concerned have failed, the others go on
        worked = true;
        std::this_thread::sleep_for(kAfterFailure);
      }
    if (worked) wake();  // there may be more
  }
}

}  // namespace attend::serve
