// Tokenizers, compared with those of Hugging Face: 10 MB of English paragraphs on one thread; the speed-up with two
// threads; time and memory of loading. ATTEND_BENCH_TEXT is the text, ATTEND_BENCH_GPT2 and ATTEND_BENCH_BERT are the
// folders. The defaults are docs/architecture.md and the small vocabularies of the tests.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/text/tokenizer.h"
#include "bench/job.h"

namespace attend::bench {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

Tokenizer gpt2() { return load_tokenizer(setting("ATTEND_BENCH_GPT2", "tests/text/fixtures/gpt2")); }
Tokenizer bert() { return load_tokenizer(setting("ATTEND_BENCH_BERT", "tests/text/fixtures/bert_uncased")); }

/// The paragraphs of the text, repeated until they have 10 MB.
std::vector<std::string> paragraphs() {
  constexpr std::size_t kBytes = 10'000'000;
  const std::string path = setting("ATTEND_BENCH_TEXT", "docs/architecture.md");
  std::vector<std::string> result(1);
  for (std::size_t bytes = 0; bytes < kBytes; result.emplace_back()) {
    std::ifstream file(path);
    if (!file) fail("text", "cannot read ", path, ": run from the repository's root, or set ATTEND_BENCH_TEXT");
    for (std::string line; bytes < kBytes && std::getline(file, line); bytes += line.size() + 1) {
      if (line.empty())
        result.emplace_back();
      else
        result.back() += line + '\n';
    }
  }
  return result;
}

/// The speed-up of encoding all paragraphs with two threads. The time to free the results is not included.
double speed_up(const Tokenizer& tokenizer) {
  const std::vector<std::string> texts = paragraphs();
  double best[2] = {1e30, 1e30};
  for (int round = 0; round < 10; ++round) {  // alternately, so that both are measured under the same conditions
    using Clock = std::chrono::steady_clock;
    set_threads(1 + round % 2);
    const Clock::time_point begin = Clock::now();
    const std::vector<Encoding> all = tokenizer.encode_all(texts);
    double& fastest = best[round % 2];
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best[0] / best[1];
}

void tokenizer_jobs(const std::string& name, Tokenizer (*load)()) {
  const auto encode_on = [load](int count) -> Run {
    return [tokenizer = load(), texts = std::make_shared<std::vector<std::string>>(paragraphs()), count] {
      set_threads(count);
      tokenizer.encode_all(*texts);
    };
  };
  job(name + ".encode, 10 MB", 3, [=] { return encode_on(1); });
  job(name + ".ids, 10 MB", 3, [=]() -> Run {
    return [tokenizer = load(), texts = paragraphs()] {
      for (const std::string& text : texts) tokenizer.ids(text);
    };
  });
  figure(name + ".encode, 2 threads over 1", "×", -1.8, [=] { return speed_up(load()); });
}

/// The peak memory of loading in MB, measured in a new process.
double peak_of_loading(Tokenizer (*load)()) {
  int ends[2];
  if (pipe(ends) != 0) fail("text", "no pipe");
  const pid_t child = fork();
  if (child == 0) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const Tokenizer tokenizer = load();
    getrusage(RUSAGE_SELF, &after);
    const double megabytes = static_cast<double>(after.ru_maxrss - before.ru_maxrss) / 1024;
    _exit(write(ends[1], &megabytes, sizeof megabytes) == sizeof megabytes ? 0 : 1);
  }
  double megabytes = 1e9;
  const bool told = read(ends[0], &megabytes, sizeof megabytes) == sizeof megabytes;
  close(ends[0]), close(ends[1]);
  waitpid(child, nullptr, 0);
  return told ? megabytes : 1e9;
}

}  // namespace
}  // namespace attend::bench

int main(int argc, char** argv) {
  using namespace attend::bench;
  figure("gpt2.load, memory", "MB", 40, [] { return peak_of_loading(gpt2); });
  figure("gpt2.load, time", "ms", 100, [] { return 1e3 * best_seconds([] { gpt2(); }); });
  tokenizer_jobs("gpt2", gpt2);
  tokenizer_jobs("bert", bert);
  return serve(argc, argv);
}
