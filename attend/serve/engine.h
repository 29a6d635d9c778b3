// The thread on which all models work, each in its turn: loops and matrix products use all cores already, so that a
// second thread of models could only get in the way.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "attend/serve/served_model.h"

namespace attend::serve {

class Engine {
 public:
  Engine() = default;
  ~Engine() { stop(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// What a model calls when there is work for it.
  void wake();
  /// The models must outlive the engine, or its stop. `threads` are those that each of their loops uses.
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
