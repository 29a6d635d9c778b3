// Collects the texts of many requests. Those that arrive while the model is busy are given to it in one call.
#pragma once
#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/core/text_error.h"

namespace attend::serve {

/// Computes a Result for each text. Any thread may submit jobs; one thread calls work().
template <typename Result>
class Batcher {
 public:
  using Run = std::function<std::vector<Result>(std::span<const std::string>)>;

  struct Job {
    std::string key;  ///< jobs with the same key have the same options and may share a call
    std::vector<std::string> texts;
    Run run;
    std::size_t added = 0;  ///< bytes that `run` puts before each text
    std::atomic<bool> abandoned = false;
    std::promise<std::vector<Result>> promise = {};
    std::vector<Result> results = {};  // of the texts that are done, the first ones
  };

  /// The largest number of bytes of texts in one call: about as many as the model reads in one pass. With more, clients
  /// would wait longer for each other.
  explicit Batcher(std::size_t bytes_at_once) : bytes_at_once_(bytes_at_once) {}

  void submit(std::shared_ptr<Job> job) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  /// One call of the model, for the jobs that have waited longest. Returns false when no job waits.
  bool work() {
    std::vector<std::shared_ptr<Job>> jobs = take();
    if (jobs.empty()) return false;
    try {
      run(jobs);
    } catch (...) {  // such as out of memory
      for (auto& job : jobs)
        if (job) fail(job, std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t i = jobs.size(); i-- > 0;)  // long jobs continue after the others
      if (jobs[i]) waiting_.push_back(std::move(jobs[i]));
    return true;
  }

 private:
  static std::size_t left(const Job& job) { return job.texts.size() - job.results.size(); }
  /// Bytes that count for a text, with its special tokens.
  static std::size_t weight(const Job& job, const std::string& text) { return text.size() + job.added + 8; }
  /// Whoever waits goes on when `run` and what it holds are freed.
  static void fail(std::shared_ptr<Job>& job, std::exception_ptr error) {
    job->run = {};
    std::exchange(job, nullptr)->promise.set_exception(std::move(error));
  }

  std::vector<std::shared_ptr<Job>> take() {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [](const auto& job) { return job->abandoned.load(); });
    std::vector<std::shared_ptr<Job>> jobs;
    std::size_t bytes = 0;
    for (auto job = waiting_.begin(); job != waiting_.end();) {
      if (bytes >= bytes_at_once_) break;
      if (!jobs.empty() && (*job)->key != jobs.front()->key) {
        ++job;
        continue;
      }
      for (std::size_t t = (*job)->results.size(); t < (*job)->texts.size(); ++t)
        bytes += weight(**job, (*job)->texts[t]);
      jobs.push_back(std::move(*job));
      job = waiting_.erase(job);
    }
    return jobs;
  }

  /// Runs as many texts of each job as fit. Jobs that are done or have failed become null.
  void run(std::vector<std::shared_ptr<Job>>& jobs) {
    std::vector<std::string> texts;
    std::vector<std::size_t> begins;
    std::size_t bytes = 0;
    for (const auto& job : jobs) {
      begins.push_back(texts.size());
      std::size_t next = job->results.size();
      do bytes += weight(*job, texts.emplace_back(job->texts[next]));
      while (++next < job->texts.size() && bytes < bytes_at_once_);
    }
    begins.push_back(texts.size());
    try {
      std::vector<Result> results = jobs.front()->run(texts);
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        for (std::size_t t = begins[i]; t < begins[i + 1]; ++t) jobs[i]->results.push_back(std::move(results[t]));
        if (left(*jobs[i]) > 0) continue;
        jobs[i]->run = {};
        jobs[i]->promise.set_value(std::move(jobs[i]->results));
        jobs[i].reset();
      }
    } catch (const TextError& error) {  // fails the job of the text; the others continue
      const auto owner = std::upper_bound(begins.begin(), begins.end(), error.text) - begins.begin() - 1;
      auto& job = jobs[static_cast<std::size_t>(owner)];
      const std::size_t text = error.text - begins[static_cast<std::size_t>(owner)] + job->results.size();
      fail(job, std::make_exception_ptr(TextError(text, error.what())));
    } catch (...) {
      if (jobs.size() > 1) {  // run each job alone, to find the one that fails
        for (auto& job : jobs) {
          if (!job) continue;  // done before the failure
          std::vector<std::shared_ptr<Job>> one{std::move(job)};
          run(one);
          job = std::move(one.front());
        }
        return;
      }
      if (jobs.front()) fail(jobs.front(), std::current_exception());
    }
  }

  std::size_t bytes_at_once_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<Job>> waiting_;
};

}  // namespace attend::serve
