// Allocations that fail: loading, translating and training give an error, never an end of the process, and work again
// afterwards. Only allocations of this program fail, since not all libraries survive theirs.
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>

#include "attend/core/error.h"
#include "attend/core/memory.h"
#include "attend/tasks/classification/training.h"
#include "attend/tasks/translation/translator.h"
#include "tests/support/temp_folder.h"

extern "C" const char __executable_start, etext;  // NOLINT(bugprone-reserved-identifier): of the linker

namespace {

std::atomic<std::int64_t> allocations{0}, failing{0};  // failing: the number of the allocation that fails, 0: none

/// Whether an allocation is of the JSON library, whose destructors allocate, or of a shared library, such as the
/// directory iterators of the standard library: these end the process if an allocation fails.
bool is_foreign(const void* caller) {
  Dl_info found{};
  if (::dladdr(caller, &found) != 0 && found.dli_sname && std::strstr(found.dli_sname, "nlohmann")) return true;
  std::array<void*, 12> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::any_of(frames.begin(), frames.begin() + count, [](void* frame) {
    Dl_info place{};
    return ::dladdr(frame, &place) != 0 && std::strstr(place.dli_fname, ".so");
  });
}

/// Counts an allocation of this program; returns whether it fails.
bool is_next(const void* caller) {
  const auto* place = static_cast<const char*>(caller);
  if (place < &__executable_start || place >= &etext || ++allocations < failing || failing == 0) return false;
  if (is_foreign(caller)) return false;  // the next one fails instead
  failing = 0;
  return true;
}

void* take(std::size_t size, const void* caller) {
  void* memory = is_next(caller) ? nullptr : std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) { return take(size, __builtin_return_address(0)); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return take(size, __builtin_return_address(0)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {  // the memory of tensors
  void* memory = nullptr;
  if (is_next(__builtin_return_address(0)) || ::posix_memalign(&memory, alignment, size) != 0) return nullptr;
  return memory;
}

namespace attend {
namespace {

/// Runs `work` again and again, each time with another allocation that fails; about `runs` times in all.
void survive(const std::function<std::string()>& work, int runs) {
  const std::string expected = work();
  release_cached_memory();
  allocations = 0;
  ASSERT_EQ(work(), expected);
  const std::int64_t all = allocations, step = std::max<std::int64_t>(all / runs, 1);
  ASSERT_GT(all, 100) << "allocations are not counted";
  int errors = 0;
  for (std::int64_t n = 1; n <= all; n += step) {
    release_cached_memory();
    allocations = 0, failing = n;
    try {
      EXPECT_EQ(work(), expected) << n;  // some allocations are not needed
    } catch (const std::bad_alloc&) {
      ++errors;
    } catch (const Error&) {
      ++errors;
    }
    failing = 0;
    if (errors % 16 == 1) {
      ASSERT_EQ(work(), expected) << "after allocation " << n << " of " << all;
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_EQ(work(), expected);
}

const std::string kTranslator = std::string(ATTEND_SOURCE_DIR) + "/tests/models/fixtures/marian_tokenizer";

TEST(Allocations, ThatFailWhileAModelIsLoadedAreErrors) {
  survive([] { return Translator(kTranslator).source_tokenizer().token(5); }, 200);
}

TEST(Allocations, ThatFailWhileATextIsTranslatedAreErrors) {
  const Translator translator(kTranslator);
  const std::vector<std::string> texts = {"essere o non essere", "il re"};
  const TranslateOptions options{.search = {.beam = 3, .max_new_tokens = 8}};
  survive(
      [&] {
        std::string all;
        for (const auto& hypotheses : translator(texts, options)) all += hypotheses.front().text + "\n";
        return all;
      },
      500);
}

TEST(Allocations, ThatFailInATrainingStepAreErrors) {
  const test::TempFolder folder;
  {
    std::ofstream films(folder / "films.tsv");
    for (int i = 0; i < 12; ++i) films << (i % 2 ? "a fine film\tgood\n" : "a dull plot\tpoor\n");
  }
  ClassificationTrainingOptions options;
  options.train = folder / "films.tsv";
  options.network = RecurrentClassifierOptions{.embedding = 4, .hidden = 4};
  options.trainer.steps = 2, options.trainer.checkpoint_seconds = 0;
  options.trainer.output = folder / "model", options.trainer.overwrite = true;
  survive(
      [&] {
        train_classification(options);
        return test::contents(folder / "model/model.safetensors");
      },
      60);
}

}  // namespace
}  // namespace attend
