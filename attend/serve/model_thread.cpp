#include "attend/serve/model_thread.h"

#include "attend/core/threads.h"

namespace attend::serve {

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
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return work_ || stopping_; });
      if (stopping_) return;
      work_ = false;
    }
    bool worked = false;
    for (ServedModel* model : models_) worked |= model->work();
    if (worked) wake();  // there may be more
  }
}

}  // namespace attend::serve
