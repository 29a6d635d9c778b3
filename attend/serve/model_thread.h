// The thread on which all models run, one after the other. Each step uses all cores, so that a second thread would only
// slow it down.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "attend/serve/served_model.h"

namespace attend::serve {

class ModelThread {
 public:
  ModelThread() = default;
  ~ModelThread() { stop(); }
  ModelThread(const ModelThread&) = delete;
  ModelThread& operator=(const ModelThread&) = delete;

  /// Called by a model when it has work.
  void wake();
  /// The models must live until stop(). `threads` is the number of threads that their loops use.
  void start(std::vector<ServedModel*> models, int threads);
  /// Stops at the next check_stop() of the current step, or after it. Requests that wait are not answered.
  void stop();

 private:
  void run(int threads);

  std::vector<ServedModel*> models_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool work_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace attend::serve
