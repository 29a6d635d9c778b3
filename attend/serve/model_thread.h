// The thread on which all models run, in turn. Each step uses all cores already, so that a second thread would only
// slow it down.
#pragma once
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

  /// What a model calls when there is work for it.
  void wake();
  /// The models must outlive this, or its stop. `threads` are those that each of their loops uses.
  void start(std::vector<ServedModel*> models, int threads);
  /// After what it does at the moment; what waits is left.
  void stop();

 private:
  void run(int threads);

  std::vector<ServedModel*> models_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool work_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace attend::serve
