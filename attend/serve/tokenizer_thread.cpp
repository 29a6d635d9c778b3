#include "attend/serve/tokenizer_thread.h"

#include "attend/core/threads.h"

namespace attend::serve {

void TokenizerThread::run() {
  set_threads(1);
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace attend::serve
